"""Support files that answer to a library's name: where it is missing, where it does not work."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
import toy_starter

from grader.observation import Observation, Outcome
from grader.run.session import ProcessSession
from grader.sandbox.host.processes import ProcessSpec, Sandbox
from grader.wire.messages import Call, Load

NETS = b"__all__ = ['Net']\n\nclass Net:\n    depth = 50\n"
MODULES = {"visionlib.models": "nets.py", "visionlib.models.deep": "nets.py"}


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    return toy_starter.lent()


def asked(sandbox: Sandbox, source: str, beside: Mapping[str, bytes] = {}) -> Observation:
    files = {"work.py": source.encode(), **beside}
    program = Load(files, "work.py", {"nets.py": NETS}, modules=MODULES)
    session = ProcessSession(sandbox, program)
    try:
        session.prepare(ProcessSpec())
        return session.call(Call("answer"), 10)
    finally:
        session.close()


@pytest.mark.parametrize(
    "source",
    [
        "from visionlib.models.deep import Net\ndef answer(): return Net.depth",
        "import visionlib.models as models\ndef answer(): return models.Net.depth",
        "import visionlib.models as models\ndef answer(): return models.deep.Net.depth",
        "import visionlib\ndef answer(): return visionlib.models.Net.depth",
        "def answer():\n    from visionlib.models import deep\n    return deep.Net.depth",
        "from visionlib.models import *\ndef answer(): return Net.depth",
    ],
)
def test_a_missing_library_is_answered_for(sandbox: Sandbox, source: str) -> None:
    assert asked(sandbox, source).claims.value == 50


def test_both_names_give_the_same_class(sandbox: Sandbox) -> None:
    source = "import nets, visionlib.models.deep as d\ndef answer(): return d.Net is nets.Net"
    assert asked(sandbox, source).claims.value is True


def test_what_is_not_promised_stays_missing(sandbox: Sandbox) -> None:
    source = "import visionlib.transforms as t\ndef answer(): return t.Resize"
    seen = asked(sandbox, source)
    assert seen.outcome is Outcome.RAISED
    assert seen.claims.fault is not None
    assert "visionlib.transforms" in seen.claims.fault.message


LIBRARY = {
    "visionlib/__init__.py": b"import visionlib.models\n",
    "visionlib/models/__init__.py": b"class Net:\n    depth = 18\n",
    "visionlib/models/deep.py": b"from visionlib.models import Net\n",
}
READS = "from visionlib.models.deep import Net\ndef answer(): return Net.depth"


def test_a_library_that_works_is_left_as_it_is(sandbox: Sandbox) -> None:
    assert asked(sandbox, READS, LIBRARY).claims.value == 18


def test_a_library_that_fails_while_it_is_imported_is_answered_for(sandbox: Sandbox) -> None:
    late = b"import visionlib.models\nraise RuntimeError('built for another torch')\n"
    broken = {**LIBRARY, "visionlib/__init__.py": late}
    assert asked(sandbox, READS, broken).claims.value == 50


def test_a_library_without_the_module_is_answered_for(sandbox: Sandbox) -> None:
    older = {name: data for name, data in LIBRARY.items() if "deep" not in name}
    assert asked(sandbox, READS, older).claims.value == 50

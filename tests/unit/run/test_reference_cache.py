"""Which runs of a reference are kept, under which name, and for how long a drawn seed serves."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from grader.errors import AssignmentError
from grader.observation import Claims, HostFacts, Observation, Outcome
from grader.run import baseline_file as kept_module
from grader.run.baseline_file import GeneratorReplay, ReferenceCache, keep, open_references
from grader.run.observe import QuestionRun
from grader.sandbox.host.processes import Isolation, Tier
from grader.wire.frames import FrameSize

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there are no walls elsewhere")
GENERATED = (("f.a", (1, (2.5, "x"))), ("f.b", ()))


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "torchgrade/references"


def opened(drawn: bool = False, digest: str = "d", device: str = "auto") -> ReferenceCache:
    found = maybe(Tier.FULL, digest, device, drawn)
    assert found is not None
    return found


def maybe(tier: Tier, digest: str, device: str, drawn: bool) -> ReferenceCache | None:
    materials: Any = SimpleNamespace(digest=digest)
    sandbox: Any = SimpleNamespace(isolation=Isolation(tier, ("walls",)))
    return open_references(materials, sandbox, (device,), drawn)


def seen(outcome: Outcome = Outcome.COMPLETED) -> Observation:
    facts = HostFacts(wall_seconds=1.5, cpu_seconds=0.5, reply=FrameSize(3, 4))
    return Observation(outcome, facts, Claims((1, 2.5)))


def store(cache: ReferenceCache, seed: int, *answers: Observation) -> None:
    runs = {"f": QuestionRun("f", None, None, dict(enumerate(answers)), 2.0)}  # type: ignore[arg-type]
    cache.store(seed, keep([], runs, GENERATED, {"wandb": "not here"}))


def test_all_but_what_a_clock_measured_comes_back() -> None:
    store(opened(), 3, seen())
    kept = opened().load(3)
    assert kept is not None
    assert kept.generated == GENERATED
    assert kept.missing == {"wandb": "not here"}
    [found] = kept.runs["f"].observations.values()
    assert found.claims == Claims((1, 2.5))
    assert found.facts == HostFacts(reply=FrameSize(3, 4))
    assert kept.runs["f"].seconds == 0.0
    assert opened().load(4) is None


@pytest.mark.parametrize("outcome", [Outcome.SANDBOX_FAILED, Outcome.TIMED_OUT, Outcome.CRASHED])
def test_what_may_come_out_otherwise_is_not_kept(folder: Path, outcome: Outcome) -> None:
    store(opened(), 3, seen(), seen(outcome))
    assert list(folder.iterdir()) == []


def other_code(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(kept_module, "_code", lambda: "other")


def other_packages(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(kept_module, "_packages", lambda: ["torch-9.0.dist-info"])


def other_processor(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(kept_module, "_processor", list)


@pytest.mark.parametrize("change", [other_code, other_packages, other_processor])
def test_another_version_or_machine_has_entries_of_its_own(
    monkeypatch: pytest.MonkeyPatch, change: Any
) -> None:
    store(opened(), 3, seen())
    assert opened().load(3) is not None
    change(monkeypatch)
    assert opened().load(3) is None


def test_another_assignment_or_choice_has_entries_of_its_own() -> None:
    store(opened(), 3, seen())
    assert opened(digest="e").load(3) is None
    assert opened(device="cpu").load(3) is None


def test_nothing_is_kept_where_student_code_runs_without_walls(folder: Path) -> None:
    assert maybe(Tier.NONE, "d", "auto", drawn=False) is None
    assert not folder.exists()


def test_an_entry_that_makes_no_sense_is_dropped(folder: Path) -> None:
    store(opened(), 3, seen())
    [path] = folder.iterdir()
    opened()._files.write(path.name, b"whole, but no entry")
    assert opened().load(3) is None
    assert list(folder.iterdir()) == []


def test_a_drawn_seed_serves_for_an_hour_and_a_given_one_only_who_gives_it(folder: Path) -> None:
    store(opened(), 3, seen())
    assert opened(drawn=True).recent_seed() is None
    store(opened(drawn=True), 4, seen())
    assert opened(drawn=True).recent_seed() == 4
    [path] = folder.glob("*.drawn")
    hour_ago = time.time() - 3601
    os.utime(path, (hour_ago, hour_ago))
    assert opened(drawn=True).recent_seed() is None


def answers(replayed: GeneratorReplay) -> Iterator[tuple[Any, ...]]:
    yield replayed("f.a", "draw", {})
    yield replayed("f.b", "draw", {})


def test_generators_answer_as_they_did_and_to_nothing_else() -> None:
    assert list(answers(GeneratorReplay(GENERATED))) == [(1, (2.5, "x")), ()]
    with pytest.raises(AssignmentError):
        GeneratorReplay(GENERATED)("f.b", "draw", {})
    with pytest.raises(AssignmentError):
        GeneratorReplay(())("f.a", "draw", {})

"""Habits of students that change nothing: what they leave in a file beside the answer.

Rewrites like those of ``rewrites``, of families that were added later; the accuracy bench counts
them in a table of their own.
"""

from __future__ import annotations

import ast
import copy

from rewrites import Rewrite, Site, blocks


def _lines(text: str) -> list[ast.stmt]:
    return ast.parse(text).body


def _required(site: Site) -> list[str]:
    """Return the names of the arguments that have no default, ``self`` left out."""
    given = [each.arg for each in (*site.function.args.posonlyargs, *site.function.args.args)]
    return given[bool(site.owner) : len(given) - len(site.function.args.defaults)]


def _has_torch(site: Site) -> bool:
    """Tell whether the module knows torch by its name before the function is defined."""
    place = site.module.body.index(site.owner or site.function)
    return any(
        isinstance(node, ast.Import) and any(alias.name == "torch" for alias in node.names)
        and all(alias.asname is None for alias in node.names)
        for node in site.module.body[:place]
    )  # fmt: skip


def guarded(site: Site) -> bool:
    """A refusal of an argument that is not there."""
    names = _required(site)
    if names:
        name = site.dice.choice(names)
        text = f"if {name} is None:\n    raise ValueError('{name} is missing')"
        site.body[:0] = _lines(text)
    return bool(names)


def type_hinted(site: Site) -> bool:
    """Annotations of arguments and result."""
    if site.function.returns is not None or any(a.annotation for a in site.function.args.args):
        return False
    for each in site.function.args.args[bool(site.owner) :]:
        each.annotation = ast.Constant("object")
    site.function.returns = ast.Constant("object")
    return True


def clocked(site: Site) -> bool:
    """A measurement of how long it took, printed."""
    if not isinstance(site.body[-1], ast.Return):
        return False
    site.body[-1:-1] = _lines("print('took', time_.time() - started_)")
    site.body[:0] = _lines("import time as time_\nstarted_ = time_.time()")
    return True


def logged(site: Site) -> bool:
    """A message to a logger."""
    site.before(*_lines("import logging\n_log = logging.getLogger(__name__)"))
    site.body[:0] = _lines(f"_log.debug('%s begins', '{site.function.name}')")
    return True


def run_by_hand(site: Site) -> bool:
    """What runs where the file is started as a program."""
    site.module.body += _lines("if __name__ == '__main__':\n    print('by hand')")
    return True


def print_options(site: Site) -> bool:
    """How tensors are shown, set for the whole file."""
    if not _has_torch(site):
        return False
    site.before(*_lines("torch.set_printoptions(precision=4, sci_mode=False)"))
    return True


def warnings_off(site: Site) -> bool:
    """Warnings switched off, as a search engine advised."""
    site.before(*_lines("import warnings\nwarnings.filterwarnings('ignore')"))
    return True


def device_chosen(site: Site) -> bool:
    """The line on a device that many notebooks begin with."""
    if not _has_torch(site):
        return False
    text = "device_ = torch.device('cuda' if torch.cuda.is_available() else 'cpu')"
    site.before(*_lines(text))
    return True


def in_dict(site: Site) -> bool:
    """The result kept in a dict, and taken out again."""
    if site.ops_ruled:
        return False
    for block in blocks(site):
        for place, statement in enumerate(block):
            if isinstance(statement, ast.Return) and statement.value is not None:
                kept = ast.Dict([ast.Constant("result")], [statement.value])
                block[place : place + 1] = [
                    ast.Assign([ast.Name("kept_", ast.Store())], kept),
                    ast.Return(ast.parse("kept_['result']", mode="eval").body),
                ]
                return True
    return False


def aliased(site: Site) -> bool:
    """The function under a name of its own, and bound to the one that is asked for."""
    name = site.function.name
    reads = (node.id for node in ast.walk(site.function) if isinstance(node, ast.Name))
    if site.owner or name in reads:
        return False
    place = site.module.body.index(site.function)
    site.function.name = f"{name}_v2"
    site.module.body[place + 1 : place + 1] = _lines(f"{name} = {name}_v2")
    return True


def earlier_version(site: Site) -> bool:
    """An attempt of the same name above, which the later one replaces."""
    if site.owner or site.function.decorator_list:
        return False
    texts = ["raise NotImplementedError", "return None", "print('to do')"]
    (attempt,) = _lines(f"def attempt():\n    {site.dice.choice(texts)}")
    attempt.name, attempt.args = site.function.name, copy.deepcopy(site.function.args)
    site.before(attempt)
    return True


def reraised(site: Site) -> bool:
    """An exception caught, printed and raised again."""
    text = (
        "try:\n    pass\nexcept Exception as error_:\n    print(type(error_).__name__)\n    raise"
    )
    (whole,) = _lines(text)
    whole.body = site.body
    site.function.body = [whole]
    return True


def calls_counted(site: Site) -> bool:
    """A global counter of calls."""
    if any(isinstance(node, ast.Global) for node in ast.walk(site.function)):
        return False
    site.before(*_lines("_calls = 0"))
    site.body[:0] = _lines("global _calls\n_calls += 1")
    return True


def stray_imports(site: Site) -> bool:
    """Imports that a notebook began with and nothing uses."""
    site.before(*_lines("import os, sys, time, glob\nimport pickle"))
    return True


HABITS: dict[str, Rewrite] = {
    function.__name__: function
    for function in (
        guarded, type_hinted, clocked, logged, run_by_hand, print_options, warnings_off,
        device_chosen, in_dict, aliased, earlier_version, reraised, calls_counted, stray_imports,
    )
}  # fmt: skip
"""Right families, by name."""

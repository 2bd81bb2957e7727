"""Cases played between a stage and an actor: what a scenario may do, and actors that cheat."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.assignment.types import Limits
from grader.checks.arrays import to_numpy
from grader.observation import IN_READER, IN_STAGE, Observation, Outcome
from grader.run import scenario_relay as relay
from grader.run.answer_budget import AnswerBudget
from grader.run.scenario_relay import ScenarioRelay
from grader.run.session import ProcessSession
from grader.sandbox.host.processes import ProcessSpec, Sandbox
from grader.scenario_process.server import _clear
from grader.wire import shared
from grader.wire.messages import Call, Load
from grader.wire.values import Opaque, Tensor, Value

HONEST = """
import os
import sys
import threading
import time
import torch


class Net:
    def __init__(self, weight):
        self.weight = weight

    def times(self, x):
        return x * self.weight

    def __iter__(self):
        return iter([self.weight, self.weight + 1])

    def __getitem__(self, i):
        return [self.weight, "second"][i]


def net(weight):
    return Net(weight)

def endless():
    while True:
        yield 1

def writes(x):
    x += 1
    return x

def missing():
    raise NotImplementedError

def odd():
    class Odd(LookupError):
        pass
    raise Odd("not here")

def mapped(f, items):
    return [f(item) for item in items]

def threaded(f):
    found = []
    threads = [threading.Thread(target=lambda n=n: found.append(f(n))) for n in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    return sorted(found)

def later(f):
    threading.Timer(0.05, f, (1,)).start()
    return "done"

def keeps(f):
    global kept
    kept = f

def calls_kept():
    return kept(1)

def copies(path, other):
    with open(path) as source, open(other, "w") as goal:
        goal.write(source.read() * 2)

def lists(path):
    return sorted(os.listdir(path))

def moves(path, other, then=None):
    os.rename(path, other)
    if then:
        raise ValueError(then)

def draws(n):
    return torch.rand(n)

def helper(): return "own"
def uses_helper(): return helper()
def pooled(f, items, processes, method="fork"):
    if not processes:
        return [f(item) for item in items]
    with torch.multiprocessing.get_context(method).Pool(processes) as pool:
        return pool.map(f, items, chunksize=1)

def sleeps(): time.sleep(600)
def exits(f=None): os._exit(7)
def looks():
    return os.path.exists("scenario.py"), "scenario" in sys.modules
"""

GIVEN = """
import torch

def doubled(thing):
    return thing.times(2)

def linear(n):
    return torch.nn.Linear(n, 1)

def broken():
    return {}["given"]
"""

SCENARIO = """
import os
import time
import torch
from grader.scenario_process import RemoteError, actor, callback, caller, folder, given, read

state = []


def handles(x):
    net = actor.keep("net", x)
    other = actor.method(net, "times", 3.0, keep=True)
    return {
        "method": actor.method(net, "times", 2.0),
        "call": actor.method(actor.attr(net, "times", keep=True), "__call__", 4.0),
        "item": actor.item(net, 1),
        "attr": actor.attr(net, "weight"),
        "collect": actor.collect(net, most=2),
        "value": actor.value(other),
        "given": given("doubled", net),
        "opaque": actor.value(net),
    }


def no_magic(what):
    h = actor.put([1, 2])
    tests = {
        "truth": lambda: bool(h), "length": lambda: len(h), "loop": lambda: list(h),
        "item": lambda: h[0], "equal": lambda: h == [1, 2], "hash": lambda: {h},
        "call": lambda: h(), "number": lambda: int(h), "add": lambda: h + 1,
        "contains": lambda: 1 in h, "attribute": lambda: setattr(h, "x", 1),
    }
    try:
        tests[what]()
    except (TypeError, AttributeError) as error:
        return type(error).__name__
    return "went through"


def endless():
    h = actor.keep("endless")
    try:
        actor.collect(h, most=5)
    except RemoteError as error:
        return error.type, error.text


def own_arguments(x, numbers):
    first, second = actor.call("writes", x), actor.call("writes", x)
    plain = x + 0
    third = actor.call("writes", plain)
    actor.method(actor.put(numbers), "append", 9)
    return first, second, third, x


def changed_here(x):
    actor.call("writes", x)
    x.zero_()
    return actor.call("writes", x)


def caught():
    try:
        actor.call("odd")
    except RemoteError as error:
        return error.type, error.text


def uncaught():
    actor.call("odd")


def cannot_be_caught():
    try:
        actor.call("missing")
    except Exception:
        return "caught"


def together(x):
    changed = x.clone()
    first, own = actor.keep("writes", actor.put(x)), actor.put(changed)
    changed.zero_()
    actor.set_attr(actor.module, "noted", first)
    return [actor.value([first, own]), actor.attr(actor.module, "noted")]


def nobody_waited(then):
    try:
        actor.keep("odd")
        if then == "ask":
            actor.call("helper")
        if then == "share":
            folder()
    except Exception:
        return "caught"


def wrong_key():
    return {"a": actor.call("helper")}["b"]


def asked(items):
    seen = []

    def body(item):
        seen.append((item, caller()))
        return item * 10

    found = actor.call("mapped", callback(body, most=3), items)
    return found, [item for item, _ in seen], len({who for _, who in seen}), seen[0][1] > 0


def too_often():
    try:
        actor.call("mapped", callback(abs, most=3), [1, 2, 3, 4])
    except RemoteError as error:
        return error.type, error.text


def body_raises():
    def body(item):
        raise KeyError("from the stage")
    try:
        actor.call("mapped", callback(body, most=3), [1])
    except RemoteError as error:
        return error.type, error.text, type(error.__cause__).__name__


def nested():
    def body(item):
        return actor.call("helper")
    actor.call("mapped", callback(body, most=3), [1])


def threads():
    return actor.call("threaded", callback(lambda n: n * n, most=8))


def later():
    done = actor.call("later", callback(lambda n: n, most=8))
    time.sleep(0.2)
    return done, actor.call("helper")


def keeps():
    actor.call("keeps", callback(lambda n: n + 1, most=8))
    return actor.call("calls_kept")


def calls_anothers():
    return actor.call("calls_kept")


def replaced():
    actor.set_attr(actor.module, "helper", callback(lambda: "stage's", most=9))
    return actor.call("uses_helper")


def not_replaced():
    return actor.call("uses_helper")


def files():
    place = folder(write=True)
    (place / "a.txt").write_text("ab")
    actor.call("copies", str(place / "a.txt"), place / "b.txt")
    return (place / "b.txt").read_text()


def files_move(then, write):
    place = folder(write=write)
    (place / "a.txt").write_text("ab")
    actor.call("lists", place)
    try:
        actor.call("moves", place / "a.txt", place / "b.txt", then)
    except RemoteError:
        pass
    return names(place), actor.call("lists", place), read(names, place)


def file_removed_here():
    place = folder()
    (place / "a.txt").write_text("ab")
    (place / "b.txt").write_text("ab")
    before = actor.call("lists", place)
    (place / "a.txt").unlink()
    return before, actor.call("lists", place)


def files_stay():
    place = folder()
    (place / "a.txt").write_text("ab")
    actor.call("copies", place / "a.txt", place / "b.txt")
    return sorted(path.name for path in place.iterdir())


def parse(path, what):
    return path.read_text() + what, hasattr(torch, "marked_by_the_scenario")


def parsed():
    place = folder(write=True)
    (place / "a.txt").write_text("ab")
    torch.marked_by_the_scenario = True
    return read(parse, place / "a.txt", "!")


def parsed_nothing():
    read(parse, folder() / "none", "!")


def names(place):
    return sorted(path.name for path in place.iterdir())


def listed(name):
    place = folder(write=True)
    (place / name).write_text("ab")
    copy = place / (name + "2")
    actor.call("copies", place / name, copy)
    return read(names, place), actor.call("lists", place), names(place)


def random(n):
    return torch.rand(n), actor.call("draws", n), actor.call("draws", n)


def random_after_a_callback(n):
    actor.call("keeps", callback(lambda n: n, most=1))
    return torch.rand(n)


def state_left():
    state.append(1)
    return len(state)


def given_breaks():
    given("broken")


def pool(items, processes, gather, method):
    callers = []

    def body(item):
        callers.append(caller())
        return item * item

    f = callback(body, most=20, gather=gather)
    found = actor.call("pooled", f, items, processes, method)
    return found, len(set(callers))


def stalls():
    actor.call("sleeps")


def dies():
    actor.call("exits")


def works(seconds):
    actor.call("helper")
    time.sleep(seconds)
    return "done"


def ends():
    os._exit(3)


def dies_in_callback():
    actor.call("mapped", callback(lambda n: n, most=5), [1, 2])
    actor.call("exits", callback(lambda n: n, most=5))


def sees():
    return actor.call("looks"), os.path.exists("work.py")
"""

Play = Callable[..., Observation]
SPEC = ProcessSpec(import_seconds=5)


def opened(
    sandbox: Sandbox,
    source: str,
    spec: ProcessSpec = SPEC,
    budget: AnswerBudget | None = None,
) -> ProcessSession:
    stage = ScenarioRelay(sandbox, Load({}, "scenario.py", stage=SCENARIO), Limits(), budget)
    program = Load({"work.py": source.encode()}, "work.py", given=GIVEN)
    session = ProcessSession(sandbox, program, stage, budget)
    session.prepare(spec)
    assert session.failed_load is None
    return session


def player(session: ProcessSession) -> Play:
    def play(scenario: str, *args: Value, seconds: float = 5.0, **fields: object) -> Observation:
        if not session.alive:
            session.renew()
        call = Call(scenario, args, scenario=True, **fields)  # type: ignore[arg-type]
        return session.call(call, seconds)

    return play


@pytest.fixture(scope="module")
def play(sandbox: Sandbox) -> Iterator[Play]:
    session = opened(sandbox, HONEST)
    yield player(session)
    session.finish()


@pytest.fixture(scope="module")
def in_one(oneshot: Sandbox) -> Iterator[Play]:
    """Stage and actor in one process, as in a self-check without a sandbox."""
    program = Load({"work.py": HONEST.encode()}, "work.py", given=GIVEN, stage=SCENARIO)
    session = ProcessSession(oneshot, program)
    session.prepare(ProcessSpec(import_seconds=20))
    assert session.failed_load is None
    yield player(session)
    session.finish()


@pytest.fixture(params=["play", pytest.param("in_one", marks=pytest.mark.heavy)])
def either(request: pytest.FixtureRequest) -> Play:
    found: Play = request.getfixturevalue(request.param)
    return found


PROCESSES = replace(SPEC, processes=4)


@pytest.fixture(scope="module")
def many(sandbox: Sandbox) -> Iterator[Play]:
    if not sandbox.grants(PROCESSES):
        pytest.skip("this tier grants no processes")
    session = opened(sandbox, HONEST, PROCESSES)
    yield player(session)
    session.finish()


def number(value: float) -> Tensor:
    return Tensor("float32", (1,), np.array([value], "<f4").tobytes())


def value(seen: Observation) -> object:
    assert seen.outcome is Outcome.COMPLETED, (seen.outcome, seen.detail, seen.claims.fault)
    return plain(seen.claims.value)


def plain(found: Value) -> object:
    if isinstance(found, Tensor):
        return to_numpy(found).tolist()
    if isinstance(found, (tuple, list)):
        return [plain(item) for item in found]
    return {key: plain(item) for key, item in found.items()} if type(found) is dict else found


def test_objects_stay_in_the_actor_behind_handles(either: Play) -> None:
    found = value(either("handles", number(1.0)))
    assert isinstance(found, dict)
    assert isinstance(found.pop("opaque"), Opaque)
    assert found == {
        "method": [2.0], "call": [4.0], "item": "second", "attr": [1.0],
        "collect": [[1.0], [2.0]], "value": [3.0], "given": [2.0],
    }  # fmt: skip


@pytest.mark.parametrize(
    "what",
    ["truth", "length", "loop", "item", "equal", "hash", "call", "number", "add", "contains",
     "attribute"],
)  # fmt: skip
def test_a_handle_answers_nothing_by_itself(play: Play, what: str) -> None:
    assert value(play("no_magic", what)) in ("TypeError", "AttributeError")


def test_an_iteration_without_end_is_cut_off(either: Play) -> None:
    assert value(either("endless")) == ["RuntimeError", "more than 5 items came"]


def test_requests_without_a_result_go_with_the_next(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    acted = relay.ScenarioCase._acted
    monkeypatch.setattr(
        relay.ScenarioCase, "_acted", lambda game, ask: asked.append(ask) or acted(game, ask)
    )
    assert value(play("together", number(1.0))) == [[[2.0], [1.0]], [2.0]]
    assert [[*(step.action for step in ask.each())] for ask in asked] == [
        ["put", "call", "put", "set_attr", "value"], ["attr"],
    ]  # fmt: skip


@pytest.mark.parametrize("then", ["ask", "share", "return"])
def test_what_nobody_waited_for_ends_the_case_where_it_raises(either: Play, then: str) -> None:
    seen = either("nobody_waited", then)
    assert seen.outcome is Outcome.RAISED
    assert seen.claims.fault is not None
    assert (seen.claims.fault.type, seen.claims.fault.message) == ("Odd", "not here")


def test_the_cases_own_arguments_are_sent_once(either: Play) -> None:
    probes = ("args_after", "layout")
    seen = either("own_arguments", number(0.0), [1], probes=probes)
    assert value(seen) == [[1.0], [2.0], [1.0], [0.0]]
    assert seen.claims.args_after is not None
    assert plain(list(seen.claims.args_after)) == [[2.0], [1, 9]]
    first, _, third, kept = seen.claims.value
    after = seen.claims.args_after[0]
    # The reply told where each tensor lies: the first two are the argument, the third is not.
    assert first.layout.storage == after.layout.storage != third.layout.storage
    assert kept.layout is None


def test_an_argument_that_the_scenario_changed_is_sent_anew(either: Play) -> None:
    assert value(either("changed_here", number(5.0))) == [1.0]


def test_exceptions_cross_as_the_nearest_built_in(either: Play) -> None:
    assert value(either("caught")) == ["LookupError", "not here"]


def test_an_exception_that_nobody_catches_is_the_submissions(either: Play) -> None:
    seen = either("uncaught")
    assert (seen.outcome, seen.claims.fault.type) == (Outcome.RAISED, "Odd")
    assert seen.claims.fault.file == "work.py"
    assert seen.detail == ""


def test_not_implemented_is_no_scenarios_business(either: Play) -> None:
    seen = either("cannot_be_caught")
    assert (seen.outcome, seen.claims.fault.type) == (Outcome.RAISED, "NotImplementedError")


def test_an_exception_in_the_scenario_is_told_apart(play: Play) -> None:
    seen = play("wrong_key")
    assert (seen.outcome, seen.detail) == (Outcome.RAISED, IN_STAGE)
    assert (seen.claims.fault.type, seen.claims.fault.file) == ("KeyError", "scenario.py")


def test_callbacks_run_in_the_stage(either: Play) -> None:
    assert value(either("asked", [1, 2, 3])) == [[10, 20, 30], [1, 2, 3], 1, True]


def test_a_callback_ends_with_its_last_call(either: Play) -> None:
    told = "this function can be called 3 times at most"
    assert value(either("too_often")) == ["RuntimeError", told]


def test_what_a_body_raises_is_raised_where_it_was_called(either: Play) -> None:
    assert value(either("body_raises")) == ["KeyError", "\"'from the stage'\"", "KeyError"]


def test_callbacks_do_not_nest(either: Play) -> None:
    seen = either("nested")
    assert (seen.outcome, seen.claims.fault.type) == (Outcome.RAISED, "RuntimeError")
    assert "must not use the actor" in seen.claims.fault.message


def test_threads_take_turns(play: Play) -> None:
    assert value(play("threads")) == [n * n for n in range(8)]


METHODS = ["fork", pytest.param("spawn", marks=pytest.mark.heavy)]


@pytest.mark.parametrize("method", METHODS)
def test_each_process_has_a_connection_of_its_own(many: Play, method: str) -> None:
    seen = many("pool", list(range(6)), 3, 3, method, seconds=60.0)
    assert value(seen) == [[0, 1, 4, 9, 16, 25], 3]


@pytest.mark.heavy
def test_processes_call_where_stage_and_actor_are_one(in_one: Play) -> None:
    assert value(in_one("pool", list(range(6)), 3, 3, "fork", seconds=60.0)) == [
        [0, 1, 4, 9, 16, 25],
        3,
    ]


def test_calls_of_too_few_processes_go_on_after_a_while(
    many: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared, "PATIENCE", 0.3)
    assert value(many("pool", [1, 2, 3], 1, 2, "fork")) == [[1, 4, 9], 1]


def test_a_call_of_the_first_process_waits_for_nobody(many: Play) -> None:
    assert value(many("pool", [1, 2, 3], 0, 2, "fork", seconds=2.0)) == [[1, 4, 9], 1]


def test_where_processes_are_not_granted_only_the_first_may_call(play: Play) -> None:
    seen = play("pool", [1, 2], 2, 2, "fork")
    assert (seen.outcome, seen.claims.fault.type) == (Outcome.RAISED, "RuntimeError")


@pytest.mark.parametrize(
    "way",
    ["no descriptor", "a file", "a deaf socket", "noise", "nothing but a connection"],
)
def test_a_socket_that_does_not_listen_is_refused(sandbox: Sandbox, way: str) -> None:
    if not sandbox.grants(PROCESSES):
        pytest.skip("this tier grants no processes")
    session = opened(sandbox, HOSTILE, PROCESSES)
    try:
        told = session.call(Call("misconnect", (way,)), 5.0)
        assert told.outcome is Outcome.COMPLETED, told
        seen = player(session)("pool", [1, 2], 2, 2, "fork", seconds=1.0)
    finally:
        session.finish()
    expected = Outcome.TIMED_OUT if way == "nothing but a connection" else None
    assert seen.outcome is (expected or Outcome.PROTOCOL_VIOLATION), seen


def test_a_call_after_the_answer_does_not_get_through(play: Play) -> None:
    assert value(play("later")) == ["done", "own"]


def test_a_callback_is_good_for_its_case_only(play: Play) -> None:
    assert value(play("keeps")) == 2
    seen = play("calls_anothers")
    assert (seen.outcome, seen.claims.fault.message) == (
        Outcome.RAISED,
        "there is no such function",
    )


def test_what_was_set_in_the_module_is_undone(either: Play) -> None:
    assert value(either("replaced")) == "stage's"
    assert value(either("not_replaced")) == "own"


def test_files_go_both_ways_where_that_was_asked_for(play: Play) -> None:
    assert value(play("files")) == "abab"
    assert value(play("files_stay")) == ["a.txt"]


@pytest.mark.parametrize("then", [None, "afterwards"])
def test_what_the_actor_did_to_files_is_done_even_if_it_raised(
    either: Play, then: str | None
) -> None:
    assert value(either("files_move", then, True)) == [["b.txt"]] * 3


def test_where_nothing_comes_back_the_stage_keeps_its_own(play: Play) -> None:
    for then in (None, "afterwards"):
        assert value(play("files_move", then, False)) == [["a.txt"], ["b.txt"], ["a.txt"]]


def test_a_file_that_the_stage_removed_is_gone(either: Play) -> None:
    assert value(either("file_removed_here")) == [["a.txt", "b.txt"], ["b.txt"]]


def test_files_are_read_elsewhere(play: Play) -> None:
    assert value(play("parsed")) == ["ab!", False]
    seen = play("parsed_nothing")
    assert (seen.outcome, seen.detail) == (Outcome.RAISED, IN_READER)
    assert seen.claims.fault.type == "FileNotFoundError"


def test_no_file_of_one_case_is_there_in_the_next(either: Play) -> None:
    assert value(either("listed", "a")) == [["a", "a2"]] * 3
    assert value(either("listed", "b")) == [["b", "b2"]] * 3


def test_a_reader_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    scratch, there = tmp_path / "scratch", tmp_path / "scratch/mounted/grader"
    for folder in (scratch / "shared-1/deep", there):
        folder.mkdir(parents=True)
        (folder / "file").touch()
    (scratch / "plot.py").write_text("changed")
    (scratch / "link").symlink_to(outside)
    mounted, lstat = lstat_of(there), Path.lstat
    monkeypatch.setattr(Path, "lstat", lambda path: mounted if path == there else lstat(path))
    _clear(Load({}, "", {"plot.py": b"own"}), scratch)
    left = sorted(str(path.relative_to(scratch)) for path in scratch.rglob("*"))
    assert left == ["mounted", "mounted/grader", "mounted/grader/file", "plot.py"]
    assert (scratch / "plot.py").read_bytes() == b"own"
    assert (outside / "kept").exists()


def lstat_of(path: Path) -> os.stat_result:
    """What a folder is when something else is mounted there."""
    fields = list(path.lstat())
    fields[2] += 1
    return os.stat_result(fields)


def test_random_numbers_are_the_hosts_choice(either: Play) -> None:
    one, again, other = (value(either("random", 2, seed=seed)) for seed in (3, 3, 4))
    assert isinstance(one, list)
    assert isinstance(other, list)
    assert one == again
    assert one[0] != other[0]
    assert one[1:] == other[1:]  # the actor's, which say nothing of the stage's
    assert one[1] != one[2]


def test_a_case_that_begins_with_a_callback_draws_what_the_host_chose(either: Play) -> None:
    one, other = (value(either("random_after_a_callback", 2, seed=seed)) for seed in (3, 4))
    assert one != other


def test_nothing_is_left_in_the_scenarios_module(either: Play) -> None:
    assert [value(either("state_left")) for _ in range(2)] == [1, 1]


def test_a_fault_of_given_code_names_its_line(play: Play) -> None:
    seen = play("given_breaks")
    assert (seen.claims.fault.file, seen.claims.fault.type) == ("given.py", "KeyError")


def test_neither_side_sees_the_others_files(play: Play) -> None:
    assert value(play("sees")) == [[False, False], False]


def test_a_stalling_actor_is_timed_out_and_the_next_case_runs(play: Play) -> None:
    seen = play("stalls", seconds=0.3)
    assert seen.outcome is Outcome.TIMED_OUT
    assert seen.detail.startswith("no answer within 0.3 s")
    assert value(play("not_replaced")) == "own"


def test_a_dying_actor_crashed(play: Play) -> None:
    for scenario in ("dies", "dies_in_callback"):
        seen = play(scenario)
        assert (seen.outcome, seen.facts.exit_code) == (Outcome.CRASHED, 7)


def test_the_stages_own_time_is_not_the_actors(play: Play) -> None:
    assert value(play("works", 0.6, seconds=0.4)) == "done"


@pytest.fixture
def impatient(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Iterator[ProcessSession]:
    """Its stage may take little."""
    monkeypatch.setattr(relay, "STAGE_SECONDS", 0.4)
    monkeypatch.setattr(relay, "_LEAST_SECONDS", 0.1)
    session = opened(sandbox, HONEST)
    yield session
    session.finish()


def test_a_stage_that_stalls_or_dies_twice_met_unusable_values(impatient: ProcessSession) -> None:
    for scenario, args, kind in (("works", (30,), "TimeoutError"), ("ends", (), "RuntimeError")):
        seen = player(impatient)(scenario, *args)
        assert (seen.outcome, seen.detail) == (Outcome.RAISED, IN_STAGE)
        assert seen.claims.fault.type == kind
        # It was tried again, so no busy machine is the reason to do so once more.
        assert not seen.facts.busy
        assert not impatient.alive


def test_values_that_stall_the_stage_cost_ever_less(
    impatient: ProcessSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin, given = relay.ScenarioCase.__init__, []

    def noting(self: relay.ScenarioCase, stage: tuple[ProcessSession, float], *rest: Any) -> None:
        given.append(stage[1])
        begin(self, stage, *rest)

    monkeypatch.setattr(relay.ScenarioCase, "__init__", noting)
    for _ in range(3):
        assert player(impatient)("works", 30).detail == IN_STAGE
    assert given == [0.4, 0.2, 0.1, 0.1, 0.1, 0.1]
    assert value(player(impatient)("not_replaced")) == "own"


def test_an_actor_that_stalls_costs_the_stage_nothing(impatient: ProcessSession) -> None:
    stage = impatient._player
    assert isinstance(stage, ScenarioRelay)
    for scenario in ("stalls", "dies", "dies_in_callback"):
        assert player(impatient)(scenario, seconds=0.6).detail != IN_STAGE
    assert stage._seconds == relay.STAGE_SECONDS


def test_a_stage_that_dies_once_is_the_machines_affair(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    played, failed = relay.ScenarioCase.play, []

    def fails_once(self: relay.ScenarioCase, call: Call) -> Observation:
        if not failed:
            failed.append(call)
            raise relay._StageFailedError(Observation(Outcome.CRASHED))
        return played(self, call)

    monkeypatch.setattr(relay.ScenarioCase, "play", fails_once)
    assert value(play("not_replaced")) == "own"


HOSTILE = (
    HONEST
    + """
import builtins
from dataclasses import replace
from grader.student_process import scenario_requests, server
from grader.wire import messages, values
from grader.wire.messages import CallbackRequest, Fault, Request, Response

plain, do = server.to_frame, scenario_requests.RequestHandler.do

def lies(change):
    def told(message):
        return plain(change(message) if isinstance(message, Response) else message)
    server.to_frame = told

WAYS = {
    "another's token": lambda: lies(lambda did: replace(did, token="0" * 32)),
    "no token": lambda: lies(lambda did: replace(did, token="")),
    "a handle": lambda: lies(lambda did: replace(did, value={"h": [values.ActorHandle(0)]})),
    "a path": lambda: lies(lambda did: replace(did, value=values.FilePath("shared-1/x"))),
    "a callback": lambda: lies(lambda did: replace(did, value=values.ActorHandle(-1))),
    "a strange exception": lambda: lies(
        lambda did: replace(did, fault=Fault("X", ""), kind="SystemExit")),
    "another message": lambda: lies(lambda did: Request("read", "parse", token=did.token)),
    "a file": lambda: lies(lambda did: replace(did, files={"shared-1/x": b""})),
    "a file elsewhere": lambda: lies(lambda did: replace(did, files={"../scenario.py": b""})),
    "a call without a token": lambda: lies(lambda did: CallbackRequest(1)),
    "a call with a handle": lambda: lies(
        lambda did: CallbackRequest(1, (values.ActorHandle(1),), token=did.token)),
    "a flood of calls": lambda: lies(lambda did: CallbackRequest(10**6, token=did.token)),
}

answer = server._answer

def flood(connection, reply):
    if not isinstance(reply, Response):
        return answer(connection, reply)
    while True:
        server._call_back(connection, CallbackRequest(10**6, token=reply.token))

def misbehave(way):
    if way == "a flood of calls":
        server._answer = flood
    else:
        WAYS[way]()

def misconnect(way):
    import socket
    listen = scenario_requests.RequestHandler.listen
    a, b = socket.socketpair()

    def lets_connect(self):
        listener = listen(self)
        caller = socket.socket(socket.AF_UNIX)
        caller.connect(self._kept.path)
        if way == "noise":
            caller.send(b"x" * 100)
        else:
            caller.send(b"TGW1")
        globals()["held"] = caller
        return listener

    changed = {
        "a file": lambda self: open("work.py"),
        "a deaf socket": lambda self: a,
        "noise": lets_connect,
        "nothing but a connection": lets_connect,
    }
    if way == "no descriptor":
        server.Session.listen = lambda self, ask, connection: connection.send(
            server.to_frame(Response(token=ask.token)))
    else:
        scenario_requests.RequestHandler.listen = changed[way]

def stop_in_the_middle(f):
    server.to_frame = lambda message: time.sleep(600)
    f(1)
"""
)


@pytest.mark.parametrize(
    "way",
    ["another's token", "no token", "a handle", "a path", "a callback", "a strange exception",
     "another message", "a file", "a file elsewhere", "a call without a token",
     "a call with a handle", "a flood of calls"],
)  # fmt: skip
def test_an_actor_that_breaks_the_protocol_is_ended(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.setattr(relay, "MAX_MESSAGES", 200)
    session = opened(sandbox, HOSTILE)
    try:
        told = session.call(Call("misbehave", (way,)), 5.0)
        assert told.outcome is Outcome.COMPLETED, told
        seen = player(session)("not_replaced")
    finally:
        session.finish()
    assert seen.outcome is Outcome.PROTOCOL_VIOLATION, seen
    assert not session.alive


def test_an_actor_that_stalls_in_a_callback_is_timed_out(sandbox: Sandbox) -> None:
    scenario = SCENARIO + (
        "\ndef stops():\n    actor.call('stop_in_the_middle', callback(abs, most=2))\n"
    )
    session = ProcessSession(
        sandbox,
        Load({"work.py": HOSTILE.encode()}, "work.py"),
        ScenarioRelay(sandbox, Load({}, "scenario.py", stage=scenario), Limits()),
    )
    try:
        session.prepare(ProcessSpec())
        seen = player(session)("stops", seconds=0.5)
    finally:
        session.finish()
    assert seen.outcome is Outcome.TIMED_OUT


def test_all_messages_of_a_case_are_one_answer(sandbox: Sandbox) -> None:
    session = opened(sandbox, HONEST, budget=AnswerBudget())
    try:
        fitting, too_large = (player(session)("random", n) for n in (900_000, 1_500_000))
    finally:
        session.finish()
    assert fitting.outcome is Outcome.COMPLETED
    # The second of two: each alone would do.
    assert (too_large.outcome, too_large.detail) == (
        Outcome.PROTOCOL_VIOLATION,
        f"data of 6000000 bytes; the most is {2**23 - 6_000_000}",
    )


def test_a_case_of_the_reference_is_measured_in_all_its_messages(play: Play) -> None:
    size = play("random", 1000).facts.reply
    assert size is not None
    assert (size.payload, size.header > 0) == (8000, True)

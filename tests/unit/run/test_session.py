"""A session outlives its processes: every way to die has its outcome, and the next call works."""

from __future__ import annotations

import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from observed import tensor

from grader.checks.arrays import to_numpy
from grader.observation import Claims, HostFacts, Observation, Outcome, Stop
from grader.run import session as session_module
from grader.run.process_limits import Deadline
from grader.run.session import ProcessSession
from grader.sandbox.host.processes import ProcessSpec, Sandbox, descendants
from grader.wire.messages import Call, Load

MODULE = b"""
import os, signal, socket, sys, time

def fine(): return 1
def spins():
    while True:
        pass

def has_a_child_spin():
    if os.fork() == 0:
        spins()
    os.wait()

def needs_more(seconds=1.2):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass

def sleeps(): time.sleep(600)
def naps(): time.sleep(0.3)
def exits(): os._exit(7)
def leaves(): sys.exit(3)
def interrupts(): raise KeyboardInterrupt("enough")
def kills(): os.kill(os.getpid(), signal.SIGKILL)
def raises(): raise ValueError("no " * 10000)

class Unprintable(Exception):
    def __str__(self): raise RuntimeError("no text for you")

def unprintable(): raise Unprintable

def line_noise():
    for fd in range(3, 4096):
        try:
            os.write(fd, b"{}" * 100)
        except OSError:
            pass
    time.sleep(600)

def early():
    # As the process's own server would, but without the token of the call that comes next.
    from dataclasses import replace
    from grader.student_process import server
    plain = server.to_frame
    server.to_frame = lambda reply: plain(replace(reply, token=""))
    return 1

def twice():
    from grader.student_process import server
    plain = server._answer
    def again(connection, reply):
        server._answer = plain
        plain(connection, reply)
        plain(connection, reply)
    server._answer = again
    return 1

def answers_with_a_handle(where):
    from dataclasses import replace
    from grader.student_process import server
    from grader.wire.values import FilePath, ActorHandle
    plain = server.to_frame
    forged = {
        "value": {"value": [ActorHandle(0)]},
        "path": {"value": FilePath("shared-1/x")},
        "args_after": {"args_after": (ActorHandle(0),)},
        "probes": {"probes": {"devices": {1: ActorHandle(0)}}},
    }
    server.to_frame = lambda reply: plain(replace(reply, **forged[where]))

def adds(x, y, by=0):
    print("left in")
    return x + y + by

def first(x):
    return x.flatten()[0].item()

def hangs_up():
    os.closerange(3, 256)
    time.sleep(600)

def prints():
    for _ in range(100):
        print("x" * 20000)
    return "printed"
"""

NEEDS_MORE = b"""
import time

def needs_more(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass

"""

TIDIES = b"""
import time
from grader.student_process import server

answers = server._answer

def _answer(connection, reply):
    answers(connection, reply)
    for _ in range(20_000):
        pass

server._answer = _answer

def used():
    return time.process_time()
"""
"""Its process has work left once the reply is sent, as one that frees large tensors has."""

Make = Callable[[bytes], ProcessSession]


def _maker(sandbox: Sandbox) -> Iterator[Make]:
    made: list[ProcessSession] = []

    def build(source: bytes) -> ProcessSession:
        made.append(ProcessSession(sandbox, Load({"work.py": source}, "work.py")))
        made[-1].prepare(ProcessSpec(import_seconds=2, output=64 * 2**10))
        return made[-1]

    yield build
    for session in made:
        session.close_all()


@pytest.fixture
def make(sandbox: Sandbox) -> Iterator[Make]:
    yield from _maker(sandbox)


@pytest.fixture
def make_oneshot(oneshot: Sandbox) -> Iterator[Make]:
    yield from _maker(oneshot)


def call(session: ProcessSession, entry: str, seconds: float = 20.0) -> Observation:
    session.prepare(ProcessSpec(import_seconds=2, output=64 * 2**10))
    return session.call(Call(entry), seconds)


@pytest.mark.parametrize(
    ("entry", "outcome", "detail"),
    [
        ("sleeps", Outcome.TIMED_OUT, "no answer within 0.5 s"),
        ("exits", Outcome.CRASHED, "exit status 7"),
        ("kills", Outcome.CRASHED, f"signal {int(signal.SIGKILL)}"),
        ("line_noise", Outcome.PROTOCOL_VIOLATION, "does not begin"),
    ],
)
def test_a_death_has_its_outcome_and_the_next_call_a_new_process(
    make_oneshot: Make, entry: str, outcome: Outcome, detail: str
) -> None:
    session = make_oneshot(MODULE)
    seen = call(session, entry, 0.5 if entry == "sleeps" else 20.0)
    assert seen.outcome is outcome, seen
    assert detail in seen.detail
    assert not session.alive
    assert call(session, "fine").claims.value == 1


@pytest.mark.parametrize(
    ("entry", "fault", "message"),
    [
        ("leaves", "SystemExit", "3"),
        ("interrupts", "KeyboardInterrupt", "enough"),
        ("raises", "ValueError", "no no"),
        ("unprintable", "Unprintable", "<no text: RuntimeError while making it>"),
    ],
)
def test_an_exception_is_told_and_the_process_lives(
    make: Make, entry: str, fault: str, message: str
) -> None:
    session = make(MODULE)
    seen = call(session, entry)
    assert (seen.outcome, seen.claims.fault.type) == (Outcome.RAISED, fault)
    assert seen.claims.fault.message.startswith(message)
    assert len(seen.claims.fault.message) <= 2000
    assert session.alive
    assert call(session, "fine").claims.value == 1


def test_a_process_that_hangs_up_but_lives_is_ended(make: Make) -> None:
    seen = call(make(MODULE), "hangs_up")
    assert seen.outcome is Outcome.CRASHED


def test_an_answer_made_before_the_question_is_none(make: Make) -> None:
    session = make(MODULE)
    seen = call(session, "early")
    assert seen.outcome is Outcome.PROTOCOL_VIOLATION
    assert seen.detail == "an answer to another question"
    assert call(session, "fine").claims.value == 1


def each(session: ProcessSession, *calls: Call, seconds: float = 20.0) -> list[Observation]:
    return session.call_each([(call, None) for call in calls], seconds)


def test_calls_that_are_sent_together_have_their_own_answers(make: Make) -> None:
    session = make(MODULE)
    # More than fits into a socket, and one that does not fit by itself.
    sizes = [10_000, 12_000, 300_000, 1, 9_000, 50_000]
    inputs = [tensor(list(range(number, number + size))) for number, size in enumerate(sizes)]
    seen = each(session, *(Call("adds", (x, x)) for x in inputs))
    assert [to_numpy(item.claims.value)[-1] for item in seen] == [
        2 * (number + size - 1) for number, size in enumerate(sizes)
    ]
    assert call(session, "fine").claims.value == 1


@pytest.mark.parametrize(
    ("entry", "outcome"),
    [("spins", Outcome.TIMED_OUT), ("sleeps", Outcome.TIMED_OUT), ("exits", Outcome.CRASHED)],
)
def test_what_ends_a_process_costs_no_call_before_it(
    make: Make, entry: str, outcome: Outcome
) -> None:
    session = make(MODULE)
    calls = [Call("fine"), Call("naps"), Call(entry), Call("fine")]
    seen = each(session, *calls, seconds=0.5)
    assert [item.outcome for item in seen] == [Outcome.COMPLETED, Outcome.COMPLETED, outcome]
    assert not session.alive


@pytest.mark.skipif(sys.platform != "linux", reason="Linux shows what a process has used")
def test_each_of_several_calls_has_a_limit_of_its_own(make: Make) -> None:
    calls = [Call("needs_more", (0.4,))] * 4
    seen = each(make(MODULE), *calls, seconds=1.0)
    assert [item.outcome for item in seen] == [Outcome.COMPLETED] * 4


def test_an_answer_twice_is_none_to_the_next_question(make: Make) -> None:
    session = make(MODULE)
    seen = each(session, Call("fine"), Call("twice"), Call("fine"))
    assert [item.outcome for item in seen] == [
        Outcome.COMPLETED, Outcome.COMPLETED, Outcome.PROTOCOL_VIOLATION,
    ]  # fmt: skip
    assert seen[-1].detail == "an answer to another question"
    # After the last of several, nobody has asked.
    assert call(session, "twice").outcome is Outcome.COMPLETED
    assert session._process is not None
    select.select([session._process.connection._sock], [], [])
    assert call(session, "fine").outcome is Outcome.PROTOCOL_VIOLATION


@pytest.mark.parametrize("busy", [True, False])
def test_several_calls_go_on_where_a_busy_machine_had_one_stopped(
    make: Make, monkeypatch: pytest.MonkeyPatch, busy: bool
) -> None:
    session = make(MODULE)
    monkeypatch.setattr(Deadline, "busy", property(lambda _: busy))
    calls = [Call("fine"), Call("needs_more"), Call("fine")]
    seen = session.calls_fairly([(item, None) for item in calls], 1.0)
    stopped = [Outcome.COMPLETED, Outcome.TIMED_OUT]
    assert [item.outcome for item in seen] == ([Outcome.COMPLETED] * 3 if busy else stopped)


def test_the_process_before_the_last_one_is_kept_for_its_spec(make: Make) -> None:
    session = make(b"calls = []\ndef count():\n    calls.append(0)\n    return len(calls)\n")
    one, other = ProcessSpec(output=2**16), ProcessSpec(output=2**16, virtual_gpus=1)
    processes = replace(one, processes=2)
    counts = []
    for spec in (one, other, one, other):
        session.prepare(spec)
        counts.append(session.call(Call("count"), 20.0).claims.value)
    assert counts == [1, 1, 2, 2]
    # One that may start processes would work on while others are waited for.
    for spec in (processes, other, processes):
        session.prepare(spec)
        counts.append(session.call(Call("count"), 20.0).claims.value)
    assert counts[4:] == [1, 3, 1]
    first = session.process_pid
    session.close_all()
    assert session.process_pid == 0 != first
    session.prepare(one)
    assert session.call(Call("count"), 20.0).claims.value == 1


def test_a_process_that_dies_while_it_waits_is_found_dead(make: Make) -> None:
    session = make(b"import os, threading\ndef leaves():\n"
                   b"    threading.Timer(0.2, os._exit, (7,)).start()\n")  # fmt: skip
    session.prepare(ProcessSpec())
    session.call(Call("leaves"), 20.0)
    process = Path(f"/proc/{session.process_pid}/stat")
    session.prepare(ProcessSpec(virtual_gpus=1))
    with suppress(FileNotFoundError, ProcessLookupError):  # gone, or going while it is read
        while ") Z " not in process.read_text():
            time.sleep(0.01)
    session.prepare(ProcessSpec())
    seen = session.call(Call("leaves"), 20.0)
    assert (seen.outcome, seen.facts.exit_code) == (Outcome.CRASHED, 7)


@pytest.mark.parametrize("where", ["value", "path", "args_after", "probes"])
def test_no_answer_holds_what_stands_for_an_object(make: Make, where: str) -> None:
    session = make(MODULE)
    seen = session.call(Call("answers_with_a_handle", (where,)), 20.0)
    assert (seen.outcome, seen.detail) == (Outcome.PROTOCOL_VIOLATION, "a handle as an answer")
    assert call(session, "fine").claims.value == 1


def test_a_block_makes_one_call_for_each_slice(make: Make) -> None:
    session = make(MODULE)
    x, y = tensor([[1, 2], [3, 4], [5, 6]]), tensor([[10], [20], [30]])
    seen = session.call(Call("adds", (x, y), {"by": 0.5}, block=3), 20.0)
    assert to_numpy(seen.claims.value).tolist() == [[11.5, 12.5], [23.5, 24.5], [35.5, 36.5]]
    assert session.call(Call("first", (x,), block=3), 20.0).claims.value == [1.0, 3.0, 5.0]
    assert session.call(Call("fine", block=2), 20.0).claims.value == [1, 1]
    assert session.call(Call("raises", block=2), 20.0).outcome is Outcome.RAISED
    assert call(session, "prints").claims.value == "printed"
    session.close()
    assert b"left in" not in session.output
    assert b"xxx" in session.output


@pytest.mark.skipif(sys.platform != "linux", reason="Linux's clocks")
def test_a_timed_process_has_a_clock(sandbox: Sandbox) -> None:
    session = ProcessSession(sandbox, Load({"work.py": MODULE}, "work.py"))
    try:
        session.prepare(ProcessSpec(timed=True))
        seen = session.call(Call("adds", (tensor([1]), tensor([2])), block=1), 20.0)
        assert seen.facts.cpu_seconds is not None
        assert 0 < seen.facts.cpu_seconds <= (session.cpu_used() or 0)
        slept = session.call(Call("naps"), 20.0)
        assert slept.facts.cpu_seconds is not None
        assert slept.facts.cpu_seconds < slept.facts.wall_seconds / 2
    finally:
        session.close()


@pytest.mark.skipif(sys.platform != "linux", reason="Linux's clocks")
def test_what_a_process_does_behind_its_reply_is_in_the_reading(sandbox: Sandbox) -> None:
    session = ProcessSession(sandbox, Load({"work.py": TIDIES}, "work.py"))
    try:
        session.prepare(ProcessSpec(timed=True))
        # Each call tells what the process had used when it began: the truth about all calls before.
        told, read = [], []
        for _ in range(60):
            told.append(session.call(Call("used"), 20.0).claims.value)
            read.append(session.cpu_used())
    finally:
        session.close()
    missed = sum(max(0.0, later - now) for later, now in zip(told[1:], read, strict=False))
    assert missed < 0.3 * (told[-1] - told[0])


@pytest.mark.skipif(sys.platform != "linux", reason="Linux's clocks")
def test_a_reading_that_fails_is_none(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    session = ProcessSession(sandbox, Load({"work.py": MODULE}, "work.py"))

    def fails(_: int) -> float:
        raise OSError

    try:
        session.prepare(ProcessSpec(timed=True))
        readings = iter([lambda: 1.0, lambda: fails(0)])
        monkeypatch.setattr(session_module, "cpu_seconds", lambda _: next(readings)())
        seen = session.call(Call("fine"), 20.0)
    finally:
        session.close()
    assert (seen.outcome, seen.facts.cpu_seconds) == (Outcome.COMPLETED, None)


@pytest.mark.skipif(sys.platform != "linux", reason="Linux shows what a process has used")
@pytest.mark.parametrize(("entry", "stop"), [("spins", Stop.PROCESSOR), ("sleeps", Stop.ASLEEP)])
def test_a_stopped_call_says_what_it_had_used_up(make: Make, entry: str, stop: Stop) -> None:
    seen = call(make(MODULE), entry, 0.5)
    assert (seen.outcome, seen.facts.stopped, seen.facts.limit) == (Outcome.TIMED_OUT, stop, 0.5)
    assert ("processor time" in seen.detail) is (stop is Stop.PROCESSOR)


@pytest.mark.skipif(sys.platform != "linux", reason="Linux shows what a process has used")
def test_a_child_computes_at_the_cost_of_its_process(make_oneshot: Make) -> None:
    seen = call(make_oneshot(MODULE), "has_a_child_spin", 0.5)
    assert (seen.outcome, seen.facts.stopped) == (Outcome.TIMED_OUT, Stop.PROCESSOR)


@pytest.mark.skipif(sys.platform != "linux", reason="Linux shows what a process has used")
@pytest.mark.parametrize("busy", [True, False])
def test_a_busy_machine_is_given_a_second_try(
    make: Make, monkeypatch: pytest.MonkeyPatch, busy: bool
) -> None:
    session = make(MODULE)
    monkeypatch.setattr(Deadline, "busy", property(lambda _: busy))
    seen = session.call_fairly(Call("needs_more"), 1.0)
    assert seen.outcome is (Outcome.COMPLETED if busy else Outcome.TIMED_OUT)
    # Each try has a process to itself, and the last word.
    session.prepare(ProcessSpec(import_seconds=2, output=64 * 2**10))
    assert session.call_fairly(Call("spins"), 0.2).outcome is Outcome.TIMED_OUT
    assert not session.alive


def test_a_process_that_got_no_core_is_not_the_submissions_fault(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = make(MODULE)
    monkeypatch.setattr(Deadline, "denied", property(lambda _: True))
    seen = session.call_fairly(Call("sleeps"), 0.2)
    assert seen.outcome is Outcome.SANDBOX_FAILED
    assert "too busy" in seen.detail


@pytest.mark.parametrize("busy", [True, False])
def test_an_import_on_a_busy_machine_is_given_a_second_try(
    make: Make, monkeypatch: pytest.MonkeyPatch, busy: bool
) -> None:
    monkeypatch.setattr(Deadline, "busy", property(lambda _: busy))
    session = make(NEEDS_MORE + b"needs_more(2.4)\n")
    assert session.alive is busy


def test_output_is_bounded_and_printing_never_fails(make: Make) -> None:
    session = make(MODULE)
    assert call(session, "prints").claims.value == "printed"
    session.close()
    assert 1000 < len(session.output) <= 64 * 1024


def test_an_import_that_never_ends_is_known_once_for_all_questions(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = make(b"while True: pass")
    assert session.failed_load.outcome is Outcome.TIMED_OUT
    monkeypatch.setattr(session._sandbox, "start", lambda *_: pytest.fail("it is tried again"))
    session.prepare(ProcessSpec())
    session.prepare(ProcessSpec(virtual_gpus=2, processes=4))
    assert session.failed_load.outcome is Outcome.TIMED_OUT
    assert not session.alive


def test_a_file_that_ends_its_process_is_not_loaded_again_under_other_limits(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = make(b"import os\nos._exit(3)\n")
    monkeypatch.setattr(session._sandbox, "start", lambda *_: pytest.fail("it is tried again"))
    session.prepare(ProcessSpec(seconds=2, memory=2**28, output=2**16))
    assert session.failed_load.outcome is Outcome.CRASHED


def test_an_import_that_never_ends_with_a_gpu_is_tried_without(make: Make) -> None:
    session = make(MODULE)
    session.prepare(ProcessSpec(virtual_gpus=1))
    hung = Observation(Outcome.TIMED_OUT, HostFacts(1.0), Claims(None))
    session._failures.note(ProcessSpec("work.py", virtual_gpus=1), hung)
    session.prepare(ProcessSpec())
    assert session.failed_load is None
    assert session.alive


def test_import_reports_line_and_column_of_a_syntax_error(make: Make) -> None:
    fault = make(b"x = 1\ndef f(:\n    pass\n").loaded.fault
    assert (fault.type, fault.file, fault.line, fault.column) == ("SyntaxError", "work.py", 2, 7)


def test_functions_before_the_first_error_are_there(make: Make) -> None:
    loaded = make(b"def early(): return 2\n1 / 0\ndef late(): return 3\n").loaded
    assert loaded.names == ("early",)
    assert (loaded.fault.type, loaded.fault.line) == ("ZeroDivisionError", 2)


def test_a_missing_module_costs_only_what_uses_it(make: Make) -> None:
    session = make(
        b"from __future__ import annotations\n"
        b"import nowhere.at_all as n, math\nfrom torch import Tensor, nothing\n"
        b"def fine(x: Unknown = 1): return math.floor(2.5)\n"
        b"def broken(): return n.f()\n"
    )
    assert session.loaded.missing == ("nowhere.at_all", "torch.nothing")
    assert call(session, "fine").claims.value == 2
    fault = call(session, "broken").claims.fault
    assert fault.type == "ImportError"
    assert "nowhere" in fault.message


def test_nothing_is_left_behind(make_oneshot: Make) -> None:
    session = make_oneshot(
        b"import os, time\n"
        b"def daemon():\n"
        b"    if os.fork() == 0:\n"
        b"        os.setsid()\n"
        b"        if os.fork() == 0:\n"
        b"            time.sleep(600)\n"
        b"        os._exit(0)\n"
        b"    os.wait()\n"
        b"    return 1\n"
    )
    keeper = session._process._keeper.pid
    call(session, "daemon")
    assert len(descendants(keeper)) == 2
    session.close()
    assert descendants(keeper) == []

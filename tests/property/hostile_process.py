"""A sandbox whose processes answer every call with something hostile, drawn from a seed.

No submitted code runs: each process is a process of ours that speaks the wire, and speaks it badly.
It knows the right answers, so that what it sends comes as far into the judges as it can.
"""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any

from grader.observation import Observation
from grader.run.plan import PlannedQuestion
from grader.sandbox.host.processes import (
    Exit,
    Isolation,
    ProcessSpec,
    Sandbox,
    SandboxedProcess,
    Tier,
)
from grader.wire.codec import Decoder
from grader.wire.frames import MAGIC, PREFIX, Closed, Connection, Frame, pack
from grader.wire.messages import Call, Load, Loaded, Ready, Reply, from_frame, to_frame
from grader.wire.values import ITEMSIZE, ProtocolError

Answers = Mapping[str, list[Observation]]
"""Entry → what the reference answered, call by call."""

MIB = 2**20


def _tensor(**fields: Any) -> Any:
    plain = {"dtype": "uint8", "shape": [0], "blob": 0, "device": "cpu", "grad": False}
    return ["tensor", {**plain, **fields}]


@cache
def _nodes() -> tuple[Any, ...]:
    """Return what is put in the place of something in a right answer."""
    nested: Any = 0
    for _ in range(60):
        nested = ["l", nested]
    return (
        None, True, 0, -1, 2**53, 2**63 - 1, 2**63, 10**19, "", "x" * 200_000,
        "\ud800\u202e\x1b[31m", ["i", "0x" + "f" * 1000], ["i", "-0x" + "f" * 1020],
        ["i", "0x" + "f" * 4000], ["i", "0x8000000000000000"], ["f", "nan"], ["f", "-inf"],
        ["f", "0x1p-1074"], ["f", "1e400"], [], {}, [[]], ["t"], ["l"], ["d"], ["what"],
        nested, ["l", nested, nested],
        ["l", *[0] * 190_000], ["l", *[["l"]] * 190_000], ["t", *[["f", "0x1p+0"]] * 90_000],
        ["d", *[[n, ["l"]] for n in range(60_000)]],
        ["d", *[[f"k{n}", None] for n in range(60_000)]],
        ["d", *[[["i", hex(n * (2**61 - 1))], 0] for n in range(1, 50_000)]],
        ["d", *[[["t", n, ["t", n, nested]], 0] for n in range(600)]],
        ["l", *[["i", "0x" + "e" * 1000]] * 1500],
        _tensor(), _tensor(shape=[2**40, 0]), _tensor(shape=[0] * 9), _tensor(dtype="object"),
        _tensor(shape=[-1]), _tensor(device="cuda:9999"), _tensor(layout=[0, 2**61, [2**61]]),
        ["dtype", "float8_e5m2"], ["device", "cuda:0"], ["handle", 2**61],
        ["path", "../../etc/passwd"], ["opaque", "Tensor", "no"], ["b", 0], ["b", -1], ["b", 10**6],
    )  # fmt: skip


def _reads(node: Any) -> bool:
    decoder = Decoder([], memoryview(b""))
    try:
        decoder.decode(node)
    except ProtocolError:
        return False
    return not decoder.long


@cache
def _valid() -> tuple[Any, ...]:
    """Return those that a host reads without a complaint."""
    return tuple(node for node in _nodes() if _reads(node))


@cache
def _large() -> set[int]:
    return {id(node) for node in _nodes() if len(json.dumps(node)) > 10_000}


FLOODS = (8 * MIB, 40 * MIB, 450 * MIB, 2**30, 2**63)
"""Bytes of data that are announced, and sent for as long as somebody reads."""


class HostileSandbox(Sandbox):
    """Starts hostile processes.

    Args:
        answers: What the reference answered.
        stalls: Share of answers that never come to an end.
    """

    isolation = Isolation(Tier.FULL)

    def __init__(self, answers: Answers, stalls: float) -> None:
        self._answers, self._stalls = answers, stalls
        _valid(), _large()  # made here once: each process is a fork, and would make its own

    def start(self, spec: ProcessSpec) -> SandboxedProcess:
        """See ``Sandbox.start``."""
        return HostileProcess(self._answers, self._stalls)

    def grants(self, spec: ProcessSpec) -> bool:
        """See ``Sandbox.grants``."""
        return True

    def close(self) -> None:
        """See ``Sandbox.close``."""


class HostileProcess(SandboxedProcess):
    """A forked process that answers."""

    def __init__(self, answers: Answers, stalls: float) -> None:
        ours, theirs = socket.socketpair()
        self.connection = Connection(ours)
        self._pid = os.fork()
        if self._pid == 0:
            ours.close()
            with suppress(BaseException):
                _Liar(theirs, answers, stalls).serve()
            os._exit(0)
        theirs.close()
        self._ended = False

    def end(self) -> Exit:
        """See ``SandboxedProcess.end``."""
        self.connection.close()
        if not self._ended:
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
            self._ended = True
        return Exit()

    def output(self) -> bytes:
        """See ``SandboxedProcess.output``."""
        return b""

    @property
    def pid(self) -> int | None:
        """See ``SandboxedProcess.pid``."""
        return self._pid


class _Liar:
    """Serves one host until it hangs up."""

    def __init__(self, sock: socket.socket, answers: Answers, stalls: float) -> None:
        self._sock = sock
        self._line = Connection(sock)
        self._answers, self._stalls = answers, stalls
        self._random = random.Random()
        self._turns: dict[str, int] = {}

    def serve(self) -> None:
        """Answer until the line is closed."""
        self._line.send(to_frame(Ready({}, {"torch": "0", "python": "0"})))
        while True:
            try:
                message = from_frame(self._line.receive(), Load, Call)
            except Closed:
                return
            self._sock.setblocking(True)
            if isinstance(message, Load):
                # Another seed for each process of a submission: a death costs no later answer.
                self._random.seed(f"{bytes(next(iter(message.files.values())))!r}{os.getpid()}")
                self._line.send(to_frame(Loaded(tuple(self._answers))))
            else:
                assert isinstance(message, Call)
                self._answer(message)
            self._sock.setblocking(False)

    def _answer(self, call: Call) -> None:
        ways = (self._forged,) * 4 + (self._mangled,) * 2 + (self._flooded, self._garbled)
        if self._random.random() < self._stalls:
            ways = (self._stalled,)
        for part in self._random.choice(ways)(self._right(call)):
            self._sock.sendall(part)

    def _right(self, call: Call) -> Reply:
        """Return what the reference answered to a call of this entry, with the right token."""
        seen = self._random.choice(self._answers[call.entry])
        if "counting" in call.probes and seen.counted:
            seen = self._random.choice(list(seen.counted.values()))
        claims = seen.claims
        return Reply(claims.value, None, claims.args_after, dict(claims.probes), call.token)

    def _forged(self, reply: Reply) -> Iterator[bytes]:
        """Send values that are read without a complaint, and are not what was asked for."""
        _, header, *blobs = (bytes(part) for part in pack(to_frame(reply)))
        document = json.loads(header)
        spots = list(_values(document["fields"]))
        for holder, key in self._random.choices(spots, k=self._random.randint(1, 4)):
            holder[key] = self._node(_valid())
        for fields in _tensors(document["fields"]):
            if "layout" in fields and self._random.random() < 0.7:
                self._lay_out(fields)
        used = list(_tensors(document["fields"]))
        if self._random.random() < 0.3:
            blobs = [os.urandom(len(blob)) for blob in blobs]
        blobs = [blobs[fields["blob"]] for fields in used]
        for number, fields in enumerate(used):
            fields["blob"] = number
        document["blobs"] = [len(blob) for blob in blobs]
        yield _frame(json.dumps(document).encode(), b"".join(blobs))

    def _mangled(self, reply: Reply) -> Iterator[bytes]:
        """Send the answer with some of it replaced, and the data beside it made to fit, or not."""
        _, header, *blobs = (bytes(part) for part in pack(to_frame(reply)))
        document = json.loads(header)
        spots = list(_spots(document["fields"]))
        for holder, key in self._random.choices(spots, k=self._random.randint(1, 3)):
            holder[key] = self._node(_nodes())
        if self._random.random() < 0.4:
            for fields in _tensors(document["fields"]):
                self._lay_out(fields)
        if self._random.random() < 0.5:
            blobs = self._refill(document, blobs)
        document["blobs"] = [len(blob) for blob in blobs]
        yield _frame(json.dumps(document).encode(), b"".join(blobs))

    def _node(self, nodes: Sequence[Any]) -> Any:
        """Choose a node; a large one now and then, for these take long to write and to read."""
        large = self._random.random() < 0.1
        return self._random.choice([node for node in nodes if (id(node) in _large()) == large])

    def _lay_out(self, fields: dict[str, Any]) -> None:
        places = (0, 1, 3, 2**31, 2**62 - 1)
        strides = [self._random.choice(places) for _ in fields["shape"]]
        fields["layout"] = [self._random.choice((0, 1)), self._random.choice(places), strides]

    def _refill(self, document: Any, blobs: list[bytes]) -> list[bytes]:
        """Put one large tensor in the place of the value, of any type and form."""
        dtype = self._random.choice(sorted(ITEMSIZE))
        size = self._random.choice((MIB // 4, 7 * MIB))
        width = ITEMSIZE[dtype]
        shape = self._random.choice(
            ([size // width], [1, size // width, 1], [8, size // width // 8])
        )
        document["fields"]["value"] = _tensor(dtype=dtype, shape=shape, blob=0)
        document["fields"]["args_after"] = None
        document["fields"]["probes"] = ["d"]
        return [os.urandom(size)]

    def _flooded(self, reply: Reply) -> Iterator[bytes]:
        """Announce more than may come, and send it."""
        size = self._random.choice(FLOODS)
        if self._random.random() < 0.3:
            yield PREFIX.pack(MAGIC, min(size, 2**32 - 1), 0)
        else:
            header = json.dumps(
                {
                    "type": "Reply",
                    "fields": {
                        "value": _tensor(shape=[size]), "fault": None, "args_after": None,
                        "probes": ["d"], "token": reply.token,
                    },
                    "blobs": [size],
                }
            ).encode()  # fmt: skip
            yield PREFIX.pack(MAGIC, len(header), size) + header
        for _ in range(min(size, 2**30) // MIB):
            yield bytes(MIB)

    def _garbled(self, reply: Reply) -> Iterator[bytes]:
        """Send what is no frame, or a good one at the wrong time or for the wrong question."""
        good = b"".join(bytes(part) for part in pack(to_frame(reply)))
        way: Callable[[], bytes] = self._random.choice(
            (
                lambda: os.urandom(self._random.choice((1, 15, 16, 5000))),
                lambda: good[: self._random.randrange(len(good))] + os.urandom(64),
                lambda: good + good,
                lambda: b"".join(map(bytes, pack(to_frame(replace(reply, token="no"))))),
                lambda: b"".join(map(bytes, pack(Frame("Loaded", {"names": ()})))),
                lambda: _frame(b"[" * 1_000_000),
                lambda: _frame(b"{" + b'"a":{' * 100_000),
                lambda: _frame(b'{"type":"Reply","fields":{},"blobs":[' + b"0," * 500_000 + b"0]}"),
                lambda: _frame(b'{"a":[' + b"[]," * 650_000 + b"[]]}"),
                lambda: _frame(json.dumps({"type": "Reply", "fields": [], "blobs": {}}).encode()),
            )
        )
        yield way()
        # Whoever waits for more than came waits for its deadline: hang up.
        self._sock.shutdown(socket.SHUT_RDWR)

    def _stalled(self, reply: Reply) -> Iterator[bytes]:
        """Begin to answer, and go on a byte at a time, or not at all."""
        good = b"".join(bytes(part) for part in pack(to_frame(reply)))
        yield good[:20]
        while True:
            time.sleep(0.05)
            yield b"\0" if self._random.random() < 0.5 else b""


def answers_of(plan: tuple[PlannedQuestion, ...], runs: Mapping[str, Any]) -> Answers:
    """Return what the reference answered, by entry."""
    return {
        planned.question.names[0]: list(runs[planned.question.id].observations.values())
        for planned in plan
    }


def _frame(header: bytes, payload: bytes = b"") -> bytes:
    return PREFIX.pack(MAGIC, len(header), len(payload)) + header + payload


def _spots(node: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place in a document: what holds it, and its key or number there."""
    keys = node.keys() if isinstance(node, dict) else range(len(node))
    for key in list(keys):
        yield node, key
        if isinstance(node[key], (dict, list)):
            yield from _spots(node[key])


def _values(node: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the places of the values of a reply, those within others included."""
    if isinstance(node, dict):
        for name in ("value", "args_after", "probes"):
            yield from ((node, name), *_values(node[name]))
    elif isinstance(node, list) and node[:1] in (["t"], ["l"]):
        for index in range(1, len(node)):
            yield from ((node, index), *_values(node[index]))
    elif isinstance(node, list) and node[:1] == ["d"]:
        for pair in node[1:]:
            yield from ((pair, 1), *_values(pair[1]))


def _tensors(document: Any) -> Iterator[dict[str, Any]]:
    for holder, key in list(_spots(document)):
        item = holder[key]
        if isinstance(item, dict) and isinstance(item.get("shape"), list):
            yield item

import pytest

from grader.wire.frames import Frame, pack, parse_header
from grader.wire.messages import (
    Call,
    CallbackRequest,
    Fault,
    Load,
    Loaded,
    Ready,
    Reply,
    Request,
    Response,
    from_frame,
    to_frame,
)
from grader.wire.values import TEXT_CAP, ActorHandle, FilePath, ProtocolError, Tensor

KINDS = (Load, Call, Ready, Loaded, Reply, Request, Response, CallbackRequest)
FAULT = Fault("ValueError", "bad", "hw.py", 3, 7, "Traceback …")
MESSAGES = [
    Load({"hw.py": b"x = 1"}, "hw.py"),
    Load({"hw.py": b""}, "hw.py", {"resnet.py": b"y"}, stage="def scenario(): …"),
    Load({"hw.py": b""}, "hw.py", {"own.py": b""}, modules={"torchvision.models": "own.py"}),
    Call("f"),
    Call("f", (1, Tensor("int8", (1,), b"a")), {"k": None}, probes=("args_after",)),
    Call("play", scenario=True, seed=3),
    Call("f", (Tensor("int8", (2,), b"ab"),), block=2, token="9f"),
    Ready({"network": "refused"}, {"torch": "2.13"}),
    Loaded(("f", "g")),
    Loaded((), FAULT, ("scipy",)),
    Request("call", "f", args=(ActorHandle(-1), FilePath("shared-1/x.pt")), kwargs={"k": 2}),
    Request("collect", target=3, most=9, stores={1: 2}),
    Request("value", files={"shared-1/x": b"y"}, folders={"shared-1": True}),
    Response(1.5, files={"shared-1/x": b"y"}, token="9f"),
    Response(fault=FAULT, kind="ValueError"),
    CallbackRequest(1, (2,), {"k": 3}, caller=7, token="9f"),
    Reply(1.5),
    Reply(1.5, token="9f"),
    Reply(fault=FAULT),
    Reply(None, args_after=(), probes={"ops": {"aten::add": 3}}),
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_messages_arrive_as_they_left(message):
    _, header, *blobs = pack(to_frame(message))
    payload = memoryview(bytearray(sum(map(len, blobs))))
    frame = parse_header(header, payload)
    payload[:] = b"".join(blobs)
    assert from_frame(frame, *KINDS) == message
    assert from_frame(frame, type(message)) == message


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_another_message_than_was_due_is_refused(message):
    others = [kind for kind in KINDS if kind is not type(message)]
    with pytest.raises(ProtocolError, match=" or "):
        from_frame(to_frame(message), *others)


@pytest.mark.parametrize("kind", ["", "Fault", "reply", "Reply ", "object", "x" * 1000])
def test_a_message_of_no_kind_is_refused(kind):
    with pytest.raises(ProtocolError, match="where Reply was due"):
        from_frame(Frame(kind, to_frame(Reply()).fields), Reply)


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_every_field_is_needed_and_no_other_allowed(message):
    frame = to_frame(message)
    for name in frame.fields:
        fewer = {key: value for key, value in frame.fields.items() if key != name}
        with pytest.raises(ProtocolError, match="other fields than"):
            from_frame(Frame(frame.type, fewer), *KINDS)
    with pytest.raises(ProtocolError, match="other fields than"):
        from_frame(Frame(frame.type, {**frame.fields, "score": 100}), *KINDS)


LONG = "x" * (TEXT_CAP + 1)
FIELDS = {
    "type": "E", "message": "", "file": "", "line": 0, "column": 0, "trace": "",
}  # fmt: skip


@pytest.mark.parametrize(
    ("message", "name", "value"),
    [
        (Load({}, "m"), "files", []),
        (Load({}, "m"), "files", {"a": "text"}),
        (Load({}, "m"), "files", {1: b""}),
        (Load({}, "m"), "support", None),
        (Load({}, "m"), "modules", {"torchvision": 1}),
        (Load({}, "m"), "module", 1),
        (Load({}, "m"), "stage", None),
        (Call("f"), "entry", LONG),
        (Call("f"), "args", [1]),
        (Call("f"), "kwargs", {1: 1}),
        (Call("f"), "kwargs", ()),
        (Call("f"), "scenario", 1),
        (Call("f"), "seed", None),
        (Call("f"), "probes", ["a"]),
        (Call("f"), "probes", (1,)),
        (Ready({}, {}), "walls", {"a": 1}),
        (Ready({}, {}), "versions", {"a": LONG}),
        (Loaded(()), "names", ["f"]),
        (Loaded(()), "names", (LONG,)),
        (Loaded(()), "missing", None),
        (Loaded(()), "fault", "ValueError"),
        (Reply(), "fault", {}),
        (Reply(), "fault", {**FIELDS, "more": 1}),
        (Reply(), "fault", {**FIELDS, "message": LONG}),
        (Reply(), "fault", {**FIELDS, "line": -1}),
        (Reply(), "fault", {**FIELDS, "line": True}),
        (Reply(), "fault", {**FIELDS, "line": 2**31}),
        (Reply(), "fault", {**FIELDS, "column": 1.0}),
        (Reply(), "fault", {**FIELDS, "trace": None}),
        (Reply(), "args_after", [1]),
        (Reply(), "probes", {1: 1}),
    ],
)
def test_fields_of_the_wrong_type_are_named(message, name, value):
    frame = to_frame(message)
    with pytest.raises(ProtocolError, match=f"field '{name}' of a {frame.type} message"):
        from_frame(Frame(frame.type, {**frame.fields, name: value}), *KINDS)


def test_a_fault_arrives_as_one():
    frame = to_frame(Reply(fault=FAULT))
    assert from_frame(frame, Reply).fault == FAULT


@pytest.mark.parametrize("count", [2**63, -(2**63) - 1, 10**1000])
@pytest.mark.parametrize("bury", [lambda n: n, lambda n: {"a": [1, (n, 2)]}, lambda n: {n: 1}])
def test_a_count_beyond_64_bits_is_refused(count, bury):
    _, header, *_ = pack(to_frame(Reply(count, probes={"first": 1, "counting": bury(count)})))
    with pytest.raises(ProtocolError, match="beyond 64 bits"):
        from_frame(parse_header(header, memoryview(b"")), Reply)
    _, header, *_ = pack(to_frame(Reply(count, probes={"counting": 2**63 - 1})))
    assert from_frame(parse_header(header, memoryview(b"")), Reply).value == count

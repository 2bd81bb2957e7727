import socket
import threading
import time

import pytest

from grader.wire.frames import (
    MAGIC,
    PREFIX,
    Caps,
    Closed,
    Connection,
    DeadlineExceeded,
    Frame,
    pack,
    parse_header,
    parse_prefix,
)
from grader.wire.values import ProtocolError, Tensor

SMALL = Caps(header=1000, payload=1000)


@pytest.fixture
def pair():
    ours, theirs = socket.socketpair()
    connection = Connection(ours, SMALL)
    yield connection, theirs
    connection.close()
    theirs.close()


def soon(seconds=0.05):
    return time.monotonic() + seconds


def later():
    return time.monotonic() + 60


def written(frame):
    return b"".join(bytes(buffer) for buffer in pack(frame))


HELLO = Frame("Hello", {"value": [Tensor("int8", (3,), b"abc"), 1.5]})


def test_a_frame_arrives_as_it_left(pair):
    connection, peer = pair
    Connection(peer).send(HELLO, later())
    assert connection.receive(later()) == HELLO


def test_frames_arrive_one_after_the_other(pair):
    connection, peer = pair
    peer.sendall(written(HELLO) + written(Frame("More", {})))
    assert [connection.receive(later()).type for _ in range(2)] == ["Hello", "More"]


def test_a_frame_larger_than_the_sockets_buffers_arrives():
    ours, theirs = socket.socketpair()
    sender, receiver = Connection(ours), Connection(theirs)
    big = Frame("Big", {"value": bytes(range(256)) * 2**15})
    thread = threading.Thread(target=sender.send, args=(big, later()))
    thread.start()
    assert receiver.receive(later()) == big
    thread.join()
    sender.close()
    receiver.close()


@pytest.mark.parametrize(
    ("prefix", "words"),
    [
        (PREFIX.pack(b"HTTP", 0, 0), "does not begin as one"),
        (PREFIX.pack(MAGIC, 1001, 0), "a header of 1001 bytes; the most is 1000"),
        (PREFIX.pack(MAGIC, 2**32 - 1, 0), "a header of 4294967295 bytes"),
        (PREFIX.pack(MAGIC, 2, 1001), "data of 1001 bytes; the most is 1000"),
        (PREFIX.pack(MAGIC, 2, 2**64 - 1), "data of 18446744073709551615 bytes"),
    ],
)
def test_lengths_are_checked_before_anything_is_read(pair, prefix, words):
    connection, peer = pair
    peer.sendall(prefix)
    with pytest.raises(ProtocolError, match=words):
        connection.receive(later())


def test_lengths_at_their_caps_are_allowed():
    assert parse_prefix(PREFIX.pack(MAGIC, 1000, 1000), SMALL) == (1000, 1000)


@pytest.mark.parametrize(
    ("header", "words"),
    [
        (b"", "not JSON"),
        (b"nonsense", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        ("{}".encode("utf-16"), "not JSON"),
        ('{"type":"é","fields":{},"blobs":[]}'.encode(), "not JSON"),
        (b"[" * 100_000, "nested too deep"),
        (b"[]", "not {type, fields, blobs}"),
        (b'"text"', "not {type, fields, blobs}"),
        (b"{}", "not {type, fields, blobs}"),
        (b'{"type":"A","fields":{},"blobs":[],"more":1}', "not {type, fields, blobs}"),
        (b'{"type":"A","type":"A","fields":{},"blobs":[]}', "names something twice"),
        (b'{"type":"A","fields":{"a":1,"a":2},"blobs":[]}', "names something twice"),
        (b'{"type":1,"fields":{},"blobs":[]}', "of the wrong type"),
        (b'{"type":"A","fields":[],"blobs":[]}', "of the wrong type"),
        (b'{"type":"A","fields":{},"blobs":{}}', "of the wrong type"),
        (b'{"type":"A","fields":{},"blobs":["1"]}', "blob lengths that are none"),
        (b'{"type":"A","fields":{},"blobs":[true]}', "blob lengths that are none"),
        (b'{"type":"A","fields":{},"blobs":[-1,1]}', "blob lengths that are none"),
        (b'{"type":"A","fields":{},"blobs":[1]}', "blobs of 1 bytes in a payload of 0"),
        (b'{"type":"A","fields":{"a":1.5},"blobs":[]}', "'1.5' in a header"),
        (b'{"type":"A","fields":{"a":NaN},"blobs":[]}', "'NaN' in a header"),
        (b'{"type":"A","fields":{"a":-Infinity},"blobs":[]}', "'-Infinity' in a header"),
        (b'{"type":"A","fields":{"a":' + b"9" * 21 + b'},"blobs":[]}', "too long for a header"),
        (b'{"type":"A","fields":{"a":' + b"9" * 99_999 + b'},"blobs":[]}', "too long"),
        (b'{"type":"A","fields":{"a":[]},"blobs":[]}', "without a tag"),
        (b'{"type":"A","fields":{},"blobs":[' + b"0," * 200_000 + b"0]}", "lengths that are none"),
    ],
)
def test_malformed_headers_are_named(header, words):
    with pytest.raises(ProtocolError, match=words):
        parse_header(header, memoryview(b""))


def test_bytes_that_nothing_refers_to_are_refused():
    with pytest.raises(ProtocolError, match="no value refers to"):
        parse_header(b'{"type":"A","fields":{},"blobs":[1]}', memoryview(b"x"))


def test_the_payload_is_not_read_before_the_header_is_right(pair):
    connection, peer = pair
    header = b'{"type":"A","fields":{},"blobs":[]}'
    peer.sendall(PREFIX.pack(MAGIC, len(header), 500) + header)
    with pytest.raises(ProtocolError, match="blobs of 0 bytes"):
        connection.receive(later())


@pytest.mark.parametrize("cut", [0, 1, 15, 16, 17, 60, -1])
def test_a_peer_that_goes_in_the_middle_is_gone(pair, cut):
    connection, peer = pair
    peer.sendall(written(HELLO)[:cut])
    peer.close()
    with pytest.raises(Closed):
        connection.receive(later())


@pytest.mark.parametrize("cut", [0, 5, 16, 60, -1])
def test_a_peer_that_stops_sending_is_not_waited_for(pair, cut):
    connection, peer = pair
    peer.sendall(written(HELLO)[:cut])
    with pytest.raises(DeadlineExceeded):
        connection.receive(soon())


def test_what_has_come_in_full_is_read_whatever_the_time(pair):
    connection, peer = pair
    peer.sendall(written(HELLO))
    assert connection.receive(time.monotonic() - 1) == HELLO


class Trickle:
    """A socket on which a byte is always to be had, or always fits, and never more."""

    _data = PREFIX.pack(MAGIC, 2**24, 0) + b" " * 2**24

    def __init__(self, sock):
        self._sock = sock
        self.passed = 0

    def __getattr__(self, name):
        return getattr(self._sock, name)

    def recv_into(self, view):
        self.passed += 1
        assert self.passed < 10_000_000, "the deadline does not hold"
        view[:1] = self._data[self.passed - 1 : self.passed]
        return 1

    def send(self, _):
        self.passed += 1
        assert self.passed < 10_000_000, "the deadline does not hold"
        return 1


@pytest.mark.parametrize(
    ("name", "args"), [("receive", ()), ("send", (Frame("Big", {"value": bytes(2**24)}),))]
)
def test_a_peer_that_trickles_meets_the_deadline(name, args):
    ours, theirs = socket.socketpair()
    trickle = Trickle(ours)
    act = getattr(Connection(trickle), name)
    with pytest.raises(DeadlineExceeded):
        act(*args, soon())
    assert trickle.passed > 1
    ours.close()
    theirs.close()


def test_a_peer_that_does_not_read_is_not_waited_for(pair):
    connection, _ = pair
    with pytest.raises(DeadlineExceeded):
        connection.send(Frame("Big", {"value": bytes(2**24)}), soon())


def test_sending_to_a_peer_that_is_gone(pair):
    connection, peer = pair
    peer.close()
    with pytest.raises(Closed):
        connection.send(Frame("Big", {"value": bytes(2**20)}), later())


def test_a_reset_connection_is_a_closed_one():
    server = socket.create_server(("127.0.0.1", 0))
    client = socket.create_connection(server.getsockname())
    peer, _ = server.accept()
    linger_none = b"\1\0\0\0\0\0\0\0"
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger_none)
    peer.close()
    connection = Connection(client)
    with pytest.raises(Closed):
        connection.receive(later())
    connection.close()
    server.close()


def test_closing_twice_is_harmless(pair):
    connection, _ = pair
    assert connection.fileno() >= 0
    connection.close()
    connection.close()
    assert connection.fileno() == -1
    with pytest.raises(Closed):
        connection.receive(later())


def test_more_than_was_announced_is_no_frame(pair):
    connection, peer = pair
    peer.sendall(written(HELLO) + b"and some more, long enough")
    connection.receive(later())
    with pytest.raises(ProtocolError, match="does not begin as one"):
        connection.receive(later())


def test_without_a_deadline_it_waits(pair):
    connection, peer = pair
    timer = threading.Timer(0.05, peer.sendall, (written(HELLO),))
    timer.start()
    assert connection.receive() == HELLO
    timer.join()


def test_what_cannot_cross_is_refused_before_a_byte_is_sent(pair):
    connection, peer = pair
    with pytest.raises(ProtocolError):
        connection.send(Frame("A", {"value": object()}))
    peer.setblocking(False)
    with pytest.raises(BlockingIOError):
        peer.recv(1)

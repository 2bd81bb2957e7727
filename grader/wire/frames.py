"""Frames: a fixed prefix, a JSON header, and a payload of raw bytes.

Prefix, 16 bytes little endian: ``TGW1``, header length (u32), payload length (u64).
Header: ``{"type": name, "fields": {name: node}, "blobs": [lengths]}``.

Defends against: lengths above the caps (checked before memory is set aside), JSON that is
malformed, too deep or holds anything but objects, lists, strings, integers, booleans and null,
a peer that stops sending (deadline), and one that sends more than it announced.
Does not defend against: a peer that sends well-formed lies.
"""

from __future__ import annotations

import json
import select
import socket
import struct
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Union

from grader.wire.codec import LONG, MAX_NODES, Decoder, Encoder, Node
from grader.wire.values import Buffer, ProtocolError, Value

MAGIC = b"TGW1"
PREFIX = struct.Struct("<4sIQ")
_JOINED = 2**18


class Closed(Exception):  # noqa: N818  # it names a state, not a mistake
    """The other side is gone: end of stream, or a reset connection."""


class DeadlineExceeded(Exception):  # noqa: N818  # likewise
    """The other side did not answer in time."""


Deadline = Union[None, float, Callable[[], float]]
"""On ``time.monotonic``'s clock; None waits for ever. Or a function that says for how many seconds
to wait before it is asked again, and raises ``DeadlineExceeded`` when there is no more time."""


@dataclass(frozen=True, slots=True)
class Caps:
    """The most that one frame may hold, in bytes."""

    header: int = 16 * 2**20
    payload: int = 2**30


@dataclass(frozen=True, slots=True)
class FrameSize:
    """What frames hold, in bytes."""

    header: int = 0
    payload: int = 0

    def __add__(self, other: FrameSize) -> FrameSize:
        return FrameSize(self.header + other.header, self.payload + other.payload)

    def __sub__(self, other: FrameSize) -> FrameSize:
        return FrameSize(self.header - other.header, self.payload - other.payload)


@dataclass(frozen=True, slots=True)
class Frame:
    """One message before its fields are checked against a schema.

    Attributes:
        type: Name of the kind of message.
        fields: Field → value.
        long: Fields that hold integers beyond 64 bits; known of a frame that was received.
    """

    type: str
    fields: Mapping[str, Value]
    long: frozenset[str] = frozenset()


def pack(frame: Frame) -> list[Buffer]:
    """Return the buffers that make up a frame, prefix first.

    Raises:
        ProtocolError: A field holds something that cannot cross.
    """
    encoder = Encoder()
    fields = {name: encoder.encode(value) for name, value in frame.fields.items()}
    blobs = [memoryview(blob).cast("B") for blob in encoder.blobs]
    lengths = [len(blob) for blob in blobs]
    document = {"type": frame.type, "fields": fields, "blobs": lengths}
    header = _WRITER.encode(document).encode("ascii")
    # Refused here, where the value is known: at the other end it would count as a violation of
    # whoever sent it.
    if len(header) > Caps().header:
        raise ProtocolError(f"a header of {len(header)} bytes; the most is {Caps().header}")
    return [PREFIX.pack(MAGIC, len(header), sum(lengths)), header, *blobs]


def parse_prefix(prefix: Buffer, caps: Caps) -> tuple[int, int]:
    """Return header and payload lengths.

    Raises:
        ProtocolError: Wrong magic, or a length above its cap.
    """
    magic, header, payload = PREFIX.unpack(prefix)
    if magic != MAGIC:
        raise ProtocolError("a frame that does not begin as one")
    if header > caps.header:
        raise ProtocolError(f"a header of {header} bytes; the most is {caps.header}")
    if payload > caps.payload:
        raise ProtocolError(f"data of {payload} bytes; the most is {caps.payload}")
    return header, payload


def unpack(data: Buffer, most: int = MAX_NODES) -> Iterator[Frame]:
    """Yield the frames that were packed into bytes one after the other.

    Args:
        data: What was packed; tensors refer to it.
        most: Values that there may be in one frame.

    Raises:
        ProtocolError: These are no frames.
    """
    left = memoryview(data)
    while left:
        if len(left) < PREFIX.size:
            raise ProtocolError("a frame that ends before its header")
        # Bounded by what is there, not by the caps of a line: a kept class may be larger than any
        # message.
        header, payload = parse_prefix(left[: PREFIX.size], Caps(len(left), len(left)))
        begin, end = PREFIX.size + header, PREFIX.size + header + payload
        if end > len(left):
            raise ProtocolError("a frame that ends before its data")
        yield parse_header(left[PREFIX.size : begin], left[begin:end], most)
        left = left[end:]


def parse_header(header: Buffer, payload: memoryview, most: int = MAX_NODES) -> Frame:
    """Return the frame; its tensors refer to ``payload``, whose content may still be to come.

    Raises:
        ProtocolError: The header is malformed or does not match the payload's length.
    """
    document = _load(header)
    if not isinstance(document, dict) or set(document) != {"type", "fields", "blobs"}:
        raise ProtocolError("a header that is not {type, fields, blobs}")
    kind, fields, lengths = document["type"], document["fields"], document["blobs"]
    if not isinstance(kind, str) or not isinstance(fields, dict) or not isinstance(lengths, list):
        raise ProtocolError("a header whose parts are of the wrong type")
    if len(lengths) > most or any(type(item) is not int or item < 0 for item in lengths):
        raise ProtocolError("blob lengths that are none")
    # Checked before any slice is cut: a header that promises more than the payload holds would make
    # tensors shorter than their shape says.
    if sum(lengths) != len(payload):
        raise ProtocolError(f"blobs of {sum(lengths)} bytes in a payload of {len(payload)}")
    decoder = Decoder(lengths, payload, most)
    values, long = {}, set()
    for name, node in fields.items():
        decoder.long = False
        values[name] = decoder.decode(node)
        if decoder.long:
            long.add(name)
    # A blob that no value names would be a channel past every check of fields.
    decoder.finish()
    return Frame(kind, values, frozenset(long))


def _refuse(text: str) -> Node:
    raise ProtocolError(f"{text[:20]!r} in a header")


def _bounded_int(text: str) -> int:
    # int() of a long decimal takes time that grows with its square; 20 characters hold any 64 bits.
    value = int(text) if len(text) <= 20 else LONG
    if not -LONG <= value < LONG:
        raise ProtocolError("an integer too long for a header")
    return value


def _unique(pairs: list[tuple[str, Node]]) -> dict[str, Node]:
    members = dict(pairs)
    # json keeps the last of two equal names. A reader that keeps the first would see another
    # message.
    if len(members) != len(pairs):
        raise ProtocolError("a header that names something twice")
    return members


# Made once: ``json.loads`` and ``json.dumps`` make one for each message.
_WRITER = json.JSONEncoder(separators=(",", ":"))
_READER = json.JSONDecoder(
    # Floats travel as hexadecimal text, which is exact; “NaN” and “1e999” in JSON are not JSON.
    parse_float=_refuse,
    parse_int=_bounded_int,
    parse_constant=_refuse,
    object_pairs_hook=_unique,
)


def _load(header: Buffer) -> Any:
    try:
        # ASCII, which is what pack() writes: json would otherwise guess among UTF-8, -16 and -32.
        return _READER.decode(str(header, "ascii"))
    except RecursionError:
        raise ProtocolError("a header nested too deep") from None
    except ValueError as error:
        raise ProtocolError(f"a header that is not JSON: {str(error)[:80]}") from None


def _gathered(buffers: list[Buffer]) -> list[Buffer]:
    """Join what is small: each write wakes the peer, and a woken peer waits for the next one."""
    if sum(map(len, buffers)) > _JOINED:
        return buffers
    return [b"".join(buffers)]


def seconds_left(deadline: float | Callable[[], float]) -> float:
    """Return for how many seconds to wait before the deadline is looked at again.

    Raises:
        DeadlineExceeded: There is no more time.
    """
    left = deadline() if callable(deadline) else deadline - time.monotonic()
    if left < 0:
        raise DeadlineExceeded
    return left


def _check_trickle(left: memoryview, deadline: Deadline) -> None:
    # A peer that keeps the line busy a byte at a time never makes _wait() wait.
    if left and deadline is not None:
        seconds_left(deadline)


class Connection:
    """Sends and receives frames over a stream socket.

    Attributes:
        caps: Bounds on the next frame that is received.
        received: Size of all frames that were accepted so far.
        reading: Makes the context in which a frame is read, once its size is known and accepted.

    Args:
        sock: A connected stream socket; the connection owns it.
        caps: Bounds on what is received.
    """

    def __init__(self, sock: socket.socket, caps: Caps | None = None) -> None:
        self._sock = sock
        self.caps = caps or Caps()
        self.received = FrameSize()
        self.reading: Callable[[], AbstractContextManager[None]] = nullcontext
        self._begun = b""
        # A blocking read would wait past the deadline for a peer that sends half a frame.
        sock.setblocking(False)

    def send(self, frame: Frame, deadline: Deadline = None) -> None:
        """Send one frame.

        Args:
            frame: What to send.
            deadline: Until when.

        Raises:
            Closed: The peer is gone.
            DeadlineExceeded: It does not read.
        """
        self.write(pack(frame), deadline)

    def write(self, buffers: list[Buffer], deadline: Deadline = None) -> None:
        """Send frames that are packed already; see ``send``."""
        for buffer in _gathered(buffers):
            view = memoryview(buffer)
            while view:
                try:
                    view = view[self._sock.send(view) :]
                except BlockingIOError:
                    self._wait(select.POLLOUT, deadline)
                except OSError as error:
                    raise Closed(str(error)) from None
                _check_trickle(view, deadline)

    def send_descriptor(self, frame: Frame, descriptor: int) -> None:
        """Send one small frame, and with it a copy of an open descriptor."""
        # In one piece: the descriptor travels with the first byte, and a second send could block.
        data = b"".join(pack(frame))
        sent = socket.send_fds(self._sock, [data], [descriptor])
        if sent != len(data):
            raise Closed("the peer does not read")

    def receive_descriptor(self, deadline: Deadline) -> int:
        """Receive the descriptor that comes with the next frame, and the frame's first byte.

        Nothing of the frame is lost: it can be received afterwards.

        Raises:
            Closed: The peer is gone.
            DeadlineExceeded: Nothing came in time.
            ProtocolError: The frame came without a descriptor.
        """
        self._wait(select.POLLIN, deadline)
        try:
            # One byte and one descriptor: more would be descriptors of the peer that nobody closes.
            data, descriptors, _, _ = socket.recv_fds(self._sock, 1, 1)
        except OSError as error:
            raise Closed(str(error)) from None
        self._begun = data
        if not data:
            raise Closed("end of stream")
        if not descriptors:
            raise ProtocolError("no descriptor came")
        return descriptors[0]

    def receive(self, deadline: Deadline = None) -> Frame:
        """Receive one frame.

        Raises:
            Closed: The peer is gone.
            DeadlineExceeded: Nothing, or not all of it, came in time.
            ProtocolError: What came is no frame.
        """
        begun, self._begun = self._begun, b""
        prefix = begun + bytes(self._read(PREFIX.size - len(begun), deadline))
        header_size, payload_size = parse_prefix(prefix, self.caps)
        # Counted on announcement, before the bytes: a frame that never comes whole costs its sender
        # too.
        self.received += FrameSize(header_size, payload_size)
        with self.reading():
            header = self._read(header_size, deadline)
            # Not filled in yet: the decoder checks every size against it, and the bytes come
            # afterwards.
            payload = memoryview(bytearray(payload_size))
            # The header is judged before the payload is read: a malformed frame of a gigabyte costs
            # the host no gigabyte of reading.
            frame = parse_header(header, payload)
            self._read_into(payload, deadline)
        return frame

    def has_unread(self) -> bool:
        """Tell whether the peer has sent something, or has hung up, without being waited for."""
        poller = select.poll()
        poller.register(self._sock, select.POLLIN)
        return bool(poller.poll(0))

    def close(self) -> None:
        """Close the socket; harmless when it is closed already."""
        self._sock.close()

    def fileno(self) -> int:
        """Return the socket's file descriptor."""
        return self._sock.fileno()

    def _read(self, size: int, deadline: Deadline) -> memoryview:
        view = memoryview(bytearray(size))
        self._read_into(view, deadline)
        return view

    def _read_into(self, view: memoryview, deadline: Deadline) -> None:
        while view:
            try:
                count = self._sock.recv_into(view)
            except BlockingIOError:
                self._wait(select.POLLIN, deadline)
                continue
            except OSError as error:
                raise Closed(str(error)) from None
            if count == 0:
                raise Closed("end of stream")
            view = view[count:]
            _check_trickle(view, deadline)

    def _wait(self, event: int, deadline: Deadline) -> None:
        poller = select.poll()
        poller.register(self._sock, event)
        if callable(deadline):
            while not poller.poll(deadline() * 1000):
                continue
            return
        timeout = None if deadline is None else max(0.0, deadline - time.monotonic()) * 1000
        if not poller.poll(timeout):
            raise DeadlineExceeded

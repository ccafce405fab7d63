"""Messages between the page, the server and its workers: a header as JSON, and arrays of four-byte numbers behind it.

    uint32 length of the header | the header as JSON, with spaces up to a multiple of 4 | the arrays, back to back

In a pipe, a uint32 with the length of the message stands in front of it. All numbers have their low byte first.
"""

import json
import struct
from collections.abc import Sequence
from typing import Any, BinaryIO

LENGTH = struct.Struct("<I")
LARGEST = 512 * 2**20
"""No message between server and worker is longer [bytes]."""


def pack(header: dict[str, Any], arrays: Sequence[Any] = ()) -> bytes:
    """A message; arrays are NumPy arrays of float32 or uint32."""
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 4)
    return b"".join([LENGTH.pack(len(text)), text, *(memoryview(array).cast("B") for array in arrays if array.size)])


def header_of(message: bytes) -> dict[str, Any]:
    """The header of a message."""
    (length,) = LENGTH.unpack_from(message)
    return json.loads(message[4 : 4 + length])


def body_of(message: bytes) -> bytes:
    """What follows the header."""
    (length,) = LENGTH.unpack_from(message)
    return message[4 + length :]


def framed(message: bytes) -> bytes:
    """The message as it goes through a pipe."""
    return LENGTH.pack(len(message)) + message


def read_framed(stream: BinaryIO) -> bytes | None:
    """The next message from a pipe; None at its end."""
    head = stream.read(4)
    if len(head) < 4:
        return None
    (length,) = LENGTH.unpack(head)
    message = stream.read(length) if length <= LARGEST else b""
    return message if len(message) == length else None

"""Measure an uploaded Feather file before Arrow unpacks it.

A file of one kilobyte can hold compressed buffers of gigabytes. Each buffer begins with its unpacked size, and Arrow
allocates memory of that size. pyarrow shows neither these sizes nor the blocks of a file, so both are read here [Arrow
columnar format, "Serialization and Interprocess Communication"].
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from utmost.tables.optional_imports import extra

_DICTIONARY, _BATCH = 2, 3  # kinds of a message
_END = 10  # bytes after the footer of a file: its length and "ARROW1"


@dataclass(frozen=True, slots=True)
class _Record:
    """A table of a flatbuffer, the encoding of Arrow's metadata."""

    content: bytes
    at: int

    def place(self, field: int) -> int | None:
        """Return where a field is stored, or None if the file omits the field because it has the default value."""
        vtable = self.at - struct.unpack_from("<i", self.content, self.at)[0]
        (size,) = struct.unpack_from("<H", self.content, vtable)
        if 4 + 2 * field >= size:
            return None
        (offset,) = struct.unpack_from("<H", self.content, vtable + 4 + 2 * field)
        return self.at + offset if offset else None

    def record(self, field: int) -> "_Record":
        at = self.place(field)
        return _Record(self.content, _referred(self.content, -1 if at is None else at))

    def structures(self, field: int, form: str) -> Iterator[tuple[Any, ...]]:
        place = self.place(field)
        if place is None:
            return
        at = _referred(self.content, place)
        (count,) = struct.unpack_from("<I", self.content, at)
        for number in range(count):
            yield struct.unpack_from(form, self.content, at + 4 + number * struct.calcsize(form))


def _referred(content: bytes, at: int) -> int:
    if at < 0:
        raise ValueError("a field is missing")
    return at + int(struct.unpack_from("<I", content, at)[0])


def unpacked_size(content: bytes) -> int:
    """Return how many bytes the buffers of a Feather file have, unpacked."""
    ipc = extra("pyarrow.ipc", "tables")
    try:
        return sum(map(_unpacked, _messages(ipc, content)))
    except (struct.error, EOFError):
        raise ValueError("the file is cut off") from None


def _messages(ipc: Any, content: bytes) -> Iterator[Any]:
    if content[:6] != b"ARROW1":
        with ipc.MessageReader.open_stream(content) as stream:
            yield from iter(stream)
        return
    (length,) = struct.unpack_from("<i", content, len(content) - _END)
    footer = content[len(content) - _END - length : len(content) - _END]
    record = _Record(footer, _referred(footer, 0))
    for field in (2, 3):  # blocks of dictionaries, and of rows
        for at, _, _ in record.structures(field, "<qi4xq"):
            yield ipc.read_message(memoryview(content)[at:])


def _unpacked(message: Any) -> int:
    metadata = message.metadata.to_pybytes()
    record = _Record(metadata, _referred(metadata, 0))
    kind = record.place(1)
    header = 0 if kind is None else metadata[kind]
    if header not in (_DICTIONARY, _BATCH):
        return 0
    batch = record.record(2) if header == _BATCH else record.record(2).record(1)
    is_packed, body, size = batch.place(3) is not None, message.body, 0
    for at, length in batch.structures(2, "<qq"):
        stated = struct.unpack_from("<q", body, at)[0] if is_packed and length else -1
        size += length if stated < 0 else stated  # -1: this buffer is not compressed
    return size

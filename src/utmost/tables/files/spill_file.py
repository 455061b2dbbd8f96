"""What waits on the disk in parts, in one file without a name: it is gone when the process ends, however that ends."""

from collections.abc import Iterator
from tempfile import TemporaryFile
from types import TracebackType
from typing import Any

Span = tuple[int, int]


class SetAside:
    """Bytes by part, each part in the order in which they came.

    The file is one of the temporary folder (`TMPDIR`). No name leads to it, where the operating system has such files:
    so nobody finds it there, and neither an error nor a killed process leaves it behind.

    Args:
        parts: how many parts there are.

    >>> with SetAside(2) as aside:
    ...     for part, content in ((1, b"ab"), (0, b"c"), (1, b"d")):
    ...         aside.add(part, content)
    ...     list(aside.of(1)), list(aside.of(0))
    ([b'ab', b'd'], [b'c'])
    """

    def __init__(self, parts: int) -> None:
        self._file: Any = TemporaryFile(prefix="utmost-")  # noqa: SIM115  (closed where this is left)
        self._spans: list[list[Span]] = [[] for _ in range(parts)]
        self._end = 0

    def add(self, part: int, content: Any) -> None:
        """Write bytes behind those of their part."""
        self._file.seek(self._end)
        size = self._file.write(content)
        self._spans[part].append((self._end, size))
        self._end += size

    def of(self, part: int) -> Iterator[bytes]:
        """What was written of a part."""
        for start, size in self._spans[part]:
            self._file.seek(start)
            yield self._file.read(size)

    def __enter__(self) -> "SetAside":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

"""A temporary file for several sequences of bytes, called parts; the file is removed however the process ends."""

from collections.abc import Iterator
from tempfile import TemporaryFile
from types import TracebackType
from typing import Any


class SpillFile:
    """Stores several sequences of bytes ("parts") on the disk. The bytes of each part are read in the order in which
    they were added.
    """

    # The file is in the temporary folder (`TMPDIR`), without a name if the operating system allows that. Then nobody
    # can open it, and it is gone even after an error or after the process was killed.
    def __init__(self, parts: int) -> None:
        self._file: Any = TemporaryFile(prefix="utmost-")  # noqa: SIM115  (closed by __exit__)
        self._spans: list[list[tuple[int, int]]] = [[] for _ in range(parts)]
        self._end = 0

    def add(self, part: int, content: Any) -> None:
        self._file.seek(self._end)
        size = self._file.write(content)
        self._spans[part].append((self._end, size))
        self._end += size

    def read(self, part: int) -> Iterator[bytes]:
        for start, size in self._spans[part]:
            self._file.seek(start)
            yield self._file.read(size)

    def __enter__(self) -> "SpillFile":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

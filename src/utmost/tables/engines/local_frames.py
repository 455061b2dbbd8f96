"""Frames of engines on this machine: all their rows pass by in one place, as often as something is made of them."""

from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol

from utmost.tables.engines.engine_frames import Batches, EngineFrame, RowsMap, write_parquet


class FrameHere(EngineFrame, Protocol):
    """A frame whose rows can be read here: whichever engine it is of, this is made of them in one way."""

    def passing(self) -> Generator[Any, None, None]:
        """The rows in any order; what reads them is freed once the generator is closed."""

    def check_mapped(self) -> None:
        """Any such frame can be mapped."""
        return None

    def written(self, folder: Path) -> None:
        """Files of the rows, in their order."""
        write_parquet(self.batches(), self.schema(), folder)

    def added_up(self, work: RowsMap, schema: Any) -> Batches:
        """The rows pass by; the sums are made on the way."""
        return work(self.passing())

    def compared(self, work: RowsMap, between: Any, then: RowsMap, schema: Any, parts: int) -> None:
        """None: all rows pass by in one place."""
        return None

    def added_up_by(self, column: str, work: RowsMap, schema: Any) -> Batches:
        """The rows pass by once, all in one place."""
        with closing(self.passing()) as batches:  # freed where an event is refused, too
            yield from work(batches)

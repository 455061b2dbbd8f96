"""Two functions that each way of counting takes: how events are read into a tally, and which cells of a person stay."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from utmost.publish.counting.bounding import Pairs
from utmost.tables.cells.spelling import Spelling


class EventReader(Protocol):
    """How events are read into a tally, and which of a person's cells are kept."""

    @property
    def person(self) -> str:
        """The column that says whose event it is."""

    @property
    def spelling(self) -> Spelling:
        """The marks that are declared for the cells of all columns."""

    def placed(self, batch: Mapping[str, Any], before: int) -> tuple[NDArray[np.int64], NDArray[Any] | None]:
        """The cell of each event of a batch, -1 outside the domain, and its amount; None where each counts as one.

        Where several things are counted of an event, all events come once for each, one time behind the other.
        """

    def summed(self, pairs: "Pairs", texts: Sequence[str]) -> Any:
        """The kept part of these persons, added up over them: an Arrow batch."""

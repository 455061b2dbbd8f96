"""Give noisy counts of those cells that somebody requests, of a universe of any size, such as all texts of 20 letters.

Every cell has separate noise, even a cell with count 0. The noise is a function of the ledger's key and the cell, and
is computed when the cell is requested. So an answer is the same for every caller, at any time and in any order; a
release can be relaxed like any release with keyed noise; and the stored data do not grow with the universe. The ledger
stores the size and digest of the universe, and a commitment to a table that is padded to a declared number of cells, so
that the number of nonzero cells stays hidden.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from utmost.core.exact.arguments import wrong_kind
from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number, exact_integer, natural
from utmost.core.privacy.unit import Unit
from utmost.core.sampling.item_words import Identifiers
from utmost.errors import OutOfRange
from utmost.publish.ledger.item_ledger import ItemLedger, check_universe, request_by_item
from utmost.publish.ledger.requests import PublishRequest
from utmost.publish.promises.partition_selection import counted_keys, keys_of_one
from utmost.publish.promises.promise import Promise
from utmost.publish.promises.promised_noise import Noise
from utmost.publish.promises.vast_domains import Universe, check_places, place_in, size_text, universe_facts
from utmost.publish.releases.item_commitment import CommitmentKey, ItemCommitment
from utmost.publish.releases.item_release import ItemResponder

_COUNT, _CELL, _MOST = "n", "cell", 10**8
_AT_ONCE = 1 << 20


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AnsweredCells:
    """Noisy counts over a universe at one level; the count of a cell is computed when it is requested.

    The object contains the true counts, so that only the curator may have it; its answers may be published.

    Attributes:
        universe: All cells that exist.
        noise: Noise of each cell.
    """

    universe: Universe
    noise: Noise
    _release: ItemResponder = field(repr=False)
    _counts: Mapping[int, int] = field(repr=False)

    @property
    def level(self) -> Level:
        """The level of all answers together."""
        return self._release.level

    @property
    def guarantee(self) -> str:
        """The guarantee of all answers together, in plain words."""
        cells = f"The universe has {size_text(self.universe)} cells and was declared beforehand."
        return f"{self.noise.guarantee(self.level, (_COUNT,))} {cells}"

    def margin(self, confidence: Number = DEFAULT_CONFIDENCE) -> int | float:
        """Return the margin of error: with this confidence the error of an answer is at most this."""
        return self.noise.margin(self.level, confidence)

    def __getitem__(self, key: Any) -> int:
        """Return the noisy count of one cell, the same at each call."""
        return self.answers([key])[key]

    def answers(self, keys: Iterable[Any]) -> dict[Any, int]:
        """Return {key: noisy count} for some cells, also for cells whose true count is 0.

        Args:
            keys: Keys of the universe, chosen without looking at the data; they may depend on earlier answers.

        Raises:
            OutOfRange: if a key is not in the universe.
            WrongKind: if ``keys`` is one key instead of a list.

        Cost: some microseconds for each cell; a request for more cells spends no more of the budget.

        Source: proofs/theory/unknown-keys.md.
        """
        if isinstance(keys, str | bytes) or not isinstance(keys, Iterable):
            raise wrong_kind("keys", "keys of the universe in a list", keys)
        places, size = dict[Any, int](), exact_integer(self.universe.size, "size of the universe")
        for at, key in enumerate(keys):
            place = place_in(self.universe, key, size)
            if place is None:
                remedy = "Leave the key out, or publish over a larger universe."
                raise OutOfRange(
                    "each key must be in the universe", came="another key", where=f"key {at + 1}", remedy=remedy
                )
            places[key] = place
        if not places:
            return {}
        values = {_COUNT: [self._counts.get(place, 0) for place in places.values()]}
        noisy = self._release.responses([Identifiers.of(list(map(str, places.values())))], values)[_COUNT]
        return dict(zip(places, noisy.tolist(), strict=True))

    def __repr__(self) -> str:
        return f"AnsweredCells(level={self.level!r})"


class CellLedger:
    """The part of a ledger for releases whose cells are answered on demand; `Ledger.cells_on_demand` makes it.

    >>> from tempfile import TemporaryDirectory
    >>> from utmost.ledger import Ledger
    >>> from utmost.releases import Texts
    >>> words, counts = Texts("abcdefghijklmnopqrstuvwxyz", most=20), {"influenza": 900, "plague": 1}
    >>> with TemporaryDirectory() as here, Ledger.open(f"{here}/releases.db", create=True) as ledger:
    ...     searches = ledger.cells_on_demand.publish("searches", counts, words, most=1000, epsilon=1)
    ...     again = ledger.cells_on_demand.view("searches", counts, words, epsilon=1)
    ...     better = ledger.cells_on_demand.relax("searches", counts, words, epsilon=2)
    ...     searches["influenza"] == again["influenza"], abs(better["nothing"]) < 60, ledger.spent("searches")
    (True, True, level(epsilon=2))
    """

    __slots__ = ("_items",)

    def __init__(self, items: ItemLedger) -> None:
        self._items = items

    def publish(
        self,
        name: str,
        counts: Any,
        universe: Universe,
        *,
        most: int,
        keys: int = 1,
        epsilon: Number | Level,
        dataset: str | None = None,
        version: int | None = None,
        request: str | None = None,
        independent: bool = False,
    ) -> AnsweredCells:
        """Commit to a table over a universe and answer at a first level; a repeated call gives the same answers.

        Args:
            name, dataset, version, request, independent: Arguments of `Ledger.publish`.
            counts: {key: count} for all cells whose count is not 0, or a table of two columns, keys and counts.
            universe: `Texts`, `Tuples`, or any `Universe`, chosen without looking at the data.
            most: Largest possible number of cells in ``counts``, declared beforehand, at most 10^8. The ledger stores
                this bound, not the number itself.
            keys: Largest number of cells of one individual, who adds at most 1 to the count of each.
            epsilon: Level of all answers together.

        Raises:
            OutOfRange: if a key is outside the universe, or if ``counts`` has more than ``most`` cells.
            DataChanged, AlreadyPublished, BudgetExceeded: if `Ledger.publish` would refuse such a request.

        Guarantee: epsilon for one individual added or removed, for any number of requested cells.

        Cost: each call takes a microsecond for each of the ``most`` cells that may have a count.

        Source: proofs/theory/unknown-keys.md.
        """
        room, places = natural(most, "most", most=_MOST), _places(counts, universe)
        promise = Promise(_COUNT, unit=Unit(1, keys_of_one(keys)), id_column=_CELL)
        publication = PublishRequest(
            name=name,
            promise=promise,
            level=level(epsilon),
            dataset=name if dataset is None else dataset,
            version=version,
            request=request,
            independent=independent,
        )
        read = request_by_item(publication)
        commitment = _padded(self._items.key_of_request(read), places, room)
        release = self._items.published(read, commitment, universe_facts(universe))
        return self._answered(name, version, universe, release, places)

    def relax(
        self,
        name: str,
        counts: Any,
        universe: Universe,
        *,
        epsilon: Number | Level,
        version: int | None = None,
    ) -> AnsweredCells:
        """Answer from the same table at a larger epsilon, which all answers then cost together: see `ItemLedger.relax`.

        Args:
            name, version: Name and version of the release; the newest version if ``version`` is left out.
            counts, universe: Counts and universe that were published; the ledger stores only a commitment to them.
            epsilon: Level of all answers together.

        Raises:
            DataChanged: if the counts or the universe are not those published.
            BudgetExceeded, Quarantined, NotPublished: if `Ledger.relax` would refuse such a request.

        Cost: that of `publish`.

        Source: proofs/theory/unknown-keys.md.
        """
        places, commitment = self._committed(name, counts, universe, version)
        release = self._items.relax(name, commitment, epsilon=epsilon, version=version)
        return self._answered(name, version, universe, release, places)

    def view(
        self,
        name: str,
        counts: Any,
        universe: Universe,
        *,
        epsilon: Number | Level,
        version: int | None = None,
    ) -> AnsweredCells:
        """Answer from the same table at any level up to the largest epsilon that was answered; nothing is spent.

        Args:
            name, counts, universe, epsilon, version: Arguments of `relax`.

        Raises:
            DataChanged: if the counts or the universe are not those published.
            NeedsTable: if the level is above the largest one answered: call `relax`.

        Cost: that of `publish`.
        """
        places, commitment = self._committed(name, counts, universe, version)
        self._items.check_committed(name, commitment, version=version)
        release = self._items.view(name, epsilon=epsilon, version=version)
        return self._answered(name, version, universe, release, places)

    def _answered(
        self, name: str, version: int | None, universe: Universe, release: ItemResponder, counts: Mapping[int, int]
    ) -> AnsweredCells:
        known = self._items.release(name, version)
        assert known is not None, "it was published"
        return AnsweredCells(universe, known.noise, release, counts)

    def _committed(
        self, name: str, counts: Any, universe: Universe, version: int | None
    ) -> tuple[dict[int, int], ItemCommitment]:
        """Return {index in the universe: count}, and the commitment to these counts, padded to the published rows."""
        places = _places(counts, universe)
        known = self._items.release(name, version)
        if known is not None:
            check_universe(known, universe_facts(universe))
        key = self._items.commitment_key(name, version=version)
        return places, _padded(key, places, len(places) if known is None else known.rows)


def _places(counts: Any, universe: Universe) -> dict[int, int]:
    """Return {index in the universe: count}; check that ``universe`` has the methods of `Universe`."""
    if not all(hasattr(universe, name) for name in ("size", "key", "place")):
        raise wrong_kind("universe", "a Universe", universe)
    return check_places(counted_keys(counts), universe)


def _padded(key: CommitmentKey, places: Mapping[int, int], room: int) -> ItemCommitment:
    """Commit to ``room`` cells: the counted cells, and padding cells outside every universe."""
    if len(places) > room:
        remedy = (
            "Publish a new version with a larger most=. Choose this number from what is possible, not from the data."
        )
        raise OutOfRange("most= must be at least the number of counted cells", came="a smaller number", remedy=remedy)
    held, values = [str(place) for place in places] or ["-0"], list(places.values()) or [0]
    commitment = key.committed([Identifiers.of(held)], {_COUNT: values})
    if len(set(values)) == 1:  # equal values do not identify a table, so they are not compared with other releases
        commitment = commitment.without([0])
    plain, left = replace(key, likeness=None), room - len(held)
    for start in range(1, left + 1, _AT_ONCE):
        padding = [f"-{number}" for number in range(start, min(start + _AT_ONCE, left + 1))]
        commitment = commitment + plain.committed([Identifiers.of(padding)], {_COUNT: [0] * len(padding)})
    return commitment

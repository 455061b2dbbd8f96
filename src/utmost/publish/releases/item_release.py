"""Noise keyed by identifier: the object that a worker gets, and the noise that it computes for the worker's rows.

The noise of a row at a level is a function of a secret, the column, the path and the row's identifier. The **path** is
the list of levels in the order in which they were answered. The path determines how the noise at each level is drawn,
see `Step.from_known`: fresh, relaxed from the next smaller level, tightened from the next larger one, or bridged
between these two. So the noise of a row at all levels has the joint distribution of the noise process, in any order of
levels; the noises of different rows, columns and releases are independent; and answers can be repeated without stored
noise.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.levels import Level
from utmost.core.exact.written_levels import level_text
from utmost.core.gradual.steps import Tightening
from utmost.core.noise.geometric import Geometric
from utmost.core.sampling.integers import Integers, add, joined, minus
from utmost.core.sampling.item_draws import item_bridge, item_geometric, item_tightening, item_uniform
from utmost.core.sampling.item_words import (
    BlockCipher,
    Identifiers,
    ItemWords,
    Tags,
    check_columns,
    check_secret,
    item_tags,
    length_prefixed,
    word_cipher,
)
from utmost.errors import BadTable, OutOfRange, WrongKind
from utmost.publish.promises.lattice import Lattice
from utmost.publish.promises.level_steps import Step

_AT_ONCE = 1 << 14  # rows in a chunk: its data fit the processor's cache, and memory is reused
Shift = Callable[[Tags], Integers]
"""A function from the tags of some rows to the numbers that are added to their values."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ItemResponder:
    """The secret, the columns and the levels of one release, with which a worker adds noise to its rows.

    The driver sends this object to every worker, so it can be pickled. The secret gives access to this release and to
    nothing else in the ledger. Whoever has the object can remove the noise of this release: protect it like the data,
    and delete it after the job.

    Attributes:
        secret: 32 bytes, never shown in a repr or a message.
        columns: Released columns.
        lattice: Lattice of the noise.
        path: Levels, in the order in which they were answered.
        level: Level of the path at which noise is added.

    >>> from utmost.exact import level
    >>> from utmost.privacy import Unit
    >>> from utmost.publish.promises.lattice import lattice_of
    >>> lattice = lattice_of("integers", Unit(sensitivity=1, cells=1, neighbours="add-remove"))
    >>> release = ItemResponder(bytes(32), ("n",), lattice, (level(1), level(3)), level(3))
    >>> whole = release.responses([Identifiers.of(["a", "b"])], {"n": [5, 7]})["n"]
    >>> int(whole[1]) == int(release.responses([Identifiers.of(["b"])], {"n": [7]})["n"][0])
    True
    """

    secret: bytes
    columns: tuple[str, ...]
    lattice: Lattice
    path: tuple[Level, ...]
    level: Level

    def __post_init__(self) -> None:
        check_secret(self.secret, "ItemResponder")
        is_path = isinstance(self.path, tuple) and all(isinstance(step, Level) for step in (*self.path, self.level))
        if not is_path or not isinstance(self.lattice, Lattice) or not is_texts(self.columns):
            raise WrongKind("a responder must have columns, a lattice and levels", where="ItemResponder")
        if len(set(self.path)) != len(self.path) or self.level not in self.path:
            raise OutOfRange(
                "path must contain each level once, and must contain the level of the release", where="ItemResponder"
            )

    def tags(self, identifiers: Sequence[Identifiers]) -> Tags:
        """Return the tags of rows, shape (n, 2); see `item_tags`."""
        return item_tags(self.secret, identifiers)

    def responses(
        self, identifiers: Sequence[Identifiers], values: Mapping[str, Any], level: Level | None = None
    ) -> dict[str, NDArray[Any]]:
        """Add noise to the values of some rows.

        Args:
            identifiers: Columns that together identify a row, each of shape (n,).
            values: True values of each released column, shape (n,).
            level: Level in the path at which noise is added; ``self.level`` if left out.

        Returns:
            For each column, the noisy values in the order of the rows: int64, Python integers if one exceeds int64, or
            floats on the grid.

        Raises:
            BadTable: if a column is missing, or has another length.
            NotANumber: if a value cannot be released; the message gives its position.
            OutOfRange: if the level is not in the path.

        Cost: at epsilon 1 about 50 ns a row and column, and 15 to 100 ns a row for its tag.
        """
        shifts = {name: self._noisy(name, self.level if level is None else level) for name in self.columns}
        shifted = self._shifted(identifiers, values, shifts, add)
        return {name: self._written(steps) for name, steps in shifted.items()}

    def moved(
        self, identifiers: Sequence[Identifiers], responses: Mapping[str, Any], at: Level, to: Level | None = None
    ) -> dict[str, NDArray[Any]]:
        """Compute the responses at the level ``to`` from those at the level ``at``, without the true values.

        Args:
            identifiers: Identifiers, as for `responses`.
            responses: Responses of each released column at the level ``at``.
            at, to: Levels of the path; ``to`` is ``self.level`` if left out.

        Raises:
            BadTable, NotANumber, OutOfRange: as for `responses`.
        """
        shifts = {name: self._response_difference(name, self.level if to is None else to, at) for name in self.columns}
        shifted = self._shifted(identifiers, responses, shifts, add)
        return {name: self._written(steps) for name, steps in shifted.items()}

    def without_noise(
        self, identifiers: Sequence[Identifiers], responses: Mapping[str, Any], at: Level
    ) -> dict[str, Integers]:
        """Subtract the noise at the level ``at`` from responses; return the true values as numbers of lattice steps.

        Args:
            identifiers, responses, at: Arguments of `moved`.

        Raises:
            BadTable, NotANumber, OutOfRange: as for `responses`.
        """
        return self._shifted(identifiers, responses, {name: self._noisy(name, at) for name in self.columns}, minus)

    def noise(self, column: str, level: Level, tags: Tags) -> Integers:
        """Return the noise of each row at a level of the path, in multiples of `Lattice.block`, shape (n,)."""
        return self._each(self._plan(column, (level,)), tags, lambda known: known[level])

    def noise_difference(self, column: str, level: Level, other: Level, tags: Tags) -> Integers:
        """Return the noise at one level minus the noise at another, in the unit of `noise`, shape (n,)."""
        return self._each(self._plan(column, (level, other)), tags, lambda known: minus(known[level], known[other]))

    def place(self, column: str, tags: Tags) -> Integers | None:
        """Return the uniform part of the noise, equal at all levels; None if the lattice has no uniform part."""
        if self.lattice.block == 1:
            return None
        cipher = self._cipher("place", column)
        drawn = [item_uniform(self.lattice.block, ItemWords(cipher, some)) for some in _chunks(tags)]
        return minus(joined(drawn, len(tags)), np.array([self.lattice.block // 2]))

    def _noisy(self, column: str, level: Level) -> Shift:
        plan = self._plan(column, (level,))

        def shift(tags: Tags) -> Integers:
            noise = self.lattice.times(self._each(plan, tags, lambda known: known[level]))
            place = self.place(column, tags)
            return noise if place is None else add(place, noise)

        return shift

    def _response_difference(self, column: str, level: Level, other: Level) -> Shift:
        """Return a function from tags to the number of steps from the response at ``other`` to that at ``level``."""
        plan = self._plan(column, (level, other))
        return lambda tags: self.lattice.times(self._each(plan, tags, lambda known: minus(known[level], known[other])))

    def _shifted(
        self,
        identifiers: Sequence[Identifiers],
        numbers: Mapping[str, Any],
        shifts: Mapping[str, Shift],
        by: Callable[[Integers, Integers], Integers],
    ) -> dict[str, Integers]:
        """Combine each number with its row's shift by the function ``by``, column by column, in chunks of rows."""
        count = check_columns(identifiers)
        read = read_columns(self.lattice, self.columns, numbers, count)
        parts: dict[str, list[Integers]] = {name: [] for name in read}
        for start in range(0, count, _AT_ONCE):
            stop = min(start + _AT_ONCE, count)
            tags = self.tags([column.part(start, stop) for column in identifiers])
            for name, steps in read.items():
                parts[name].append(by(steps[start:stop], shifts[name](tags)))
        return {name: joined(each, count) for name, each in parts.items()}

    def _each(
        self, plan: list[tuple[Step, BlockCipher]], tags: Tags, combine: Callable[[dict[Level, Integers]], Integers]
    ) -> Integers:
        """Apply ``combine`` to the noise at the levels of the steps in ``plan``, in chunks of rows."""
        parts = []
        for some in _chunks(tags):
            known: dict[Level, Integers] = {}
            for step, cipher in plan:
                known[step.to] = drawn_by_item(step, self.lattice, known, ItemWords(cipher, some))
            parts.append(combine(known))
        return joined(parts, len(tags))

    def _plan(self, column: str, levels: Sequence[Level]) -> list[tuple[Step, BlockCipher]]:
        """Return the steps to some levels, in the order of the path, each with the cipher of its random bits."""
        steps: dict[Level, Step] = {}
        texts: dict[Level, str] = {}
        for at, to in enumerate(self.path):
            steps[to] = step = Step.from_known(self.path[:at], to)
            # The name of a level includes the names of the levels from which its noise is computed.
            parts = [level_text(to), *("" if end is None else texts[end] for end in (step.lower, step.higher))]
            texts[to] = sha256(length_prefixed(parts)).hexdigest()
        wanted: set[Level] = set()
        for level in levels:
            if level not in steps:
                raise OutOfRange("each level must be an answered level of the path", came=level, where="path")
            wanted.add(level)
        for to in reversed(self.path):
            if to in wanted:
                wanted |= {needed for needed in (steps[to].lower, steps[to].higher) if needed is not None}
        return [(steps[to], self._cipher("noise", column, texts[to])) for to in self.path if to in wanted]

    def _cipher(self, what: str, column: str, *node: str) -> BlockCipher:
        return word_cipher(self.secret, (what, column, *node))

    def _written(self, steps: Integers) -> NDArray[Any]:
        written: NDArray[Any] = self.lattice.write((steps.size,), steps)
        return written

    def __repr__(self) -> str:
        return f"ItemResponder(columns={self.columns}, path={self.path}, level={self.level!r})"


def drawn_by_item(step: Step, lattice: Lattice, known: Mapping[Level, Integers], words: ItemWords) -> Integers:
    """Derive each row's noise at the level of a step, from the row's noise at the neighbouring levels."""
    distribution = step.distribution(lattice)
    if isinstance(distribution, Geometric):
        return item_geometric(distribution.level, words)
    if isinstance(distribution, Tightening):
        assert step.higher is not None
        return add(known[step.higher], item_tightening(distribution, words))
    assert step.lower is not None
    below = known[step.lower]
    if step.higher is None:
        return item_bridge(distribution, below, words)
    above = known[step.higher]
    return add(above, item_bridge(distribution, minus(below, above), words))


def _chunks(tags: Tags) -> list[Tags]:
    return [tags[start : start + _AT_ONCE] for start in range(0, len(tags), _AT_ONCE)]


def is_texts(names: object) -> bool:
    return isinstance(names, tuple) and all(isinstance(name, str) for name in names)


def read_columns(lattice: Lattice, columns: Sequence[str], values: Any, count: int) -> dict[str, Integers]:
    """Read ``count`` values of each column as numbers of steps; raise BadTable or NotANumber for an invalid one."""
    if not isinstance(values, Mapping):
        raise WrongKind("values must be a mapping from names to columns", came=type(values).__name__, where="values")
    missing = [name for name in columns if name not in values]
    if missing:
        raise BadTable("values must contain every released column", came=f"no column {missing[0]!r}")
    steps = {}
    for name in columns:
        cells = lattice.read(values[name])
        if cells.shape != (count,):
            required = "each column must have one value for each identifier"
            raise BadTable(required, came=str(cells.shape), where=repr(name))
        steps[name] = lattice.steps(cells)
    return steps

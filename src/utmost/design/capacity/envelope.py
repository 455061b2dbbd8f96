r"""Capacities of large types that the packing does not give at once: two bounds, which often meet.

The packing's dual z is one bound. Its weights w give the columns w_j E_j (w_j F_j, additive) for the secrets with
w_j > 0, whose rows miss 1 only where z = 0. There the entries are moved, as far as the rows with z > 0 allow, by a
linear program: one variable for all entries that a known symmetry joins, and the inequalities it needs. It leaves the
largest miss as small as it can. The upper envelopes of the columns are private, and scaled until a private rest fills
the rows. Where nothing is missed the bounds meet, but for rounding.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from utmost.design.capacity.certificate import CapacityCertificate
from utmost.design.capacity.checker import Kind, largest_power
from utmost.design.capacity.envelope_mechanism import EnvelopeMechanism
from utmost.design.capacity.kernel import Kernel
from utmost.design.capacity.packing import Packing
from utmost.design.capacity.symmetries import known_symmetries
from utmost.errors import PromiseBroken, SolverFailed
from utmost.exact import Floats
from utmost.privacy import PrivacyType
from utmost.programs import InfeasibleProgram, LinearProgram, solve

_MOST_ENTRIES = 2_500
_MOST_WORK = 1e9
_ROUNDS = 25
# Above the rounding of a product of floats; what is below it is mended in rationals before anything is certified.
_BROKEN = 1e-13


def by_envelope(ptype: PrivacyType, kind: Kind, kernel: Kernel, found: Packing) -> CapacityCertificate | None:
    """The certificate of the moved columns; None where there are too many of them, or floats fail."""
    try:
        heights = _Moving.of(ptype, kind, kernel, found).heights()
        return CapacityCertificate(ptype, kind, scaled(ptype, heights), found.dual)
    except (PromiseBroken, SolverFailed, InfeasibleProgram):
        return None


def scaled(ptype: PrivacyType, heights: Floats) -> EnvelopeMechanism:
    """The envelopes of columns that nearly sum to 1, scaled by theta = (1 - A) / (H - A L) as in `sandwich`."""
    facts = EnvelopeMechanism(ptype, heights).facts()
    least, most = facts.least, facts.most
    near = largest_power(ptype)
    spare = (most - least) / 2**20 + Fraction(heights.shape[1] + 16, 1 << 50)
    theta = float((1 - near) / (most + spare - near * (least - spare)))
    return EnvelopeMechanism(ptype, heights * theta)


@dataclass(frozen=True, slots=True, eq=False)
class _Moving:
    """What can be moved: entries (x, c) for secrets x with z_x = 0 and columns c with w > 0, joined by symmetries.

    Attributes:
        kernel: of the type. free, columns: the secrets. low, high: (f, k) the bounds that the other rows set.
        start: (n, k) the columns as they are.
        entry: (f, k) which variable each entry is.
    """

    kernel: Kernel
    free: NDArray[np.intp]
    columns: NDArray[np.intp]
    low: Floats
    high: Floats
    start: Floats
    entry: NDArray[np.intp]

    @classmethod
    def of(cls, ptype: PrivacyType, kind: Kind, kernel: Kernel, found: Packing) -> "_Moving":
        weights = found.weights.astype(np.float64)
        columns = np.flatnonzero(weights > 0)
        known, free = np.flatnonzero(found.dual > 0), np.flatnonzero(found.dual == 0)
        if len(free) == 0 or len(free) * len(known) * len(columns) > _MOST_WORK:
            raise SolverFailed("so many columns cannot be moved", came=len(columns))
        powers, is_raised = kernel.floats[kernel.kinds[:, columns]], kind == "multiplicative"
        start = powers * weights[columns] if is_raised else weights[columns] / powers
        bound = np.empty((len(free), len(columns)))
        for i, x in enumerate(free.tolist()):
            near = kernel.floats[kernel.kinds[known, x]][:, None]
            bound[i] = (start[known] / near).min(axis=0) if is_raised else (start[known] * near).max(axis=0)
        group = known_symmetries(ptype.space)
        codes = (group[:, free][:, :, None] * kernel.size + group[:, columns][:, None, :]).min(axis=0)
        _, entry = np.unique(codes, return_inverse=True)
        entry = entry.reshape(codes.shape)
        if entry.max() >= _MOST_ENTRIES:
            raise SolverFailed("so many entries cannot be moved", came=int(entry.max()) + 1)
        low, high = (start[free], bound) if is_raised else (bound, start[free])
        return cls(kernel, free, columns, low, np.maximum(low, high), start, entry)

    def heights(self) -> Floats:
        """The columns, moved until the largest miss is least. Inequalities are taken up when they are broken."""
        rows = np.zeros((0, 3), dtype=np.int64)
        powers = self.kernel.floats[self.kernel.kinds[np.ix_(self.free, self.free)]]
        values = self.low
        for _ in range(_ROUNDS):
            values = self._solved(rows, powers)
            broken = self._broken(values, powers)
            if len(broken) == 0:
                break
            rows = np.unique(np.concatenate([rows, broken]), axis=0)
        moved = self.start.copy()
        moved[self.free] = values
        return np.clip(moved, 0.0, 1.0)

    def _broken(self, values: Floats, powers: Floats) -> NDArray[np.int64]:
        """For each entry the inequality that it breaks most: (variable of x, variable of y, x, y) with x below y."""
        found = []
        for c in range(values.shape[1]):
            reach = powers * values[:, c]
            y = reach.argmax(axis=1)
            x = np.flatnonzero(reach[np.arange(len(y)), y] > values[:, c] * (1 + _BROKEN) + _BROKEN * 1e-3)
            found.append(np.column_stack([self.entry[x, c], self.entry[y[x], c], x * len(y) + y[x]]))
        return np.unique(np.concatenate(found), axis=0)

    def _solved(self, rows: NDArray[np.int64], powers: Floats) -> Floats:
        """min sigma subject to |row sums - 1| <= sigma and the inequalities so far, low <= m <= high."""
        f = len(self.free)
        count, p = int(self.entry.max()) + 1, len(rows)
        _, leaders = np.unique(self.entry.min(axis=1), return_index=True)
        sums = [np.unique(self.entry[i], return_counts=True) for i in leaders]
        row = np.concatenate([np.full(len(e), i) for i, (e, _) in enumerate(sums)])
        entries, often = (np.concatenate(parts) for parts in zip(*sums, strict=True))
        s = len(leaders)
        at = np.arange(p) + 2 * s
        x, y = np.divmod(rows[:, 2], f)
        different = rows[:, 0] != rows[:, 1]
        program = LinearProgram.of_triplets(
            np.append(np.zeros(count), 1.0),
            np.concatenate([row, np.arange(s), row + s, np.arange(s) + s, at, at[different]]),
            np.concatenate([entries, np.full(s, count), entries, np.full(s, count), rows[:, 0], rows[different, 1]]),
            np.concatenate([often, -np.ones(s), often, np.ones(s), np.ones(p), -powers[x, y][different]]),
            np.concatenate([np.full(s, -np.inf), np.ones(s), np.zeros(p)]),
            np.concatenate([np.ones(s), np.full(s, np.inf), np.full(p, np.inf)]),
            np.append(self._each(self.low, np.max), 0.0),
            np.append(np.maximum(self._each(self.high, np.min), self._each(self.low, np.max)), 1.0),
        )
        return np.asarray(solve(program).primal[:-1][self.entry])

    def _each(self, values: Floats, choose: object) -> Floats:
        """One value for each variable, of those that are equal but for rounding."""
        order = np.argsort(self.entry.ravel(), kind="stable")
        starts = np.searchsorted(self.entry.ravel()[order], np.arange(int(self.entry.max()) + 1))
        reduce = np.maximum if choose is np.max else np.minimum
        return np.asarray(reduce.reduceat(values.ravel()[order], starts))

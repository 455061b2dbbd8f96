"""One random vector as noise for all one-way tables of the same individuals, and for their total.

One individual is in one cell of each table. In every table, the errors add up to the same total. The raised part of a
table is the sum of its positive errors, the lowered part the sum of the absolute values of its negative errors. A table
needs as many individuals as the sum of both parts, or as the larger part if a record is replaced. The exponent d is the
number of individuals of the table that needs most. In shell (j, l), j individuals are added and l removed. Within a
shell the tables are independent, each uniform on the integer points whose sum is j - l and whose raised part is at most
j. The number of points of d cells is

    N_d(j, l) = sum over k < d of C(d-1, k) C(j, k) C(l+d-1-k, d-1-k).
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, pairwise
from math import comb, prod
from typing import Any

from utmost.core.exact.arguments import one_of, sequence, truth
from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.levels import Level, level_argument
from utmost.core.exact.numbers import Number, first_integer, natural, read_confidence
from utmost.core.exact.scalars import Q
from utmost.core.noise.cells_draw import Relation
from utmost.core.noise.distribution import distribution_level, positive_integer
from utmost.core.noise.one_draw import DrawDistribution, DrawGroup
from utmost.core.noise.shell_series import ShellSeries, falling, is_at_most, number_at
from utmost.errors import OutOfRange

MOST_GROUPS = 200
"""The most groups of all tables in one draw; with so many, the closed forms take seconds."""


@dataclass(frozen=True, slots=True, init=False, repr=False)
class TablesDraw(DrawDistribution):
    r"""P(X = x) proportional to q^d(x) if all tables have the same total, else 0; x lists the tables one after another.

    Args:
        epsilon, alpha: Level of all tables together, as epsilon or as alpha = exp(-epsilon).
        sizes: Number of cells of each table.
        neighbours: "add-remove", or "change-one" if a record is replaced.
        exactly: Whether everybody is counted, so that the total is public and has no noise. This needs "change-one".

    Raises:
        NotALevel: unless exactly one of epsilon and alpha is passed.
        OutOfRange: if there is no table, or if the total is public under "add-remove".

    Promise: epsilon-DP for tables of counts if one individual changes one cell of each table by 1, and for no smaller
        epsilon. The noise cannot be relaxed.
    Cost: closed forms of D^2 terms, where D is the sum of size - 1 over the tables: milliseconds for 20 tables of 2
        cells, seconds for D = 100.
    Source: the K-norm mechanism [hardt2010], [awan2021]; its form on the integers is proved in
        proofs/theory/one-draw.md. No better noise is known; optimality is not claimed.

    >>> noise = TablesDraw(1, [5], "change-one")  # one table of five cells; a record is replaced
    >>> noise.variance, noise.total_variance, noise.margin("0.95"), noise.total_margin("0.95")
    (5.066..., 5.066..., 5, 5)
    >>> TablesDraw(1, [5] * 10).variance
    75.328...
    """

    level: Level
    sizes: tuple[int, ...]
    neighbours: Relation
    exactly: bool

    def __init__(
        self,
        epsilon: Number | Level | None = None,
        sizes: Sequence[Number] = (),
        neighbours: str = "add-remove",
        exactly: bool = False,
        *,
        alpha: Number | None = None,
    ) -> None:
        name = "TablesDraw"
        listed = tuple(positive_integer(size, "size", name) for size in sequence(sizes, "sizes"))
        relation, is_public = one_of(neighbours, Relation, "neighbours"), truth(exactly, "exactly")
        if not listed:
            raise OutOfRange(
                "sizes must name at least one table", came="none", remedy="Pass, for example, sizes=[2, 3]."
            )
        if is_public and relation != "change-one":
            raise OutOfRange(
                "exactly=True, a public total, needs neighbours='change-one'",
                came=relation,
                remedy="Pass neighbours='change-one', or leave out exactly=.",
            )
        for field, value in (
            ("level", distribution_level(epsilon, alpha, name)),
            ("sizes", listed),
            ("neighbours", relation),
            ("exactly", is_public),
        ):
            object.__setattr__(self, field, value)

    def __repr__(self) -> str:
        relation = "" if not self.is_joined else f", neighbours={self.neighbours!r}{', exactly=True' * self.exactly}"
        return f"TablesDraw({level_argument(self.level)}, sizes={self.sizes}{relation})"

    @property
    def size(self) -> int:
        """The number of cells of all tables."""
        return sum(self.sizes)

    @property
    def reach(self) -> int:
        """The largest change of the total by one individual: 1, or 0 for a public total."""
        return int(not self.exactly)

    @property
    def ratio(self) -> Level:
        """The level whose alpha is the q of P(X = x): `level`."""
        return self.level

    @property
    def is_joined(self) -> bool:
        """Whether neighbouring datasets differ by one replaced record ("change-one")."""
        return self.neighbours == "change-one"

    @property
    def is_one_table(self) -> bool:
        """Whether records are replaced in a single table, so that the noise of the parts is geometric noise under the
        condition that the parts add up to 0.
        """
        return len(self.sizes) == 1 and self.is_joined

    @property
    def parts(self) -> int:
        """For a single table, the number of parts that add up to 0: the cells, and one part for people who are not
        counted.
        """
        return self.sizes[0] + (not self.exactly)

    def mixture_factor(self, q: Q) -> Q:
        """The sum of q^d(x) over all x, divided by the sum of the masses of all shells."""
        if self.is_one_table:
            return (1 - q) ** self.parts
        return 1 - q if self.is_joined else 1 - q * q

    @property
    def kinds(self) -> dict[int, int]:
        """For each size of table, the position of one cell and the number of cells in tables of that size."""
        starts = dict(zip(reversed(self.sizes), reversed([0, *accumulate(self.sizes)][:-1]), strict=True))
        return {starts[size]: size * times for size, times in Counter(self.sizes).items()}

    def split(self, x: Sequence[Any]) -> list[Sequence[Any]]:
        """Split x into the cells of each table."""
        ends = list(accumulate(self.sizes))
        return [x[end - size : end] for size, end in zip(self.sizes, ends, strict=True)]

    def distance(self, x: Sequence[int]) -> int | None:
        """The number of individuals d(x), or None if the totals of the tables differ."""
        tables = self.split(x)
        totals = {sum(table) for table in tables}
        if len(totals) > 1 or (self.exactly and totals != {0}):
            return None
        parts = [(sum(max(n, 0) for n in table), sum(max(-n, 0) for n in table)) for table in tables]
        needed: list[int] = [max(part) if self.is_joined else sum(part) for part in parts]
        return max(needed)

    @property
    def groups(self) -> tuple[DrawGroup, ...]:
        """The single part of the mixture, which contains all shells."""
        return (DrawGroup(1, (_shells(self._tables),)),)

    def shell_points(self, j: int, l: int) -> int:
        """The number of points of shell (j, l), a polynomial of degree at most `degree` on each segment of shells."""
        return self._tables.product(j, l)

    @property
    def degree(self) -> int:
        """The degree of the number of points, as a polynomial in the number of individuals."""
        return self._tables.degree

    @property
    def _tables(self) -> "_Tables":
        return _Tables(tuple(sorted(Counter(self.sizes).items())), self.is_joined, self.exactly)

    @property
    def total_variance(self) -> Fraction | float:
        """The variance of the total."""
        return number_at(self.ratio, lambda q: self._variances(q)[0])

    def variance_at(self, q: Q, coefficients: Sequence[Fraction]) -> Q:
        """The variance of the sum of coefficients times cells, computed from the variances of the cells and of the
        total.
        """
        total, cells = self._variances(q)
        variance, means = 0 * q, Fraction(0)
        for size, numbers in zip(self.sizes, self.split(coefficients), strict=True):
            mean = sum(numbers, Fraction(0)) / size
            deviations = sum(((number - mean) ** 2 for number in numbers), Fraction(0))
            means += mean
            if deviations:
                covariance = (total - size * cells[size]) / (size * (size - 1))
                variance = variance + (cells[size] - covariance) * deviations.numerator / deviations.denominator
        return variance + total * (means * means).numerator / (means * means).denominator

    def _variances(self, q: Q) -> tuple[Q, dict[int, Q]]:
        """Return the variance of the total, and the variance of a cell by the size of its table."""
        total, cells = _moments(self._tables)
        mass = sum(self.masses_at(q), 0 * q)
        return total.at(q) / mass, {size: square.at(q) / mass for size, square in cells.items()}

    def tail_at(self, q: Q, cell: int, t: int) -> Q:
        """P(|X_cell| > t)."""
        ends = list(accumulate(self.sizes))
        size = self.sizes[next(place for place, end in enumerate(ends) if cell < end)]
        series = _cell_tail(self._tables, size, t)
        scale = (1 - q) ** (1 - self.parts) if self.is_one_table else 1
        return 2 * series.at(q) * scale / sum(self.masses_at(q), 0 * q)

    def total_margin(self, confidence: Number = DEFAULT_CONFIDENCE) -> int:
        """The least t with a certificate that P(|total| <= t) >= confidence."""
        miss = 1 - read_confidence(confidence)
        if self.exactly:
            return 0

        def covers(t: int) -> bool:
            return is_at_most(self.ratio, lambda q: self._total_tail_at(q, t), miss)

        above = 1
        while not covers(above):
            above *= 2
        return first_integer(-1, above, covers)

    def total_tail(self, t: int) -> Fraction | float:
        """P(|total| > t), for t >= 0."""
        beyond = natural(t, "t")
        return Fraction(0) if self.exactly else number_at(self.ratio, lambda q: self._total_tail_at(q, beyond))

    def _total_tail_at(self, q: Q, t: int) -> Q:
        if self.is_one_table:  # people who are not counted form one more part
            return self.tail_at(q, 0, t)
        mass, rows = sum(self.masses_at(q), 0 * q), _total_tail(self._tables, t)
        if self.is_joined:
            return 2 * rows[0].at(q) / mass
        inner = [series.at(q) for series in rows]
        outer = 0 * q
        for value in reversed(inner):  # Horner's rule in q^2
            outer = outer * q * q + value
        return 2 * outer / (1 - q * q) ** len(inner) / mass


@lru_cache(maxsize=1 << 16)
def points(d: int, j: int, l: int) -> int:
    """N_d(j, l), the number of integer points of d cells with sum j - l and raised part at most j."""
    if j < 0 or l < 0:
        return 0
    return sum(comb(d - 1, k) * comb(j, k) * comb(l + d - 1 - k, d - 1 - k) for k in range(min(d - 1, j) + 1))


@lru_cache(maxsize=1 << 16)
def points_beyond(d: int, more: int, l: int) -> int:
    """The number of points of d cells in shell (j, l) whose first cell is above j - more."""
    if more <= 0:
        return 0
    if d == 1:
        return int(l < more)
    return sum(comb(d - 2, k) * comb(l + d - 2 - k, d - 2 - k) * falling(more, k + 1) for k in range(d - 1))


@dataclass(frozen=True, slots=True)
class _Tables:
    """Pairs (size, number of tables of that size), and the neighbouring relation. The closed forms depend only on
    these.
    """

    sizes: tuple[tuple[int, int], ...]
    is_joined: bool
    exactly: bool

    @property
    def degree(self) -> int:
        """The degree of the number of points of a shell."""
        return sum((size - 1) * times for size, times in self.sizes) + (not self.exactly)

    @property
    def one_table(self) -> int | None:
        """The number of parts that add up to 0, for one table in which records are replaced; else None."""
        (size, times), several = self.sizes[0], len(self.sizes) > 1
        return size + (not self.exactly) if times == 1 and not several and self.is_joined else None

    def product(self, j: int, l: int, without: int | None = None) -> int:
        """The number of points of all tables in shell (j, l), without one table of size ``without``."""
        return prod(points(size, j, l) ** (times - (size == without)) for size, times in self.sizes)

    def over_shell(self, m: int, weighed: Callable[[int, int], int], degree: int) -> int:
        """The sum over the pairs (j, l) of shell m of a function that is symmetric in j and l."""
        if self.exactly:
            return weighed(m, m)
        if self.is_joined:
            return 2 * segment_sum(lambda s: weighed(m, s), m, degree) - weighed(m, m)
        return segment_sum(lambda j: weighed(j, m - j), m, degree)


def segment_sum(values: Callable[[int], int], last: int, degree: int) -> int:
    """The sum over 0..last of a polynomial of at most this degree. The sum uses forward differences if these give fewer
    terms.
    """
    if last <= degree:
        return sum(values(s) for s in range(last + 1))
    return sum(difference * comb(last + 1, k + 1) for k, difference in enumerate(differences(values, degree)))


def differences(values: Callable[[int], int], degree: int) -> list[int]:
    """The forward differences at 0 of a polynomial, of orders 0 to ``degree``."""
    row, found = [values(s) for s in range(degree + 1)], []
    while row:
        found.append(row[0])
        row = [after - before for before, after in pairwise(row)]
    return found


@lru_cache(maxsize=64)
def _shells(tables: _Tables) -> ShellSeries:
    if (parts := tables.one_table) is not None:
        return ShellSeries((*(comb(parts - 1, k) ** 2 for k in range(parts)), *[0] * (parts - 1)))
    return _series(tables, lambda j, l: tables.product(j, l), 0)


def _series(tables: _Tables, weighed: Callable[[int, int], int], more: int) -> ShellSeries:
    degree = tables.degree + more
    return ShellSeries.of([tables.over_shell(m, weighed, degree) for m in range(degree + 1)])


@lru_cache(maxsize=64)
def _moments(tables: _Tables) -> tuple[ShellSeries, dict[int, ShellSeries]]:
    """Return the series over the shells for the squared total, and for a squared cell by the size of its table."""
    if (parts := tables.one_table) is not None:
        rest, degree = parts - 1, 2 * parts
        values = [comb(m + rest, rest) ** 2 * 2 * rest * m * (m + parts) for m in range(degree + 1)]
        below = parts * parts * (parts + 1)
        square = ShellSeries.of([value // below for value in values])
        return (ShellSeries.of([0]) if tables.exactly else square), {tables.sizes[0][0]: square}

    def squared(size: int) -> Callable[[int, int], int]:
        return lambda j, l: _squares(size, j, l) * tables.product(j, l, size)

    total = _series(tables, lambda j, l: (j - l) ** 2 * tables.product(j, l), 2)
    return total, {size: _series(tables, squared(size), 2) for size, _ in tables.sizes}


@lru_cache(maxsize=1 << 16)
def _squares(d: int, j: int, l: int) -> int:
    """The sum of the square of the first cell over the points of shell (j, l)."""
    if d == 1:
        return (j - l) ** 2

    def raised(up: int, down: int) -> int:
        return sum(
            comb(d - 2, k) * comb(down + d - 2 - k, d - 2 - k) * (2 * comb(up + 2, k + 3) - comb(up + 1, k + 2))
            for k in range(d - 1)
        )

    return raised(j, l) + raised(l, j)


@lru_cache(maxsize=1 << 10)
def _cell_tail(tables: _Tables, size: int, t: int) -> ShellSeries:
    """The series over the shells of the number of points with X_1 > t, where cell 1 is in a table of this size."""
    if (parts := tables.one_table) is not None:
        # If all parts add up to 0, the shells are balls of the raised part: polynomials of degree parts - 1.
        return ShellSeries.of([points_beyond(parts, m - t, m) for m in range(t + 1, t + 1 + parts)], t + 1)
    first, degree = t + 1, tables.degree + 1

    def weighed(j: int, l: int) -> int:
        return points_beyond(size, j - t, l) * tables.product(j, l, size)

    def over(m: int) -> int:
        if tables.exactly:
            return weighed(m, m)
        if tables.is_joined:  # shell m: j = m with l = 0..m, and l = m with j = t + 1..m - 1
            up = segment_sum(lambda l: weighed(m, l), m, degree)
            return up + (segment_sum(lambda s: weighed(first + s, m), m - first - 1, degree) if m > first else 0)
        return segment_sum(lambda s: weighed(first + s, m - first - s), m - first, degree)

    return ShellSeries.of([over(first + m) for m in range(degree + 1)], first)


@lru_cache(maxsize=1 << 10)
def _total_tail(tables: _Tables, t: int) -> list[ShellSeries]:
    """Return series over e = j - l - t - 1, one for each l, of the number of points with a total j - l above t; only
    one series, over l + e, if a record is replaced.
    """
    first, degree = t + 1, tables.degree
    if tables.is_joined:
        values = [
            sum(tables.product(first + m, l) for l in range(m + 1))  # here l = 0..m and e = m - l
            for m in range(degree + 1)
        ]
        return [ShellSeries.of(values, first)]
    rows = [[tables.product(l + first + e, l) for e in range(degree + 1)] for l in range(degree + 1)]
    for _ in rows:  # multiplied by (1 - z^2) in l, once for each row
        above = [[0] * (degree + 1), *rows]
        rows = [[b - a for a, b in zip(x, y, strict=True)] for x, y in zip(above, rows, strict=False)]
    return [ShellSeries.of(row, first) for row in rows]

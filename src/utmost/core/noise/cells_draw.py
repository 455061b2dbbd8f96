"""How one random vector adds noise to all n cells, if one individual changes at most k cells by at most s each.

A second bound may limit the sum of these changes over all cells.

Let r be the first step: all points with every |x_i| < r are equally likely. The excess max(|x_i| - r + 1, 0) of a cell
is divided into chunks of s units, the last of which may be incomplete. Let y be the vector of the numbers of chunks:
y_i = ceil(max(|x_i| - r + 1, 0) / s). The function

    g(y) = max(largest y_i, ceil((sum of all y_i) / k))

grows by at most 1 when one individual raises cells. With a bound on the sum, a chunk is a single unit, and g(y) is the
larger of two quotients, both rounded up: the largest y_i divided by s, and the sum of all y_i divided by the bound.

For x+ = max(x, 0) and x- = max(-x, 0), the raised and the lowered cells of a point x,

    d = g(x+) + g(x-)      if individuals are added or removed, and lower no cell,
    d = max(g(x+), g(x-))  if a record that lowers no cell is replaced,
    d = g(|x|)             if an individual may lower cells, too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import comb, factorial, prod
from operator import mul
from typing import Any, Literal

from utmost.core.exact.arguments import one_of, truth
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number
from utmost.core.exact.progress_bar import progress_bar, report_progress
from utmost.core.exact.scalars import Q
from utmost.core.noise.distribution import distribution_level, distribution_text, positive_integer
from utmost.core.noise.norm_staircase import CellCost
from utmost.core.noise.one_draw import DrawDistribution, DrawGroup
from utmost.core.noise.shell_series import ShellSeries, falling, number_at
from utmost.errors import OutOfRange

Relation = Literal["add-remove", "change-one"]

_ALL_STEPS, _SPREAD = 32, 17
"""`with_best_step` compares all first steps if there are at most 32, and otherwise grids of 17 steps."""

_LONGEST_COLUMN = 1 << 14  # longer columns of Pascal's triangle are not stored

_HALF, _SIXTH = Fraction(1, 2), Fraction(1, 6)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class CellsDraw(DrawDistribution):
    r"""P(X = x) proportional to q^d(x), where d(x) is the least number of individuals that turn a point with all
    \|x_i\| < step into x.

    Args:
        epsilon, alpha: Level of all cells together, as epsilon or as alpha = exp(-epsilon).
        cells: Number n of cells.
        changed: Number k of cells that one individual changes, at most n.
        sensitivity: Largest change s of a cell by one individual, an integer >= 1.
        in_total: Largest sum of the changes of all cells by one individual, an integer from s to ks, or None for ks.
        neighbours: "add-remove", or "change-one" if a record is replaced.
        nonnegative: Whether an individual's presence lowers no cell; False for changes of any sign.
        step: First step r, from 1 to s: all \|x_i\| < r are equally likely.

    Raises:
        NotALevel: unless exactly one of epsilon and alpha is passed.
        OutOfRange: if a number is outside its range.

    Promise: epsilon-DP for n integers with these bounds on one individual, and for no smaller epsilon. The noise cannot
        be relaxed.
    Cost: closed forms of n^2 terms if one individual may change all cells (seconds for 100 cells), else of n^3 or n^4
        (0.1 s for 10 cells, seconds for 50, minutes beyond 100).
    Source: the K-norm mechanism [hardt2010], [awan2021]; its form on the integers, with a first step, is proved in
        proofs/theory/one-draw.md. No better noise is known; optimality is not claimed.

    >>> distribution = CellsDraw(alpha="1/2", cells=2, changed=2)
    >>> distribution.pmf([0, 0]), distribution.pmf([1, 1]), distribution.pmf([1, -1]), distribution.margin("0.95")
    (Fraction(1, 13), Fraction(1, 26), Fraction(1, 52), 5)
    >>> CellsDraw(1, cells=10, changed=5).variance, CellsDraw(1, 2, 2, sensitivity=2, step=2).variance / 4
    (20.88..., 3.17...)
    """

    level: Level
    cells: int
    changed: int
    sensitivity: int
    in_total: int | None
    neighbours: Relation
    nonnegative: bool
    step: int

    def __init__(
        self,
        epsilon: Number | Level | None = None,
        cells: Number = 1,
        changed: Number = 1,
        sensitivity: Number = 1,
        *,
        in_total: Number | None = None,
        neighbours: str = "add-remove",
        nonnegative: bool = True,
        step: Number = 1,
        alpha: Number | None = None,
    ) -> None:
        name = "CellsDraw"
        n, k = positive_integer(cells, "cells", name), positive_integer(changed, "changed", name)
        s = positive_integer(sensitivity, "sensitivity", name)
        most = None if in_total is None else positive_integer(in_total, "in_total", name)
        first = positive_integer(step, "step", name)
        if k > n:
            raise OutOfRange(f"changed= must be at most {n}, the number of cells", came=k, remedy=f"Pass changed={n}.")
        if most is not None and most < s:
            raise OutOfRange(
                "in_total must be at least the sensitivity",
                came=most,
                remedy="Leave out in_total=, or pass a larger in_total=.",
            )
        if first > s:
            raise OutOfRange("step must be at most the sensitivity", came=step, where=name, remedy="Leave out step=.")
        fields = {
            "level": distribution_level(epsilon, alpha, name),
            "cells": n,
            "changed": k,
            "sensitivity": s,
            "in_total": None if most is None or most >= k * s else most,
            "neighbours": one_of(neighbours, Relation, "neighbours"),
            "nonnegative": truth(nonnegative, "nonnegative"),
            "step": first,
        }
        for field, value in fields.items():
            object.__setattr__(self, field, value)

    def with_step(self, step: int) -> "CellsDraw":
        """Return the distribution with the same level, cells and bounds, and with the first step ``step``."""
        numbers = (self.level, self.cells, self.changed, self.sensitivity)
        relation, signs = self.neighbours, self.nonnegative
        return CellsDraw(*numbers, in_total=self.in_total, neighbours=relation, nonnegative=signs, step=step)

    def with_best_step(self, cost: CellCost = "squared") -> "CellsDraw":
        """Return this distribution with the first step of least expected cost. Costs are compared in floats.

        All steps are compared if the sensitivity is at most 32. At a larger sensitivity, the search compares the steps
        of a grid, then those of finer grids around the best step.

        >>> CellsDraw(1, 2, 2, 5).with_best_step().step, CellsDraw(1, 2, 2, 10**6).with_best_step().step
        (4, 754858)
        """
        is_squared = one_of(cost, CellCost, "cost") == "squared"
        costs: dict[int, float] = {}
        low, high = 1, self.sensitivity
        while True:
            count = high - low + 1
            spread = [low + (count - 1) * at // (_SPREAD - 1) for at in range(_SPREAD)]
            steps = list(range(low, high + 1)) if count <= _ALL_STEPS else spread
            for step in steps:
                if step not in costs:
                    distribution = self.with_step(step)
                    costs[step] = float(distribution.variance if is_squared else distribution.mean_size)
            best = min(steps, key=costs.__getitem__)
            if count <= _ALL_STEPS:
                return self.with_step(best)
            place = steps.index(best)
            low, high = steps[max(0, place - 1)], steps[min(_SPREAD - 1, place + 1)]

    def __repr__(self) -> str:
        more: dict[str, Any] = {} if self.in_total is None else {"in_total": self.in_total}
        more |= {} if self.neighbours == "add-remove" else {"neighbours": self.neighbours}
        more |= {} if self.nonnegative else {"nonnegative": False}
        more |= {} if self.step == 1 else {"step": self.step}
        return distribution_text(self, cells=self.cells, changed=self.changed, **more)

    @property
    def size(self) -> int:
        """The number of cells."""
        return self.cells

    @property
    def reach(self) -> int:
        """The largest sum of one individual's changes, doubled if a record that may lower cells is replaced."""
        presence = self.changed * self.sensitivity if self.in_total is None else self.in_total
        return presence * (2 if self._lowers_and_raises else 1)

    @property
    def _lowers_and_raises(self) -> bool:
        return self.neighbours == "change-one" and not self.nonnegative

    @property
    def ratio(self) -> Level:
        """The level whose alpha is q: `level`, or the level of half its epsilon if a record that may lower cells is
        replaced.
        """
        return self.level.scaled(_HALF) if self._lowers_and_raises else self.level

    @property
    def chunk(self) -> int:
        """The number of units of a cell's value that make one chunk."""
        return self.sensitivity if self.in_total is None else 1

    @property
    def width(self) -> int:
        """The largest number of chunks by which one individual changes a cell."""
        return 1 if self.in_total is None else self.sensitivity

    @property
    def bound(self) -> int:
        """The largest number of chunks by which one individual changes all cells together."""
        return self.changed if self.in_total is None else self.in_total

    @property
    def is_joined(self) -> bool:
        """Whether d(x) = max(g(x+), g(x-)), which is so if a record that lowers no cell is replaced."""
        return self.nonnegative and self.neighbours == "change-one"

    def mixture_factor(self, q: Q) -> Q:
        """(1 - q)^2 if the numbers of added and of removed individuals are drawn separately, else 1 - q."""
        return (1 - q) ** (2 if self.nonnegative and not self.is_joined else 1)

    @property
    def kinds(self) -> dict[int, int]:
        """Map the position of one cell to the number of cells whose noise has the same distribution, for each
        distribution. Here all cells have one distribution, so the result is {0: number of cells}.
        """
        return {0: self.cells}

    def distance(self, x: Sequence[int]) -> int:
        r"""d(x): the least number of individuals that turn some point with all \|x_i\| < step into x."""
        beyond = [-(-max(abs(number) - self.step + 1, 0) // self.chunk) for number in x]
        if not self.nonnegative:
            return self._individuals(beyond)
        parts = [[n if sign * number > 0 else 0 for n, number in zip(beyond, x, strict=True)] for sign in (1, -1)]
        raised, lowered = map(self._individuals, parts)
        return max(raised, lowered) if self.is_joined else raised + lowered

    @property
    def groups(self) -> tuple[DrawGroup, ...]:
        """The parts of the mixture, one for each pair of a number of raised cells and a number of lowered cells."""
        return _groups(self._body, self.nonnegative, self.is_joined, self.step)

    @property
    def _body(self) -> "_Body":
        return _Body(self.cells, self.chunk, self.width, min(self.bound, self.cells * self.width))

    def variance_at(self, q: Q, coefficients: Sequence[Fraction]) -> Q:
        """The variance of the sum of c_i X_i: (variance - covariance) sum of c_i^2 + covariance (sum of c_i)^2."""
        squares, total = sum((c * c for c in coefficients), Fraction(0)), sum(coefficients, Fraction(0))
        cells, together, _ = self._moments(q)
        cell = cells / self.cells
        if self.cells == 1 or not self.nonnegative:
            return cell * _number(q, squares)
        covariance = (together - cells) / (self.cells * (self.cells - 1))
        return (cell - covariance) * _number(q, squares) + covariance * _number(q, total * total)

    @property
    def mean_size(self) -> Fraction | float:
        r"""E\|X_1\|, for one cell."""
        return number_at(self.ratio, lambda q: self._moments(q)[2] / self.cells)

    @progress_bar("Computing the error of one draw")
    def _moments(self, q: Q) -> tuple[Q, Q, Q]:
        """Return E sum X_i^2, E (sum X_i)^2 and E sum |X_i|."""
        n, r, body = self.cells, self.step, self._body
        centre, middle = _number(q, Fraction(r * (r - 1), 3)), _number(q, Fraction(r * (r - 1), 2 * r - 1))
        masses = self.masses_at(q)
        mass = sum(masses, 0 * q)
        if self.is_joined:
            at_centre, squares, together, sizes = (moment.at(q) / mass for moment in _joined_moments(body, r))
            return squares + centre * at_centre, together + centre * at_centre, sizes + middle * at_centre
        moments = []
        for a in range(n + 1):
            report_progress(a * a, n * n, "moments")  # the time grows with a
            moments.append(body.moments(a, r, q))
        found = [0 * q] * 3
        for group, part in zip(self.groups, masses, strict=True):
            a, b = group.raised, group.lowered
            (up, up_square, up_pair), (down, down_square, down_pair) = moments[a], moments[b]
            squares = a * up_square + b * down_square + (n - a - b) * centre
            products = a * (a - 1) * up_pair + b * (b - 1) * down_pair - 2 * a * b * up * down
            sizes = a * up + b * down + (n - a - b) * middle
            values = squares, squares + products, sizes
            found = [total + part * value for total, value in zip(found, values, strict=True)]
        cells, together, sizes = (total / mass for total in found)
        return cells, together, sizes

    def tail_at(self, q: Q, cell: int, t: int) -> Q:
        """P(|X_cell| > t), which is the same for every cell."""
        masses, n, r = self.masses_at(q), self.cells, self.step
        mass = sum(masses, 0 * q)
        if t < r - 1:
            parts = zip(self.groups, masses, strict=True)
            moved = sum((part * (group.raised + group.lowered) for group, part in parts), 0 * q) / (mass * n)
            return 1 - (1 - moved) * _number(q, Fraction(2 * t + 1, 2 * r - 1))
        whole, part = divmod(t - r + 1, self.chunk)
        body, total = self._body, 0 * q
        lowered = [body.series(b).at(q) for b in range(n + 1)] if self.nonnegative else [1] * (n + 1)
        weights = [0 * q] * (n + 1)
        for group in self.groups:
            weights[group.raised] = weights[group.raised] + group.weight * lowered[group.lowered]
        for a in range(1, n + 1):
            others = _Others(body, a, r) if self.is_joined else None
            beyond = (self.chunk - part) * body.beyond(a, whole + 1, q, others)
            if part:
                beyond = beyond + part * body.beyond(a, whole + 2, q, others)
            total = total + a * beyond * (1 if self.is_joined else weights[a])
        sides = 2 if self.nonnegative else 1
        return total * sides / (mass * n * self.chunk)

    def _individuals(self, chunks: Sequence[int]) -> int:
        return max(-(-max(chunks) // self.width), -(-sum(chunks) // self.bound))


def _number(q: Q, number: Fraction) -> Q:
    """Convert a rational to the kind of numbers of q."""
    return (0 * q + number.numerator) / number.denominator


@dataclass(frozen=True, slots=True)
class _Body:
    """Counts the vectors of shell j: ``a`` numbers of chunks from 1 to j * width, whose sum is at most j * bound."""

    cells: int  # number n of cells
    chunk: int  # number of units of a cell in one chunk
    width: int  # largest number of chunks of one cell in shell 1
    bound: int  # largest number of chunks of all cells in shell 1

    def count(self, a: int, j: int) -> int:
        """The number of vectors for ``a`` cells in shell j, a polynomial of degree a in j."""
        return chunk_points(a, j * self.width, j * self.bound, ())

    def series(self, a: int) -> ShellSeries:
        """Return `count(a, j)` as a series over the shells j."""
        return _body_series(self, a, ())

    def values(self, step: int) -> tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction, Fraction]]:
        """The means of x and of x^2 for a raised cell with value x in chunk k, as coefficients of 1, C(k, 1) and C(k,
        2).
        """
        c, low = Fraction(self.chunk), Fraction(step - 1 - self.chunk)
        mean = low + (c + 1) * _HALF
        square = low * low + low * (c + 1) + (c + 1) * (2 * c + 1) * _SIXTH
        return (mean, c), (square, 2 * c * low + c * (c + 1) + c * c, 2 * c * c)

    def moments(self, a: int, step: int, q: Q) -> tuple[Q, Q, Q]:
        """Return E X_1, E X_1^2 and E X_1 X_2 for raised cells, if ``a`` cells are raised."""
        if not a:
            return 0 * q, 0 * q, 0 * q
        alone = _body_series(self, a, ()).at(q)
        first, second = (_body_series(self, a, (order,)).at(q) / alone for order in (1, 2))
        (m0, m1), (s0, s1, s2) = ([_number(q, number) for number in numbers] for numbers in self.values(step))
        mean, square = m0 + m1 * first, s0 + s1 * first + s2 * second
        if a == 1:
            return mean, square, 0 * q
        pair = _body_series(self, a, (1, 1)).at(q) / alone
        return mean, square, m0 * m0 + 2 * m0 * m1 * first + m1 * m1 * pair

    def beyond(self, a: int, least: int, q: Q, others: "_Others | None") -> Q:
        """The sum over j of q^j times the number of vectors in shell j with ``least`` or more chunks in cell 1."""
        width, bound = self.width, self.bound
        start = -(-least // width)
        degree = a if others is None else self.cells
        if bound >= a * width:  # the bound on the sum excludes no vector
            whole = [(j * width - least + 1) * (j * width) ** (a - 1) for j in range(start, start + degree + 1)]
            return _times_others(whole, start, others).at(q)
        starts: dict[int, list[int]] = {}
        for i in range(a):
            slope = bound - i * width
            if slope > 0:
                starts.setdefault(max(start, -(-(least - 1) // slope)), []).append(i)
        total = 0 * q
        # The limit of j width chunks for a cell subtracts terms that are 0 in the first shells. Terms that begin in the
        # same shell make up one series.
        for first in sorted({start, *starts}):
            values = []
            for j in range(first, first + degree + 1):
                value = sum(
                    (-1) ** i * comb(a - 1, i) * falling((bound - i * width) * j - least + 1, a)
                    for i in starts.get(first, ())
                )
                values.append(value - (_cut_off(self, a, j) if first == start else 0))
            total = total + _times_others(values, first, others).at(q)
        return total


@lru_cache(maxsize=1 << 16)
def _cut_off(body: _Body, a: int, j: int) -> int:
    """The number of vectors that `_Body.beyond` subtracts in shell j, because their first cell has more than j width
    chunks.
    """
    slopes = ((i, body.bound - (i + 1) * body.width) for i in range(a))
    return sum((-1) ** i * comb(a - 1, i) * falling(slope * j, a) for i, slope in slopes if slope > 0)


@dataclass(frozen=True, slots=True)
class _Others:
    """Counts, in each shell, the possible values of the cells that are not raised, if ``raised`` cells are raised."""

    body: _Body
    raised: int
    step: int

    def count(self, j: int) -> int:
        """The sum over b of the choices of b lowered cells, times the vectors of b lowered cells in shell j."""
        return sum(
            _weight(self.body, self.raised, b, self.step) * _joined_count(self.body, b, j)
            for b in range(self.body.cells - self.raised + 1)
        )


def _times_others(values: list[int], first: int, others: _Others | None) -> ShellSeries:
    points = values if others is None else [n * others.count(j) for j, n in enumerate(values, first)]
    return ShellSeries.of(points, first)


@lru_cache(maxsize=1 << 16)
def _joined_count(body: _Body, a: int, j: int) -> int:
    return body.count(a, j)


def _weight(body: _Body, a: int, b: int, step: int) -> int:
    """The number of choices of ``a`` raised and b lowered cells, times the number of values in each chunk and at the
    centre.
    """
    rest = body.cells - a - b
    choices = factorial(body.cells) // (factorial(a) * factorial(b) * factorial(rest))
    return int(choices * body.chunk ** (a + b) * (2 * step - 1) ** rest)


@lru_cache(maxsize=64)
def _groups(body: _Body, nonnegative: bool, is_joined: bool, step: int) -> tuple[DrawGroup, ...]:
    n = body.cells
    if not nonnegative:
        return tuple(DrawGroup(2**a * _weight(body, a, 0, step), (body.series(a),), a) for a in range(n + 1))
    pairs = [(a, b) for a in range(n + 1) for b in range(n + 1 - a)]
    if not is_joined:
        return tuple(DrawGroup(_weight(body, a, b, step), (body.series(a), body.series(b)), a, b) for a, b in pairs)
    counts = [[body.count(a, j) for j in range(n + 1)] for a in range(n + 1)]
    groups = []
    for a, b in pairs:
        both = [counts[a][j] * counts[b][j] for j in range(a + b + 1)]
        groups.append(DrawGroup(_weight(body, a, b, step), (ShellSeries.of(both),), a, b))
    return tuple(groups)


@lru_cache(maxsize=1 << 12)
def _body_series(body: _Body, a: int, orders: tuple[int, ...]) -> ShellSeries:
    shells = range(a + sum(orders) + 1)
    return ShellSeries.of([chunk_points(a, j * body.width, j * body.bound, orders) for j in shells])


def chunk_points(a: int, most: int, in_total: int, orders: tuple[int, ...] = ()) -> int:
    """The sum of prod C(y_i, orders[i]) over y in {1..most}^a with sum(y) <= in_total; the product is over the i of
    ``orders``.
    """
    if in_total >= a * most:  # the bound on the sum excludes no vector
        return int(most ** (a - len(orders)) * prod(comb(most + 1, order + 1) for order in orders))
    # The sum comes from generating functions. Values of a cell above ``most`` are excluded by subtracting their series.
    terms = [(1, 0, 1)]
    for order in orders:
        # C(y, order) over y = 1..most, as terms (factor, e, f) of z^e / (1-z)^f.
        beyond = [(-falling(most, order - t), most + max(t, 1), t + 1) for t in range(order + 1)]
        cut = [(1, max(order, 1), order + 1), *beyond]
        terms = [(x * y, low + more, power + further) for x, low, power in terms for y, more, further in cut]
    rest, total = a - len(orders), 0
    signed = _signed_row(rest)
    for factor, low, power in terms:
        size, left = power + rest - 1, in_total - low - rest
        if left < 0:
            continue
        # The sum over i of (-1)^i C(rest, i) C(left - i most + size, size), while left - i most >= 0.
        if left < _LONGEST_COLUMN:
            column = _column(size, 1 << left.bit_length())[left::-most]
        else:
            column = [comb(left - i * most + size, size) for i in range(min(rest, left // most) + 1)]
        total += factor * sum(map(mul, signed, column))
    return total


@lru_cache(maxsize=64)
def _signed_row(n: int) -> list[int]:
    """Return (-1)^i C(n, i) for i = 0..n."""
    return [(-1) ** i * comb(n, i) for i in range(n + 1)]


@lru_cache(maxsize=8)
def _column(size: int, length: int) -> list[int]:
    """Return C(k + size, size) for k < length."""
    # Each is a small multiple of the one before, which is much faster than `comb`.
    column = [1]
    for k in range(1, length):
        column.append(column[-1] * (k + size) // k)
    return column


def chunk_points_from(a: int, most: int, in_total: int, least: int) -> int:
    """The number of points of {1..most}^a with sum <= in_total and first cell >= ``least``, 1 <= least <= most + 1."""
    total = 0
    for i in range(a):
        near, far = in_total - least + 1 - i * most, in_total - (i + 1) * most
        if near < a:
            break
        total += (-1) ** i * comb(a - 1, i) * (comb(near, a) - falling(far, a))
    return total


@lru_cache(maxsize=64)
def _joined_moments(body: _Body, step: int) -> list[ShellSeries]:
    """Return four series over the shells: for the number of centre cells, sum X_i^2, (sum X_i)^2 and sum |X_i|."""
    n = body.cells
    (m0, m1), (s0, s1, s2) = body.values(step)
    values: list[list[Fraction]] = [[], [], [], []]
    for j in range(n + 5):
        width, bound = j * body.width, j * body.bound
        counts, sizes, squares, products = ([Fraction(0)] * (n + 1) for _ in range(4))
        for a in range(n + 1):
            counts[a] = Fraction(chunk_points(a, width, bound))
            first, second = (chunk_points(a, width, bound, (order,)) if a else 0 for order in (1, 2))
            pair = chunk_points(a, width, bound, (1, 1)) if a > 1 else 0
            sizes[a] = a * (m0 * counts[a] + m1 * first)
            squares[a] = a * (s0 * counts[a] + s1 * first + s2 * second)
            products[a] = a * (a - 1) * (m0 * m0 * counts[a] + 2 * m0 * m1 * first + m1 * m1 * pair)
        sums = [Fraction(0)] * 4
        for a in range(n + 1):
            for b in range(n + 1 - a):
                square = squares[a] * counts[b] + counts[a] * squares[b]
                product = products[a] * counts[b] + counts[a] * products[b] - 2 * sizes[a] * sizes[b]
                size = sizes[a] * counts[b] + counts[a] * sizes[b]
                parts = ((n - a - b) * counts[a] * counts[b], square, square + product, size)
                weight = _weight(body, a, b, step)
                sums = [total + weight * part for total, part in zip(sums, parts, strict=True)]
        for listed, total in zip(values, sums, strict=True):
            listed.append(total)
    # The values are integers, because each weight has one factor ``chunk`` for every raised or lowered cell.
    return [ShellSeries.of([int(value) for value in listed]) for listed in values]

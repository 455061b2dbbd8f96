"""Exact draws of one random vector for many cells: draw a group of cells, then a shell, then a uniform point of the
shell.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from hashlib import sha256
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.intervals import round_up
from utmost.core.exact.numbers import Number, exact, first_integer, natural, read_confidence
from utmost.core.exact.scalars import Q
from utmost.core.noise.cells_draw import CellsDraw, chunk_points, chunk_points_from
from utmost.core.noise.draw_with_total import DrawWithTotal
from utmost.core.noise.one_draw import DrawDistribution
from utmost.core.noise.shell_series import intervals_at
from utmost.core.noise.tables_draw import TablesDraw, differences, points, points_beyond
from utmost.core.sampling.categorical import Categorical
from utmost.core.sampling.draw import DrawMethod, plan_for, sample
from utmost.core.sampling.integers import Integers, narrowed, one_below, uniform_below, uniform_integers
from utmost.core.sampling.joint_draws import ShellSampler, below, geometric_sampler
from utmost.core.sampling.random_bits import KeyedRandomness, Randomness, WordSource, source
from utmost.errors import Unsupported

_REJECTIONS = 12
"""The number of rounds in which points of a box are drawn again if their sum is too large. After these rounds, points
are drawn cell by cell.
"""


def sample_one_draw(
    distribution: DrawDistribution | DrawWithTotal,
    rows: int,
    *,
    randomness: Randomness | None = None,
    method: DrawMethod | None = None,
) -> Integers:
    """``rows`` independent draws of all cells, shape (rows, cells), as int64 or Python ints; exact if ``randomness`` is
    uniform.
    """
    # Certified thresholds choose the group. Each number of individuals is an index with the weights h_i q^i plus
    # geometric variables of q, see `ShellSeries`: no h is negative, and no tail is cut off. Points of a shell are
    # uniform by integer counts. Cost: 10 to 200 us a draw; about 1 us a cell if one individual may change all cells.
    count, bits = natural(rows, "rows"), source(randomness)
    if not count:
        return np.zeros((0, distribution.size), np.int64)
    if isinstance(distribution, DrawWithTotal):
        cells = sample_one_draw(distribution.draw, count, randomness=bits, method=method)
        return _with_total(distribution, cells, sample(distribution.total, count, randomness=bits, method=method), bits)
    groups, plan = distribution.groups, plan_for(method, count)
    index = np.zeros(count, np.intp)
    if len(groups) > 1:

        def cuts(q: Q) -> list[Q]:
            sums = list(accumulate(distribution.masses_at(q)))
            return [part / sums[-1] for part in sums[:-1]]

        chosen = Categorical(
            lambda bits: intervals_at(distribution.ratio, cuts, bits), word_bits=plan.word_bits, lookup=plan.lookup
        )
        index = chosen.draw(count, bits).astype(np.intp)
    drawn: NDArray[np.object_] = np.zeros((count, distribution.size), object)
    # The number of bits by which a value, or a sum of values, may be longer than the number of individuals.
    room = (
        2 * (distribution.sensitivity * distribution.cells if isinstance(distribution, CellsDraw) else 1).bit_length()
        + 2
    )
    geometric, samplers = geometric_sampler(distribution.ratio, plan), dict[int, ShellSampler]()
    for place in np.unique(index).tolist():
        group, where = groups[place], (index == place).nonzero()[0]
        shells = []
        for series in group.shells:
            if not series.is_positive:
                raise Unsupported("a shell of the noise must have no negative weight", came=repr(distribution))
            if id(series) not in samplers:
                samplers[id(series)] = ShellSampler(series.heads, distribution.ratio, plan, geometric)
            shells.append(samplers[id(series)].draw(where.size, bits, room))
        if isinstance(distribution, CellsDraw):
            drawn[where] = _cells(distribution, group.raised, group.lowered, shells, bits)
        elif isinstance(distribution, TablesDraw):
            for row, m in zip(where.tolist(), shells[0].tolist(), strict=True):
                drawn[row] = _tables(distribution, m, bits.word)
    return narrowed(drawn)


def _with_total(distribution: DrawWithTotal, drawn: Integers, totals: Integers, randomness: Randomness) -> Integers:
    """Shift each cell by an integer, so that the cells absorb the difference of both totals; see `DrawWithTotal`."""
    cells, weight = drawn.astype(object), distribution.weight
    gap = totals.astype(object) - cells[:, : distribution.tables[0]].sum(axis=1)
    # floor(w gap + U/b) with U uniform on 0..b-1 has the mean w gap, and is one of the two integers around w gap.
    coins = uniform_integers(weight.denominator, len(gap), randomness)
    moved = (weight.numerator * gap + coins) // weight.denominator
    start = 0
    # Every cell gets the n-th part, and the remainder is added in units of 1 to fewer than n cells.
    for size in distribution.tables:
        places = _permutations(len(gap), size, size, randomness)
        cells[:, start : start + size] += (moved // size)[:, None] + (places < (moved % size)[:, None])
        start += size
    return narrowed(cells)


def _cells(
    distribution: CellsDraw, raised: int, lowered: int, shells: list[Integers], randomness: Randomness
) -> Integers:
    """Draw a point of each shell: some cells are raised and some lowered by drawn distances, and the others are at the
    centre.
    """
    count, n, r = shells[0].size, distribution.cells, distribution.step
    places = _permutations(count, n, raised + lowered, randomness)
    found = np.zeros((count, n), object if shells[0].dtype == object else np.int64)
    if r > 1:
        bounds = np.full(count * n, 2 * r - 1, object if r >> 61 else np.int64)
        found = found + (below(bounds, randomness) - (r - 1)).reshape(count, n)
    rows = np.arange(count)[:, None]
    up = _raised(distribution, raised, shells[0], randomness) + (r - 1)
    if not distribution.nonnegative:
        up = up * (1 - 2 * below(np.full(up.size, 2), randomness).reshape(up.shape))
    found[rows, places[:, :raised]] = up
    found[rows, places[:, raised : raised + lowered]] = (1 - r) - _raised(distribution, lowered, shells[-1], randomness)
    return found


def _permutations(count: int, n: int, first: int, randomness: Randomness) -> NDArray[np.int64]:
    """Permutations of 0..n-1, shape (count, n). Only the first ``first`` entries of a row are uniformly random."""
    places = np.tile(np.arange(n), (count, 1))
    rows = np.arange(count)
    for at in range(min(first, n - 1)):
        other = at + uniform_below(np.full(count, n - at, np.uint64), randomness).view(np.int64)
        places[rows, at], places[rows, other] = places[rows, other], places[rows, at].copy()
    return places


def _raised(distribution: CellsDraw, a: int, shells: Integers, randomness: Randomness) -> Integers:
    """Draw the distances of ``a`` raised cells from the centre, each at least 1, for each shell."""
    count, width, bound, chunk = shells.size, distribution.width, distribution.bound, distribution.chunk
    if not a:
        return np.zeros((count, 0), shells.dtype)
    if a * width <= bound:
        return below(np.repeat(shells * (width * chunk), a), randomness).reshape(count, a) + 1
    chunks = np.zeros((count, a), shells.dtype)
    left = np.arange(count)
    for _ in range(_REJECTIONS):
        tried = below(np.repeat(shells[left] * width, a), randomness).reshape(left.size, a) + 1
        fits = tried.sum(axis=1) <= shells[left] * bound
        chunks[left[fits]] = tried[fits]
        left = left[~fits]
        if not left.size:
            break
    for row in left.tolist():
        chunks[row] = _within_sum(a, int(shells[row]) * width, int(shells[row]) * bound, randomness.word)
    if chunk == 1:
        return chunks
    inside = below(np.full(count * a, chunk, object if chunk >> 61 else np.int64), randomness).reshape(count, a)
    return (chunks - 1) * chunk + inside + 1


def _within_sum(a: int, most: int, in_total: int, word: WordSource) -> list[int]:
    """Draw a uniform point of {1..most}^a with sum at most in_total, cell by cell."""
    found: list[int] = []
    for rest in range(a, 0, -1):
        total = chunk_points(rest, most, in_total)
        target = one_below(total, word)

        def is_beyond(value: int, rest: int = rest, in_total: int = in_total, left: int = total - target) -> bool:
            return chunk_points_from(rest, most, in_total, value + 1) < left

        found.append(first_integer(0, most, is_beyond))
        in_total -= found[-1]
    return found


def _tables(distribution: TablesDraw, m: int, word: WordSource) -> list[int]:
    """Draw a point of shell m; the cells are listed table after table."""
    if distribution.is_one_table:
        raised, lowered = _composition(m, distribution.parts, word), _composition(m, distribution.parts, word)
        return [up - down for up, down in zip(raised, lowered, strict=True)][: distribution.size]
    j, l = _pair(distribution, m, word)
    return [number for size in distribution.sizes for number in _table(size, j, l, word)]


def _pair(distribution: TablesDraw, m: int, word: WordSource) -> tuple[int, int]:
    """Draw the raised and lowered parts (j, l) of a point in shell m, with probability proportional to the number of
    such points.
    """
    if distribution.exactly:
        return m, m
    if not distribution.is_joined:
        j = _on_segment(lambda j: distribution.shell_points(j, m - j), m, distribution.degree, word)
        return j, m - j
    # Shell m contains both (m, s) and (s, m) for each s < m, but (m, m) only once.
    while True:
        s = _on_segment(lambda s: distribution.shell_points(m, s), m, distribution.degree, word)
        is_turned = one_below(2, word) == 1
        if s < m:
            return (s, m) if is_turned else (m, s)
        if not is_turned:
            return m, m


def _on_segment(weight: Callable[[int], int], last: int, degree: int, word: WordSource) -> int:
    """Draw one of 0..last with probability proportional to ``weight``, a polynomial of this degree."""
    if last <= 4 * degree + 4:
        ends = list(accumulate(weight(place) for place in range(last + 1)))
        target = one_below(ends[-1], word)
        return next(place for place, end in enumerate(ends) if target < end)
    orders = differences(weight, degree)

    def up_to(place: int) -> int:
        total, choices = 0, place + 1
        for order, difference in enumerate(orders):
            total += difference * choices
            choices = choices * (place - order) // (order + 2)
        return total

    target = one_below(up_to(last), word)
    return first_integer(-1, last, lambda place: target < up_to(place))


def _table(d: int, j: int, l: int, word: WordSource) -> list[int]:
    """Draw a uniform point of d cells with sum j - l and raised part at most j, cell by cell."""
    found = []
    for rest in range(d, 1, -1):
        up, down = points_beyond(rest, j, l), points_beyond(rest, l, j)
        target = one_below(points(rest, j, l), word)
        value = 0
        if target < up:
            value = _least_beyond(rest, j, l, target)
        elif target < up + down:
            value = -_least_beyond(rest, l, j, target - up)
        found.append(value)
        j, l = j - max(value, 0), l - max(-value, 0)
    return [*found, j - l]


def _least_beyond(d: int, j: int, l: int, target: int) -> int:
    """The least t such that the number of points with a first cell above t is at most ``target``."""
    return first_integer(0, j, lambda t: points_beyond(d, j - t, l) <= target)


def _composition(total: int, parts: int, word: WordSource) -> list[int]:
    """Draw a uniform composition of a number into parts >= 0, by the method of stars and bars with Floyd's random
    subset.
    """
    bars: set[int] = set()
    for place in range(total, total + parts - 1):
        drawn = one_below(place + 1, word)
        bars.add(place if drawn in bars else drawn)
    ends = [-1, *sorted(bars), total + parts - 1]
    return [after - before - 1 for before, after in pairwise(ends)]


_SAMPLE, _SAMPLE_OF_TABLES = 100_000, 10_000
"""Number of draws for a sampled margin."""

_DOUBT = 21.0
"""Minus the logarithm of the probability (below 1e-9) that the coverage of a sampled margin is below its confidence."""

_MARGIN_KEY = sha256(b"utmost: margins of answers from one draw").digest()


def answer_margin(
    distribution: DrawDistribution | DrawWithTotal, coefficients: Sequence[Any], confidence: Number = DEFAULT_CONFIDENCE
) -> Fraction:
    """A margin of the sum of coefficients times cells, with this confidence. The margin is exact for one cell and for
    the total of `TablesDraw`, and otherwise the smallest of several bounds.
    """
    # The margin is exact for one cell, and for the total of `TablesDraw`. Otherwise it is the least of three: by the
    # variance (Chebyshev), by the margins of the cells at equal parts of the allowed probability, and by an order
    # statistic of many draws of the distribution, which is public. The coverage of this margin is below the confidence
    # with a probability of at most 1e-9 over the draws. These come from one fixed stream of bits, so that everybody
    # gets the same margin. Every answer from a `DrawWithTotal` has such a margin. Cost: at most a second for several
    # cells, tens of seconds for many tables.
    numbers, sure = [exact(number, "coefficient") for number in coefficients], read_confidence(confidence)
    variance = distribution.variance_of(numbers)
    cells = [place for place, number in enumerate(numbers) if number]
    if not cells or not variance:
        return Fraction(0)
    if isinstance(distribution, DrawWithTotal):
        return _several_margin(distribution, tuple(numbers), sure)
    if len(cells) == 1:
        return abs(numbers[cells[0]]) * distribution.margin(sure, cells[0])
    if isinstance(distribution, TablesDraw):
        tables = [set(table) for table in distribution.split(numbers)]
        if all(len(table) == 1 for table in tables):  # the sum is a multiple of the total
            times: Fraction = sum((next(iter(table)) for table in tables), Fraction(0))
            return abs(times) * distribution.total_margin(sure)
    return _several_margin(distribution, tuple(numbers), sure)


@lru_cache(maxsize=256)
def _several_margin(
    distribution: DrawDistribution | DrawWithTotal, numbers: tuple[Fraction, ...], sure: Fraction
) -> Fraction:
    spread = round_up(Fraction(distribution.variance_of(numbers)) / (1 - sure))
    bounds = [Fraction(math.nextafter(math.sqrt(math.nextafter(spread, math.inf)), math.inf))]
    draw = distribution.draw if isinstance(distribution, DrawWithTotal) else distribution
    samples = _SAMPLE_OF_TABLES if isinstance(draw, TablesDraw) else _SAMPLE
    rank = _rank(float(sure), samples)
    if rank is not None:
        common = math.lcm(*(number.denominator for number in numbers))
        whole = np.array([int(number * common) for number in numbers], object)
        sizes = np.sort(np.abs(_sampled(distribution, samples).astype(object) @ whole))
        bounds.append(Fraction(int(sizes[rank]), common))
    if isinstance(distribution, DrawDistribution):
        # The sum of the margins of the cells, each with an equal part of the allowed probability.
        kinds = {place: _kind(distribution, place) for place, number in enumerate(numbers) if number}
        margins = {kind: distribution.margin(1 - (1 - sure) / len(kinds), kind) for kind in set(kinds.values())}
        bounds.append(sum((abs(numbers[place]) * margins[kind] for place, kind in kinds.items()), Fraction(0)))
    elif rank is None:
        # The margins of the draw and of the separate total, each with half of the allowed probability, plus the
        # rounding.
        means, deviations, start = Fraction(0), Fraction(0), 0
        for size in distribution.tables:
            mean = sum(numbers[start : start + size], Fraction(0)) / size
            means += mean
            deviations += sum((abs(number - mean) for number in numbers[start : start + size]), Fraction(0))
            start += size
        moved, half_sure = means * distribution.weight, 1 - (1 - sure) / 2
        of_cells = [number - moved * (place < distribution.tables[0]) for place, number in enumerate(numbers)]
        of_draw, of_total = (
            answer_margin(distribution.draw, of_cells, half_sure),
            abs(moved) * distribution.total.margin(half_sure),
        )
        bounds.append(of_draw + of_total + abs(means) + deviations)
    return min(bounds)


def _rank(sure: float, samples: int) -> int | None:
    """The rank of a draw, among sorted draws, that is above the ``sure`` quantile except with probability 1e-9; None
    for too few draws.
    """

    # Of n independent draws, n x or more lie below the quantile q < x with probability at most exp(-n KL(x, q)).
    def divergence(x: float) -> float:
        return x * math.log(x / sure) + (1 - x) * math.log((1 - x) / (1 - sure)) if x < 1 else -math.log(sure)

    if sure >= 1 or divergence(1) * samples < _DOUBT:
        return None
    first = math.ceil(sure * samples)
    return first_integer(first - 1, samples, lambda k: divergence(k / samples) * samples >= _DOUBT) - 1


@lru_cache(maxsize=8)
def _sampled(distribution: DrawDistribution | DrawWithTotal, samples: int) -> Integers:
    return sample_one_draw(distribution, samples, randomness=KeyedRandomness(_MARGIN_KEY))


def _kind(distribution: DrawDistribution, place: int) -> int:
    """The position of the first cell with the same distribution as the cell at position ``place``."""
    if not isinstance(distribution, TablesDraw):
        return 0
    ends = list(accumulate(distribution.sizes))
    size = distribution.sizes[next(at for at, end in enumerate(ends) if place < end)]
    return next(end - at for at, end in zip(distribution.sizes, ends, strict=True) if at == size)

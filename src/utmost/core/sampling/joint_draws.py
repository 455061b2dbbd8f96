"""Exact draws of the noise of several cells that one individual changes together."""

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from utmost.core.exact.arrays import objects
from utmost.core.exact.intervals import Interval
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import natural
from utmost.core.noise.norm_staircase import BallMixture
from utmost.core.sampling.categorical import Categorical
from utmost.core.sampling.draw import CHUNK, DrawMethod, plan_for
from utmost.core.sampling.geometric_draws import MarkedGeometricSampler, SamplingPlan
from utmost.core.sampling.integers import Integers, narrowed, one_below, uniform_below
from utmost.core.sampling.random_bits import Randomness, source

# Sums of up to 61 bits stay within int64.
_SUM_BITS = 61


def sample_joint_cells(
    distribution: BallMixture, rows: int, *, randomness: Randomness | None = None, method: DrawMethod | None = None
) -> Integers:
    """Independent draws of the noise of k cells, shape (rows, k), as int64 or Python ints; exact if ``randomness`` is
    uniform.
    """
    # X is uniform on the ball of radius N, which is {-N, ..., N}^k for the norm "max". N is the first radius plus
    # J + G_0 + ... + G_k strides, where the G_i are independent geometric variables of ratio q and P(J = j) is
    # proportional to h_j q^j for h = `sizes`: sum |ball j| (qz)^j = (sum h_j (qz)^j) / (1 - qz)^(k+1). No tail is cut
    # off. Cost: k + 2 geometric and k uniform draws for each row; for the norm "range" up to k + 1 times as many.
    size, bits = natural(rows, "rows"), source(randomness)
    plan = plan_for(method, size * (distribution.cells + 1))
    shells = ShellSampler(distribution.sizes(), distribution.ratio, plan)
    step = max(1, CHUNK // (distribution.cells + 1))
    parts = [_draw(distribution, min(step, size - at), shells, bits) for at in range(0, size, step)]
    if not parts:
        return np.zeros((0, distribution.cells), np.int64)
    if any(part.dtype == object for part in parts):
        parts = [part.astype(object) for part in parts]
    return np.concatenate(parts)


class ShellSampler:
    """Draws m with P(m) proportional to f(m) q^m, for the polynomial f of a `ShellSeries` without a negative h_i."""

    __slots__ = ("_geometric", "_index", "_order")

    def __init__(
        self, heads: Sequence[int], ratio: Level, plan: SamplingPlan, geometric: MarkedGeometricSampler | None = None
    ) -> None:
        self._order = len(heads)
        self._index = Categorical(lambda bits: _cuts(heads, ratio, bits), word_bits=plan.word_bits, lookup=plan.lookup)
        self._geometric = geometric_sampler(ratio, plan) if geometric is None else geometric

    def draw(self, count: int, randomness: Randomness, room: int = 0) -> Integers:
        """``count`` independent numbers m: as int64 if the product of m and a number of ``room`` bits fits, else as
        Python ints.
        """
        parts, _ = self._geometric.draw(count * self._order, randomness)
        widest = int(parts.max(initial=0)).bit_length() + (2 * self._order).bit_length() + room
        shape = (count, self._order)
        n: Integers = parts.astype(object if widest > _SUM_BITS else np.int64).reshape(shape).sum(axis=1)
        return n + self._index.draw(count, randomness).astype(np.int64)


def geometric_sampler(ratio: Level, plan: SamplingPlan) -> MarkedGeometricSampler:
    return MarkedGeometricSampler(ratio.alpha_interval, [_one], plan)


def _one(bits: int) -> Interval:
    return Interval.of(1, bits)


def _cuts(heads: Sequence[int], ratio: Level, bits: int) -> list[Interval]:
    """Intervals around P(J <= j) for each j but the last, where P(J = j) is proportional to heads[j] q^j."""
    inner = bits + 16 + sum(heads).bit_length()
    q = ratio.alpha_interval(inner)
    powers = accumulate([q] * (len(heads) - 1), lambda x, y: x * y, initial=_one(inner))
    sums = list(accumulate(power * size for power, size in zip(powers, heads, strict=True)))
    return [partial / sums[-1] for partial in sums[:-1]]


def _draw(distribution: BallMixture, rows: int, shells: ShellSampler, randomness: Randomness) -> Integers:
    cells = distribution.cells
    n = shells.draw(
        rows, randomness, 0 if distribution.stride == 1 else (distribution.first + distribution.stride).bit_length()
    )
    n = n * distribution.stride + distribution.first
    if distribution.ball == "range":
        return _in_ranges(n, cells, randomness)
    reach = np.repeat(n, cells)
    if n.dtype == object:
        whole = objects(one_below(2 * int(count) + 1, randomness.word) - int(count) for count in reach)
        return narrowed(whole).reshape(rows, cells)
    places: Integers = uniform_below((2 * reach + 1).astype(np.uint64), randomness).view(np.int64)
    places -= reach
    return places.reshape(rows, cells)


def _in_ranges(n: Integers, cells: int, randomness: Randomness) -> Integers:
    """Draw a uniform point of the ball of each radius N in ``n``: x_i = z_i - z_0, for a z in {0, ..., N}^(k+1) with an
    entry 0.
    """
    # One entry of z, chosen at random, is set to 0, and the others are uniform. A z with m zeros arises from m of these
    # choices, so it is accepted with probability 1/m, else drawn again. The number of redraws depends only on the
    # noise.
    rows = len(n)
    points: Integers = np.zeros((rows, cells), dtype=n.dtype)
    left = np.arange(rows)
    while left.size:
        z = below(np.repeat(n[left] + 1, cells + 1), randomness).reshape(left.size, cells + 1)
        zero_places = uniform_below(np.full(left.size, cells + 1, np.uint64), randomness).view(np.int64)
        z[np.arange(left.size), zero_places] = 0
        zeros = (z == 0).sum(axis=1)
        is_accepted = uniform_below(zeros.astype(np.uint64), randomness) == 0
        points[left[is_accepted]] = (z[:, 1:] - z[:, :1])[is_accepted]
        left = left[~is_accepted]
    return narrowed(points) if points.dtype == object else points


def below(bounds: Integers, randomness: Randomness) -> Integers:
    if bounds.dtype == object:
        return objects(one_below(int(bound), randomness.word) for bound in bounds)
    return uniform_below(bounds.astype(np.uint64), randomness).view(np.int64)

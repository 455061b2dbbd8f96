"""Exact draws of the noise of several cells that one individual changes together."""

from itertools import accumulate

import numpy as np

from utmost.core.exact.arrays import objects
from utmost.core.exact.intervals import Interval
from utmost.core.exact.numbers import natural
from utmost.core.noise.norm_staircase import BallMixture
from utmost.core.sampling.categorical import Categorical
from utmost.core.sampling.draw import CHUNK, Method, plan_for
from utmost.core.sampling.geometric_draws import ManyMarked
from utmost.core.sampling.integers import Integers, narrowed, one_below, uniform_below
from utmost.core.sampling.random_bits import Randomness, source

# Sums of so many bits stay within int64.
_SUM_BITS = 61


def sample_joint_cells(
    law: BallMixture, rows: int, *, randomness: Randomness | None = None, method: Method | None = None
) -> Integers:
    """``rows`` independent draws of the noise of k cells, shape (rows, k); exact for random bits.

    X is uniform on the ball of radius N, of the largest entry {-N, ..., N}^k. N is the first radius and so many strides
    as J plus k + 1 independent geometric variables of ratio q, where P(J = j) is proportional to h_j q^j, h = `sizes`:
    sum |ball j| (qz)^j = (sum h_j (qz)^j) / (1 - qz)^(k+1). No tail is cut off.

    Args:
        law: the joint law.
        rows: how many rows.
        randomness: the operating system's if left out.
        method: "constant" or "table", how the geometric variables are drawn; as for `sample`.

    Returns:
        int64, or Python ints in the event that one exceeds it.

    Cost: k + 2 geometric draws and k uniform ones a row; for the range up to k + 1 times as many.

    >>> from utmost.noise import JointCells
    >>> sample_joint_cells(JointCells(1, 3), 5).shape
    (5, 3)
    """
    size, bits = natural(rows, "rows"), source(randomness)
    plan = plan_for(method, size * (law.cells + 1))
    index = Categorical(lambda precise: _cuts(law, precise), word_bits=plan.word_bits, lookup=plan.lookup)
    geometric = ManyMarked(law.ratio.alpha_interval, [_one], plan)
    step = max(1, CHUNK // (law.cells + 1))
    parts = [_drawn(law, min(step, size - at), index, geometric, bits) for at in range(0, size, step)]
    if not parts:
        return np.zeros((0, law.cells), np.int64)
    if any(part.dtype == object for part in parts):
        parts = [part.astype(object) for part in parts]
    return np.concatenate(parts)


def _one(bits: int) -> Interval:
    return Interval.of(1, bits)


def _cuts(law: BallMixture, bits: int) -> list[Interval]:
    """P(J <= j) for j < k."""
    inner = bits + 16 + sum(law.sizes()).bit_length()
    q = law.ratio.alpha_interval(inner)
    powers = accumulate([q] * law.cells, lambda x, y: x * y, initial=_one(inner))
    sums = list(accumulate(power * size for power, size in zip(powers, law.sizes(), strict=True)))
    return [partial / sums[-1] for partial in sums[:-1]]


def _drawn(law: BallMixture, rows: int, index: Categorical, geometric: ManyMarked, randomness: Randomness) -> Integers:
    cells = law.cells
    parts, _ = geometric.draw(rows * (cells + 1), randomness)
    bits = int(parts.max(initial=0)).bit_length() + (2 * cells + 2).bit_length()
    # Without any risk of leaving int64, or else with Python's integers.
    widest = bits + (0 if law.stride == 1 else (law.first + law.stride).bit_length())
    wide = widest > _SUM_BITS
    n: Integers = parts.astype(object if wide else np.int64).reshape(rows, cells + 1).sum(axis=1)
    n = n + index.draw(rows, randomness).astype(np.int64)
    n = n * law.stride + law.first
    if law.ball == "range":
        return _in_ranges(n, cells, randomness)
    reach = np.repeat(n, cells)
    if wide:
        whole = objects(one_below(2 * int(count) + 1, randomness.word) - int(count) for count in reach)
        return narrowed(whole).reshape(rows, cells)
    places: Integers = uniform_below((2 * reach + 1).astype(np.uint64), randomness).view(np.int64)
    places -= reach
    return places.reshape(rows, cells)


def _in_ranges(n: Integers, cells: int, randomness: Randomness) -> Integers:
    """For each radius a point x that is uniform on its ball: x_i = z_i - z_0 for the z of {0, ..., N}^(k+1) that have a
    zero.

    One entry of z, drawn by lot, is 0 and the others are uniform; a z with m zeros comes from m of these choices, so it
    is taken one time in m, and drawn again else. How often that is depends on the noise alone.
    """
    rows = len(n)
    drawn: Integers = np.zeros((rows, cells), dtype=n.dtype)
    left = np.arange(rows)
    while left.size:
        z = _below(np.repeat(n[left] + 1, cells + 1), randomness).reshape(left.size, cells + 1)
        lots = uniform_below(np.full(left.size, cells + 1, np.uint64), randomness).view(np.int64)
        z[np.arange(left.size), lots] = 0
        zeros = (z == 0).sum(axis=1)
        is_taken = uniform_below(zeros.astype(np.uint64), randomness) == 0
        drawn[left[is_taken]] = (z[:, 1:] - z[:, :1])[is_taken]
        left = left[~is_taken]
    return narrowed(drawn) if drawn.dtype == object else drawn


def _below(bounds: Integers, randomness: Randomness) -> Integers:
    """For each bound an integer uniform below it."""
    if bounds.dtype == object:
        return objects(one_below(int(bound), randomness.word) for bound in bounds)
    return uniform_below(bounds.astype(np.uint64), randomness).view(np.int64)

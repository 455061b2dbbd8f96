"""Exact draws of the noise of several cells that one individual changes together."""

from itertools import accumulate

import numpy as np

from utmost.laws.exact import Interval, checked, natural, objects
from utmost.laws.noise import JointCells
from utmost.laws.sampling.categorical import Categorical
from utmost.laws.sampling.draw import CHUNK, Method, plan_for
from utmost.laws.sampling.geometric_draws import ManyMarked
from utmost.laws.sampling.integers import Integers, narrowed, one_below, uniform_below
from utmost.laws.sampling.random_bits import Randomness, source

# Sums of so many bits stay within int64.
_SUM_BITS = 61


@checked
def sample_joint_cells(
    law: JointCells, rows: int, *, randomness: Randomness | None = None, method: Method | None = None
) -> Integers:
    """``rows`` independent draws of the noise of k cells, shape (rows, k); exact for random bits.

    X is uniform on {-N, ..., N}^k, and N is J plus k + 1 independent geometric variables of ratio q, where P(J = j) is
    proportional to B_j q^j: sum (2n + 1)^k (qz)^n = (sum B_j (qz)^j) / (1 - qz)^(k+1). No tail is cut off.

    Args:
        law: the joint law.
        rows: how many rows.
        randomness: the operating system's if left out.
        method: "constant" or "table", how the geometric variables are drawn; as for `sample`.

    Returns:
        int64, or Python ints in the event that one exceeds it.

    Cost: k + 2 geometric draws and k uniform ones a row.

    >>> sample_joint_cells(JointCells(1, 3), 5).shape
    (5, 3)
    """
    size, bits = natural(rows, "rows"), source(randomness)
    plan = plan_for(method, size * (law.cells + 1))
    index = Categorical(lambda precise: _cuts(law, precise), word_bits=plan.word_bits, lookup=plan.lookup)
    geometric = ManyMarked(law.ratio.alpha_interval, [_one], plan)
    step = max(1, CHUNK // (law.cells + 1))
    parts = [_drawn(law.cells, min(step, size - at), index, geometric, bits) for at in range(0, size, step)]
    if not parts:
        return np.zeros((0, law.cells), np.int64)
    if any(part.dtype == object for part in parts):
        parts = [part.astype(object) for part in parts]
    return np.concatenate(parts)


def _one(bits: int) -> Interval:
    return Interval.of(1, bits)


def _cuts(law: JointCells, bits: int) -> list[Interval]:
    """P(J <= j) for j < k."""
    inner = bits + 16 + sum(law.sizes()).bit_length()
    q = law.ratio.alpha_interval(inner)
    powers = accumulate([q] * law.cells, lambda x, y: x * y, initial=Interval.of(1, inner))
    sums = list(accumulate(power * size for power, size in zip(powers, law.sizes(), strict=True)))
    return [partial / sums[-1] for partial in sums[:-1]]


def _drawn(cells: int, rows: int, index: Categorical, geometric: ManyMarked, randomness: Randomness) -> Integers:
    parts, _ = geometric.draw(rows * (cells + 1), randomness)
    widest = int(parts.max(initial=0)).bit_length() + (2 * cells + 2).bit_length()
    wide = widest > _SUM_BITS
    n: Integers = parts.astype(object if wide else np.int64).reshape(rows, cells + 1).sum(axis=1)
    n = n + index.draw(rows, randomness).astype(np.int64)
    reach = np.repeat(n, cells)
    if wide:
        whole = objects(one_below(2 * int(count) + 1, randomness.word) - int(count) for count in reach)
        return narrowed(whole).reshape(rows, cells)
    places: Integers = uniform_below((2 * reach + 1).astype(np.uint64), randomness).view(np.int64)
    places -= reach
    return places.reshape(rows, cells)

"""Laplace noise on counts as a finite channel: the real line cut at thresholds."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from utmost.channels.channel import Channel, stochastic
from utmost.errors import OutOfRange
from utmost.exact import Array, Level, Number, checked, exact, level, natural


@checked
def laplace_channel(
    n: int,
    epsilon: Number | Level | None = None,
    *,
    alpha: Number | None = None,
    thresholds: Sequence[Number] | None = None,
) -> Channel:
    """A count in {0, ..., n} with Laplace noise of density (epsilon/2) exp(-epsilon |x|), seen through thresholds.

    With F the distribution function of the noise and t_1 < ... < t_k the thresholds, outcome j is the interval from t_j
    to t_{j+1}, and C[i, j] = F(t_{j+1} - i) - F(t_j - i), where t_0 is minus and t_{k+1} plus infinity.

    Posteriors under Laplace noise vary within every interval inside [0, n], so any finite channel loses something; left
    of 0 and right of n nothing more is told.

    Args:
        n: the largest count, n >= 0.
        epsilon, alpha: the privacy level, one of them.
        thresholds: increasing numbers; 1/2, 3/2, ..., n - 1/2 when left out, so that outcome j is the count to which
            the response rounds, clamped to the range.

    Returns:
        (n+1, k+1): exact where alpha^|t - i| is rational for every threshold and count, else float64.

    Raises:
        OutOfRange: for thresholds that do not increase.

    Source: [ghosh2009], section 6.1.

    >>> laplace_channel(1, alpha="1/4").matrix.tolist()
    [[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]]
    """
    largest, at = natural(n, "n"), level(epsilon, alpha)
    given = [Fraction(2 * j + 1, 2) for j in range(largest)] if thresholds is None else thresholds
    cuts = [exact(t, "thresholds") for t in given]
    if any(s >= t for s, t in pairwise(cuts)):
        raise OutOfRange("thresholds must increase", came=", ".join(map(str, cuts)), where="laplace_channel")
    if at.is_rational and all(at.scaled(abs(t)).is_rational for t in cuts if t):
        tail = cache(lambda gap: (at.scaled(gap).alpha_fraction() if gap else Fraction(1)) / 2)
        rows = [_exact_row([t - i for t in cuts], tail) for i in range(largest + 1)]
        return stochastic(np.array(rows, dtype=object).reshape(largest + 1, -1))
    counts, ends = np.arange(largest + 1)[:, None], np.array([-np.inf, *map(float, cuts), np.inf])
    return stochastic(_masses(ends[None, :-1] - counts, ends[None, 1:] - counts, at.epsilon_float))


def _exact_row(cuts: list[Fraction], tail: Callable[[Fraction], Fraction]) -> list[Fraction]:
    """Differences of F = tail(|x|) left of 0 and 1 - tail(|x|) right of it."""
    below = [tail(-x) if x < 0 else 1 - tail(x) for x in cuts]
    return [high - low for low, high in zip([Fraction(0), *below], [*below, Fraction(1)], strict=True)]


def _masses(low: Array, high: Array, epsilon: float) -> Array:
    """P(low < X < high), elementwise, without cancellation: on one side of 0 as tail times 1 - exp(-epsilon width)."""
    near = np.minimum(abs(low), abs(high))
    one_side: Any = np.exp(-epsilon * near) / 2 * -np.expm1(-epsilon * (high - low))
    across = 1 - (np.exp(epsilon * np.minimum(low, 0)) + np.exp(-epsilon * np.maximum(high, 0))) / 2
    return np.asarray(np.where((low < 0) & (high > 0), across, one_side))

"""Geometric noise truncated by renormalising each row: a common construction that does not keep its level."""

import numpy as np

from utmost.channels.channel import Channel, stochastic
from utmost.channels.geometric import GeometricMatrix
from utmost.exact import Interval, Level, Number, frozen, level, log_interval, natural, round_up


def renormalised_geometric_channel(
    n: int, epsilon: Number | Level | None = None, *, alpha: Number | None = None
) -> Channel:
    """C[i, j] proportional to alpha^|i-j| on {0, ..., n}, each row divided by its own sum.

    **This channel is not private at its nominal level for n >= 2**: the sums differ from row to row. Its true level is
    `renormalised_epsilon`; `geometric_channel` clamps instead and keeps the level.

    >>> renormalised_geometric_channel(2, alpha="1/2").matrix[:, 0].tolist()
    [Fraction(4, 7), Fraction(1, 4), Fraction(1, 7)]
    """
    g = GeometricMatrix(natural(n, "n"), level(epsilon, alpha))
    i = np.arange(g.n + 1)
    weights = g.powers()[np.abs(i[:, None] - i)]
    return stochastic(frozen(weights / weights.sum(axis=1)[:, None]))


def renormalised_epsilon(n: int, epsilon: Number | Level | None = None, *, alpha: Number | None = None) -> float:
    """The epsilon that `renormalised_geometric_channel` really keeps, rounded up.

    It is the logarithm of (1/alpha) (1 + (alpha - alpha^n) (1 - alpha) / (1 - alpha^(n+1))), the ratio of the sums of
    rows 1 and 0 over alpha. For n < 2 it is the nominal epsilon, and for n = 0 it is 0.

    >>> renormalised_epsilon(2, alpha="1/2"), renormalised_epsilon(1, epsilon=1)  # log(16/7) is above log(2)
    (0.8266785731844..., 1.0)
    """
    largest, at = natural(n, "n"), level(epsilon, alpha)
    if largest < 2:
        return round_up(at.epsilon_interval()) if largest else 0.0
    bits = 256 + 2 * at.power.denominator.bit_length()
    a = at.alpha_interval(bits)
    one = Interval.of(1, bits)
    surplus = (a - a**largest) * (one - a) / (one - a ** (largest + 1))
    return round_up(at.epsilon_interval(bits).upper + log_interval((one + surplus).upper, bits).upper)

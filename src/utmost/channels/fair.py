"""The explicit fair mechanism on {0, ..., n}: the truth is equally likely whatever it is."""

from fractions import Fraction
from typing import Any

import numpy as np

from utmost.channels.channel import Channel, stochastic
from utmost.exact import Level, Number, checked, level, natural


@checked
def fair_channel(n: int, epsilon: Number | Level | None = None, *, alpha: Number | None = None) -> Channel:
    r"""C[x, r] = y alpha^e(x, r), where every row holds the powers 0, 1, 1, 2, 2, ... of alpha.

    With m the distance of x from the nearer end, e = |x - r| up to m, and beyond, on the side where there is more room,
    e = ceil(r / 2) for x below the middle and ceil((n - r) / 2) above it. The powers have one sum in every row:

        1/y = (1 + alpha - 2 alpha^(n/2 + 1)) / (1 - alpha)              for even n,
        1/y = (1 + alpha) (1 - alpha^((n + 1)/2)) / (1 - alpha)          for odd n.

    It is honest, fair, symmetric and monotone in rows and columns, and of all fair private mechanisms it says the truth
    most often.

    Args:
        n: the largest count, n >= 0.
        epsilon, alpha: the privacy level, one of them; exact where alpha is rational.

    Source: [cormode2018], the mechanism EM.

    >>> fair_channel(2, alpha="1/2").matrix.tolist()[0]
    [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]
    """
    size, at = natural(n, "n") + 1, level(epsilon, alpha)
    a: Any = at.alpha_fraction() if at.is_rational else at.alpha
    x, r = np.arange(size)[:, None], np.arange(size)[None, :]
    gap, room = np.abs(x - r), np.minimum(x, size - 1 - x)
    far = np.where(2 * x < size - 1, (r + 1) // 2, (size - r) // 2)
    exponents = np.where(gap <= room, gap, far)
    powers = np.array([a**e for e in range(size + 1)], dtype=object)[exponents]
    joint = powers if isinstance(a, Fraction) else powers.astype(np.float64)
    return stochastic(np.asarray(joint / joint.sum(axis=1)[:, None]))

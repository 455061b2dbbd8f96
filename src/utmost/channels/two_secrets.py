"""The one mechanism for two secrets that is best for everyone."""

from fractions import Fraction

import numpy as np

from utmost.channels.channel import Channel, stochastic
from utmost.errors import OutOfRange
from utmost.exact import Level, Number, Surd, exact, level


def two_secret_optimum(
    epsilon: Number | Level | None = None, *, alpha: Number | None = None, distance: Number | Surd = 1
) -> Channel:
    """T = [[k e^d, k], [k, k e^d]] with k = 1/(1 + e^d) and d = epsilon times the distance of the two secrets.

    Every private mechanism for two secrets is T followed by post-processing, so T is best for every prior and every
    loss; with more secrets there is no such mechanism.

    Args:
        epsilon, alpha: the privacy level of one unit of distance, one of them.
        distance: how far apart the secrets are, positive.

    Returns:
        (2, 2), exact where alpha to the distance is rational, else float64.

    Source: [fernandes2022], corollary 9 and (15).

    >>> two_secret_optimum(alpha="1/2", distance=2).matrix[0].tolist()
    [Fraction(4, 5), Fraction(1, 5)]
    """
    at = level(epsilon, alpha)
    far = distance if isinstance(distance, Surd) else exact(distance, "distance")
    if not far > 0:
        raise OutOfRange("the distance of two secrets must be positive", came=distance, where="two_secret_optimum")
    a: Fraction | float
    if isinstance(far, Surd):
        a = float(np.exp(-at.epsilon_float * float(far)))
    else:
        scaled = at.scaled(far)
        a = scaled.alpha_fraction() if scaled.is_rational else scaled.alpha
    likely, unlikely = 1 / (1 + a), a / (1 + a)
    return stochastic(np.array([[likely, unlikely], [unlikely, likely]], dtype=type(likely)))

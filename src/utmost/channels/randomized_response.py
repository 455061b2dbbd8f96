"""Randomised response on k secrets, and its dual."""

from typing import Any

import numpy as np

from utmost.channels.channel import Channel, stochastic
from utmost.exact import Level, Number, checked, level, natural


@checked
def randomized_response(k: int, epsilon: Number | Level | None = None, *, alpha: Number | None = None) -> Channel:
    """R[x, y] = 1/w for y = x and alpha/w otherwise, with w = 1 + (k-1) alpha: the truth is the likeliest answer.

    Private at its level on `discrete(k)`, where it has the largest multiplicative capacity.

    Args:
        k: the number of secrets, k >= 1.
        epsilon, alpha: the privacy level, one of them; exact where alpha is rational.

    Source: [fernandes2022], definition 10.

    >>> randomized_response(3, alpha="1/2").matrix[0].tolist()
    [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]
    """
    size, a = natural(k, "k", least=1), _alpha(level(epsilon, alpha))
    return _two_valued(size, type(a)(1), a)


@checked
def dual_randomized_response(k: int, epsilon: Number | Level | None = None, *, alpha: Number | None = None) -> Channel:
    """R[x, y] = alpha/w for y = x and 1/w otherwise, with w = alpha + k - 1: the truth is the least likely answer.

    Private at its level on `discrete(k)`, where it has the largest additive capacity.

    Args:
        k: the number of secrets, k >= 1.
        epsilon, alpha: the privacy level, one of them; exact where alpha is rational.

    Source: [fernandes2022], section VI-B (the dual of definition 10).

    >>> dual_randomized_response(3, alpha="1/2").matrix[0].tolist()
    [Fraction(1, 5), Fraction(2, 5), Fraction(2, 5)]
    """
    size, a = natural(k, "k", least=1), _alpha(level(epsilon, alpha))
    return _two_valued(size, a, type(a)(1))


def _alpha(at: Level) -> Any:
    return at.alpha_fraction() if at.is_rational else at.alpha


def _two_valued(k: int, on_diagonal: Any, elsewhere: Any) -> Channel:
    total = on_diagonal + (k - 1) * elsewhere
    world = np.float64 if isinstance(total, float) else object
    matrix = np.full((k, k), elsewhere / total, dtype=world)
    np.fill_diagonal(matrix, on_diagonal / total)
    return stochastic(matrix)

"""Noise need not depend on the query's output: Lemmas 14 and 15, and Theorems 2 and 10 that follow from them.

The hypothesis is that the family of noise laws is periodic in the query's output (and, on the reals, constant on the
cells of a grid): then finitely many translates of it exhaust all translates, and their average no longer depends on
the output. The period may be anything; on the integers, docs/theory/independent-noise.md removes the hypothesis by a
limit.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from utmost.design.periodic_noise import PeriodicNoise
from utmost.errors import OutOfRange
from utmost.exact import Array, Level, Number, as_array, exact, is_exact, level, one_world


def translated(noise: PeriodicNoise, by: int) -> PeriodicNoise:
    """The family that gives output t the law which the old one gives output t + by (on the reals, ``by`` cells).

    Lemma 14: it keeps every level that the old one keeps, and has the same worst-case cost, for every cost.

    >>> two = PeriodicNoise([["1/2", "1/2", 0], [0, "1/2", "1/2"]])
    >>> translated(two, 1).pmf.tolist() == two.pmf[::-1].tolist()
    True
    """
    return _like(noise, np.roll(noise.pmf, -by, axis=0))


def mixed(families: Sequence[PeriodicNoise], weights: object | None = None) -> PeriodicNoise:
    """For each output the mixture of its laws in several families; by default in equal parts.

    Lemma 15: it keeps every level that all the families keep, and its worst-case cost is at most the largest of theirs.

    Args:
        families: with one period T, one window, one tail.
        weights: (len(families),) nonnegative, sum 1.

    Raises:
        OutOfRange: when the families have no common shape, or the weights are no distribution.
    """
    first = families[0]
    for other in families:
        if _shape(other) != _shape(first):
            raise OutOfRange("families to be mixed must share period, window and tail", came=_shape(other))
    *rows, shares = one_world(*(family.pmf for family in families), _weights(weights, len(families)))
    return _like(first, sum(share * pmf for share, pmf in zip(shares, rows, strict=True)))


def independent(
    noise: PeriodicNoise,
    sensitivity: int,
    epsilon: Number | Level | None = None,
    *,
    alpha: Number | None = None,
    tolerance: Number = 0,
) -> PeriodicNoise:
    """One law, the same for every output, that keeps the family's level at no greater worst-case cost.

    It is the average of the family's T translates, P(x) = (p_0(x) + ... + p_{T-1}(x)) / T. Each translate keeps the
    level at the same worst-case cost (Lemma 14), so does their average (Lemma 15); and in it every output gets each of
    the T laws once, so that it does not depend on the output. Floats are averaged up to rounding.

    Args:
        noise: a periodic family.
        sensitivity: how far apart neighbouring outputs are, in integers or in cells.
        epsilon, alpha: the level that the family keeps, one of them.
        tolerance: passed to `PeriodicNoise.check_keeps`: 0 unless the family is a float solver's answer.

    Returns:
        A family of one row, in the same number world.

    Raises:
        PromiseBroken: when the family does not keep the level, so that there is nothing to conclude from.

    Source: [geng2012], Theorem 2 (reals), Theorem 10 (integers), Lemmas 14 and 15.

    >>> even = PeriodicNoise([["1/6", 0, "1/3", 0, "1/6"], [0, "1/3", 0, "1/6", 0]], period=2, ratio="1/2")
    >>> [str(p) for p in independent(even, 1, alpha="1/2").pmf[0]]
    ['1/12', '1/6', '1/6', '1/12', '1/12']
    """
    promised, T = level(epsilon, alpha), len(noise.pmf)
    noise.check_keeps(sensitivity, promised, tolerance=tolerance)
    alone = _like(noise, noise.pmf.sum(axis=0, keepdims=True) / T)
    rounding = 0 if noise.is_exact else Fraction(T, 1 << 50)
    alone.check_keeps(sensitivity, promised, tolerance=exact(tolerance, "tolerance") + rounding)
    return alone


def _like(noise: PeriodicNoise, pmf: Array) -> PeriodicNoise:
    return PeriodicNoise(pmf, noise.start, period=noise.period, ratio=noise.ratio, domain=noise.domain)


def _shape(noise: PeriodicNoise) -> tuple[object, ...]:
    return noise.pmf.shape, noise.start, noise.period, noise.ratio, noise.domain


def _weights(weights: object | None, count: int) -> Array:
    shares = as_array([Fraction(1, count)] * count if weights is None else weights, "weights", ndim=1)
    if len(shares) != count or (shares < 0).any() or abs(shares.sum() - 1) > (0 if is_exact(shares) else 1e-9):
        raise OutOfRange(f"weights must be {count} nonnegative numbers of sum 1", came=weights, where="mixed")
    return shares

"""The most that a channel leaks by one measure, over all priors: a search among finitely many of them."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np

from utmost.channels import Channel
from utmost.exact import Array, frozen, is_exact, to_floats
from utmost.leakage.best_subset import best_subset
from utmost.leakage.capacity import Attained, Capacity
from utmost.leakage.corner_priors import corner_priors
from utmost.leakage.measure import Measure
from utmost.leakage.payments import PaidMeasure
from utmost.spaces import losses


def capacity_over_priors(C: Channel, measure: PaidMeasure, *, multiplicative: bool) -> Capacity:
    """max over priors of the leakage of a channel by one gain or loss, with a prior that attains it.

    On each region of priors where one action is best, the leakage is largest at a corner: additive leakage is convex
    there, and sets of low multiplicative leakage are convex. So all corners are tried. For one guess of the secret they
    are the uniform distributions on the sets of secrets.

    Args:
        C: (n, m).
        measure: with n rows of payments.
        multiplicative: additive otherwise.

    Cost: for one guess see `best_subset`; otherwise O(n m k) for each corner, of which there can be exponentially many.

    Source: corners as in docs/theory/leakage.md.

    >>> from utmost.channels import geometric_channel
    >>> from utmost.leakage.payments import bayes_vulnerability
    >>> found = bayes_vulnerability.additive_capacity(geometric_channel(2, alpha="1/2"))
    >>> str(found.value), [str(p) for p in found.certificate.prior]
    ('1/4', ['1/2', '0', '1/2'])
    """
    if measure.paid is (losses.nib if measure.is_gain else losses.binary):
        chosen = best_subset(C.matrix, _factor if multiplicative else _gained)
        return _best(C, measure, iter([_uniform(chosen, C.shape[0])]), measure.payments(C.shape[0]), multiplicative)
    payments = measure.payments(C.shape[0])
    return _best(C, measure, iter(corner_priors(payments, measure.is_gain)), payments, multiplicative)


def capacity_over_subsets(C: Channel, measure: Measure, *, multiplicative: bool) -> Capacity:
    """The same for a measure whose regions have the uniform distributions on sets of secrets for corners.

    So it is for the guessing entropy, which is linear wherever the order of the probabilities is one.

    Cost: O(n m) for each of the 2^n - 1 sets.
    """
    n = C.shape[0]
    sets = ([x for x in range(n) if chosen >> x & 1] for chosen in range(1, 1 << n))
    return _best(C, measure, (_uniform(inside, n) for inside in sets), None, multiplicative)


def _best(C: Channel, measure: Measure, corners: Iterator[Array], payments: Any, multiplicative: bool) -> Capacity:
    leak = measure.multiplicative_leakage if multiplicative else measure.additive_leakage
    value, prior = max(((leak(C, p), p) for p in map(_like(C), corners)), key=lambda found: found[0])
    return Capacity(value, C, Attained(C, prior, payments, value, multiplicative, measure))


def _like(C: Channel) -> Any:
    return (lambda prior: prior) if is_exact(C.matrix) else to_floats


def _uniform(inside: Sequence[int], n: int) -> Array:
    prior = np.full(n, Fraction(0), dtype=object)
    prior[list(inside)] = Fraction(1, len(inside))
    return frozen(prior)


def _gained(size: int, right: Any) -> Any:
    """The additive leakage of one guess at the uniform prior on a set: right/size - 1/size."""
    return (right - 1) / size


def _factor(size: int, right: Any) -> Any:
    """The multiplicative leakage of the risk: (1 - 1/size) / (1 - right/size)."""
    return 1 if size == 1 else inf if size - right <= 0 else (size - 1) / (size - right)

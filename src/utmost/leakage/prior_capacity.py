"""The most that a channel leaks by one measure, over all priors: a search among finitely many of them."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from utmost.channels import Channel
from utmost.exact import Array, frozen, is_exact, to_floats
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

    Cost: O(n m k) for each corner; there are 2^n - 1 for one guess (and no way around it is known: the additive one is
    NP-hard), and exponentially many in the worst case for other payments.

    Source: corners as in docs/theory/leakage.md.

    >>> from utmost.channels import geometric_channel
    >>> from utmost.leakage.payments import bayes_vulnerability
    >>> found = bayes_vulnerability.additive_capacity(geometric_channel(2, alpha="1/2"))
    >>> str(found.value), [str(p) for p in found.certificate.prior]
    ('1/4', ['1/2', '0', '1/2'])
    """
    if measure.paid is (losses.nib if measure.is_gain else losses.binary):
        return capacity_over_subsets(C, measure, multiplicative=multiplicative)
    payments = measure.payments(C.shape[0])
    return _best(C, measure, iter(corner_priors(payments, measure.is_gain)), payments, multiplicative)


def capacity_over_subsets(C: Channel, measure: Measure, *, multiplicative: bool) -> Capacity:
    """The same for a measure whose regions have the uniform distributions on sets of secrets for corners.

    So it is for Bayes vulnerability and risk, and for the guessing entropy, which is linear wherever the order of the
    probabilities is one.
    """
    gain = measure.payments(C.shape[0]) if isinstance(measure, PaidMeasure) else None
    return _best(C, measure, _uniforms(C.shape[0]), gain, multiplicative)


def _best(C: Channel, measure: Measure, corners: Iterator[Array], payments: Any, multiplicative: bool) -> Capacity:
    leak = measure.multiplicative_leakage if multiplicative else measure.additive_leakage
    value, prior = max(((leak(C, p), p) for p in map(_like(C), corners)), key=lambda found: found[0])
    return Capacity(value, C, Attained(prior, payments))


def _like(C: Channel) -> Any:
    return (lambda prior: prior) if is_exact(C.matrix) else to_floats


def _uniforms(n: int) -> Iterator[Array]:
    for chosen in range(1, 1 << n):
        inside = np.array([chosen >> x & 1 for x in range(n)], dtype=object)
        yield frozen(inside * Fraction(1, chosen.bit_count()))

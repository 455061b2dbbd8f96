"""Priors: what a consumer believes about the secret before the release. Every prior is a read-only (n,) array."""

from fractions import Fraction

import numpy as np

from utmost.errors import NotANumber, NotAPrior, OutOfRange
from utmost.exact import Array, as_array, exact_integer, frozen, is_exact


def prior(probabilities: object, tolerance: float = 1e-9) -> Array:
    """Any array as a prior; nothing is normalised.

    Args:
        probabilities: (n,) nonnegative, summing to 1; zeros are allowed.
        tolerance: how far the sum of a float64 prior may be from 1 (decimals with ten digits pass). An exact prior
            sums to 1 exactly.

    Raises:
        NotAPrior: for a negative entry or a sum that is off, saying by how much.

    >>> prior(["1/2", "1/2", 0]).tolist()
    [Fraction(1, 2), Fraction(1, 2), Fraction(0, 1)]
    """
    array = _nonnegative(probabilities, "prior")
    total = array.sum()
    if total != 1 if is_exact(array) else abs(total - 1) > tolerance:
        off = f"{abs(total - 1)} {'above' if total > 1 else 'below'}"
        raise NotAPrior(
            f"the prior must sum to 1{'' if is_exact(array) else f' within {tolerance}'}",
            came=f"{total}, which is {off}",
            mend="Use priors.from_counts to turn weights into a prior.",
        )
    return array


def from_counts(weights: object) -> Array:
    """The prior proportional to nonnegative weights: exact for integers and Fractions.

    >>> from_counts([3, 1]).tolist()
    [Fraction(3, 4), Fraction(1, 4)]
    """
    array = _nonnegative(weights, "weights")
    total = array.sum()
    if total == 0:
        raise NotAPrior("weights must not all be zero", came="a sum of 0")
    return frozen(array / total)


def uniform(n: int) -> Array:
    """1/n on each of n secrets, exact.

    >>> uniform(2).tolist()
    [Fraction(1, 2), Fraction(1, 2)]
    """
    size = exact_integer(n, "n")
    if size < 1:
        raise OutOfRange("a prior needs at least one secret", came=n, where="priors.uniform")
    return frozen(np.full(size, Fraction(1, size), dtype=object))


def _nonnegative(values: object, name: str) -> Array:
    try:
        array = as_array(values, name, ndim=1)
    except NotANumber as error:
        raise NotAPrior(error.required, came=error.came, mend=error.mend) from None
    if array.size == 0:
        raise NotAPrior(f"the {name} must have at least one entry", came="none")
    for k in np.flatnonzero(array < 0)[:1]:
        raise NotAPrior(f"entry [{k}] of the {name} must not be negative", came=array[k])
    return array

"""Make priors, the probabilities of secrets before a release, as read-only (n,) arrays."""

from fractions import Fraction
from typing import Any

import numpy as np

from utmost.core.exact.arguments import integer, real, text, truth
from utmost.core.exact.arrays import Array, as_array, frozen, is_exact, to_floats
from utmost.core.exact.display import brief
from utmost.core.exact.memory import fitting_memory
from utmost.core.exact.numbers import Number, exact, natural, refused_as
from utmost.core.exact.own_names import own_names
from utmost.errors import NotANumber, NotAPrior, OutOfRange


def prior(probabilities: object, tolerance: float = 1e-9) -> Array:
    """Return probabilities as a prior, after a check that they sum to 1 (`from_counts` normalises weights).

    Args:
        probabilities: Nonnegative numbers that sum to 1, one for each secret; zeros are allowed.
        tolerance: Largest distance of the sum of a float64 prior from 1; the default suits decimals with ten digits. An
            exact prior must sum to exactly 1.

    Raises:
        NotAPrior: if an entry is negative, if there is no entry, or if the sum is not 1.

    >>> prior(["1/2", "1/2", 0]).tolist()
    [Fraction(1, 2), Fraction(1, 2), Fraction(0, 1)]
    """
    tolerance = real(tolerance, "tolerance")
    array = _nonnegative(probabilities, "prior")
    total = array.sum()
    if total != 1 if is_exact(array) else abs(total - 1) > tolerance:
        within = "" if is_exact(array) else f" within {tolerance}"
        raise NotAPrior(
            f"the prior must sum to 1{within}",
            came=f"{brief(total)}, which is {brief(abs(total - 1))} {'above' if total > 1 else 'below'}",
            remedy="To normalise weights, pass priors.from_counts(weights).",
        )
    return array


def from_counts(weights: object) -> Array:
    """Return the prior proportional to nonnegative weights; it is exact unless a weight is a float.

    Raises:
        NotAPrior: if a weight is negative, or if all weights are zero.

    >>> from_counts([3, 1]).tolist()
    [Fraction(3, 4), Fraction(1, 4)]
    """
    array = _nonnegative(weights, "weights")
    total = array.sum()
    if total == 0 or not (is_exact(array) or np.isfinite(float(total))):
        raise NotAPrior(
            "the weights must have a positive finite sum", came=str(total), remedy="Give a positive weight."
        )
    return frozen(array / total)


@fitting_memory("from_samples")
def from_samples(samples: object, n: int, pseudocount: Number = 0) -> Array:
    """Return the prior from observed secrets: secret x gets the number of samples equal to x plus ``pseudocount``,
    divided by the sum of these numbers.

    Args:
        samples: Observed secrets, integers in 0..n-1.
        n: Number of secrets.
        pseudocount: Number added to every count, so that secrets without a sample get a positive probability.

    Raises:
        NotAPrior: if a sample is outside 0..n-1, or if there is no sample and pseudocount is 0.

    >>> from_samples([2, 0, 2], n=3, pseudocount=1).tolist()
    [Fraction(1, 3), Fraction(1, 6), Fraction(1, 2)]
    """
    size = natural(n, "n", least=1)
    seen = np.zeros(size, dtype=np.int64)
    for k, sample in enumerate(_read(samples, "samples").tolist()):
        if sample != int(sample) or not 0 <= sample < size:
            raise NotAPrior(
                f"sample [{k}] must be one of the secrets 0..{size - 1}",
                came=str(sample),
                remedy="Pass a larger n, or remove the sample.",
            )
        seen[int(sample)] += 1
    return from_counts(as_array(seen) + as_array(pseudocount, "pseudocount", ndim=0).item())


@fitting_memory("uniform")
def uniform(n: int) -> Array:
    """Return the uniform prior, exactly 1/n for each of n secrets.

    >>> uniform(2).tolist()
    [Fraction(1, 2), Fraction(1, 2)]
    """
    size = natural(n, "n", least=1)
    return frozen(np.full(size, Fraction(1, size), dtype=object))


def binomial(trials: int, p: Number) -> Array:
    """Return the binomial prior of a count of rows, each of which is counted independently with probability p.

    Args:
        trials: Number of rows; the prior is for `counts(trials)` and has trials + 1 entries.
        p: Probability. A float makes a float64 prior, any other number an exact one.

    >>> binomial(2, "1/3").tolist()
    [Fraction(4, 9), Fraction(4, 9), Fraction(1, 9)]
    """
    n, chance = natural(trials, "trials"), _number(p, "p")
    if not 0 <= chance <= 1:
        raise OutOfRange("p must lie between 0 and 1", came=p, where="priors.binomial")
    if chance == 1:
        return frozen(binomial(n, 1 - chance)[::-1].copy())
    odds = chance / (1 - chance)
    return _prior_of_ratios([odds * (n - k) / (k + 1) for k in range(n)], chance)


def truncated_poisson(rate: Number, size: int) -> Array:
    """Return the prior of a Poisson count that is cut off at n: rate^k / k! on {0, ..., n}, normalised.

    Args:
        rate: Mean of the Poisson distribution, nonnegative. A float makes a float64 prior, any other number an exact
            one.
        size: Number of counts, n + 1; the prior is for `counts(n)`.

    >>> truncated_poisson(1, 3).tolist()
    [Fraction(2, 5), Fraction(2, 5), Fraction(1, 5)]
    """
    mean, entries = _number(rate, "rate"), natural(size, "size", least=1)
    if mean < 0:
        raise OutOfRange("rate must not be negative", came=rate, where="priors.truncated_poisson")
    return _prior_of_ratios([mean / (k + 1) for k in range(entries - 1)], mean)


def _prior_of_ratios(ratios: list[Any], like: Any) -> Array:
    """Return the prior with the given ratios prior[k + 1] / prior[k], which are finite and decrease."""
    # The largest entry comes right after the last ratio above 1. The other entries are computed from it by factors
    # of at most 1, so none overflows.
    peak = sum(ratio > 1 for ratio in ratios)
    unit = like * 0 + 1
    weights = [unit] * (len(ratios) + 1)
    for k in range(peak, len(ratios)):
        weights[k + 1] = weights[k] * ratios[k]
    for k in range(peak - 1, -1, -1):
        weights[k] = weights[k + 1] / ratios[k]
    return from_counts(weights)


def _number(value: object, name: str) -> Any:
    """Return a float unchanged, and any other number as a Fraction."""
    try:
        return as_array(value, name, ndim=0).item()
    except NotANumber as error:
        raise NotANumber(f"{name} must be a finite number", came=error.came, remedy=error.remedy) from None


def _read(values: object, name: str) -> Array:
    with refused_as(NotAPrior):
        return as_array(values, name, ndim=1)


def _nonnegative(values: object, name: str) -> Array:
    array = _read(values, name)
    if array.size == 0:
        raise NotAPrior(
            f"the {name} must have at least one entry", came="none", remedy="Pass one probability for each secret."
        )
    for k in np.flatnonzero(array < 0)[:1]:
        raise NotAPrior(f"entry [{k}] of the {name} must not be negative", came=str(array[k]))
    return array


PRIOR_NAMES = "uniform, binomial:0.3 or poisson:4"


def prior_named(name: str, size: int, exactly: bool = True) -> Array:
    """Return the prior with a given name on the counts {0, ..., n}.

    Args:
        name: "uniform"; "binomial:p" for n rows, each counted with probability p; "poisson:rate" for a Poisson count,
            given that it is at most n.
        size: Number of counts, n + 1.
        exactly: Whether to return Fractions; float64 is much faster for many counts.

    Raises:
        OutOfRange: if no prior has this name, or if a number is outside its range.

    >>> prior_named("binomial:1/3", 3).tolist()
    [Fraction(4, 9), Fraction(4, 9), Fraction(1, 9)]
    """
    name = text(name, "name")
    size = integer(size, "size")
    exactly = truth(exactly, "exactly")
    natural(size, "size", least=1)
    kind, _, number = name.strip().lower().partition(":")
    if name.strip().lower() == "uniform":
        return uniform(size) if exactly else to_floats(uniform(size))
    if kind not in ("binomial", "poisson"):
        raise OutOfRange(f"a prior by name must be one of {PRIOR_NAMES}", came=name)
    try:
        value = exact(number, kind)
    except NotANumber:
        raise OutOfRange(f"{kind} must be followed by a number, as in {kind}:1/3", came=name) from None
    parameter = value if exactly else float(value)
    return binomial(size - 1, parameter) if kind == "binomial" else truncated_poisson(parameter, size)


__dir__ = own_names(__name__)

"""The privacy-based order: a channel is safer if it keeps every metric promise that the other one keeps."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from utmost.channels import Channel
from utmost.exact import Array, checked, frozen
from utmost.geometry.witnesses import TOLERANCE, same_secrets
from utmost.leakage.capacity import as_channel


@dataclass(frozen=True, slots=True, eq=False)
class PrivacyOrderVerdict:
    """Whether A keeps every metric promise that B keeps; true or false in a condition.

    Attributes:
        B, A: the ratios exp(d_B) and exp(d_A) of the metrics that the channels induce, (n, n), maybe infinite.
        pair: secrets that A tells apart more than B does, or None.
        tolerance: by how much, relatively, ratios of floats may be off; 0 for exact ones.
    """

    B: Array
    A: Array
    pair: tuple[int, int] | None
    tolerance: float

    def __bool__(self) -> bool:
        return self.pair is None

    def verify(self) -> bool:
        """Whether the ratios say so: none of A above that of B, or the one of the pair."""
        allowed = self.B * (1 + Fraction(self.tolerance))
        above = np.greater(self.A, allowed)
        return not above.any() if self.pair is None else bool(above[self.pair])


@checked
def privacy_order_verdict(
    B: Channel | object, A: Channel | object, tolerance: float = TOLERANCE
) -> PrivacyOrderVerdict:
    """Does A keep every metric promise that B keeps?

    A channel C keeps a promise d exactly if d_C <= d for the metric d_C(x, z) = max_y |log C[x, y] / C[z, y]| that it
    induces, so the question is whether d_A <= d_B. Then for every space and level that contains B, A is contained too,
    and `smallest_epsilon` of A is at most that of B; a pair with d_A > d_B is a space of two secrets where it is not.
    The max-case order implies it: a ratio of two entries is quasi-convex on posteriors.

    Args:
        B, A: n rows.
        tolerance: for float64: by how much, relatively, a ratio may be larger.

    Raises:
        NotAChannel: for another number of secrets.

    Source: [chatzikokolakis2021]. Cost: O(n^2 (m + k)).

    >>> from utmost.channels import geometric_channel, randomized_response
    >>> line, equal = geometric_channel(2, alpha="1/2"), randomized_response(3, alpha="1/2")
    >>> bool(privacy_order_verdict(line, equal)), bool(privacy_order_verdict(equal, line))
    (True, False)
    """
    first, second = same_secrets(B, A)
    loose, strict = induced_ratios(first), induced_ratios(second)
    exactly = first.is_exact and second.is_exact
    allowed = 0.0 if exactly else tolerance
    apart = np.argwhere(strict > loose * (1 + Fraction(allowed))).tolist()
    pair = (int(apart[0][0]), int(apart[0][1])) if apart else None
    return PrivacyOrderVerdict(loose, strict, pair, allowed)


def induced_ratios(channel: Channel | object) -> Array:
    """exp(d_C): the largest C[x, y] / C[z, y] or its inverse over all outcomes, for each pair of secrets.

    Returns:
        (n, n) symmetric Fractions at least 1, or ``inf`` where an outcome excludes one of the two; floats are taken as
        the rationals that they are.

    >>> from utmost.channels import geometric_channel
    >>> induced_ratios(geometric_channel(2, alpha="1/2")).tolist()[0]
    [Fraction(1, 1), Fraction(2, 1), Fraction(4, 1)]
    """
    matrix = as_channel(channel).matrix
    n = len(matrix)
    ratios = np.full((n, n), Fraction(1), dtype=object)
    near = matrix.astype(np.float64)
    for x in range(n):
        for z in range(x):
            ratios[x, z] = ratios[z, x] = _largest_ratio(matrix[x], matrix[z], near[x], near[z])
    return frozen(ratios)


def _largest_ratio(one: Array, other: Array, near_one: Array, near_other: Array) -> Any:
    """Floats narrow down where the largest ratio is, rationals decide; where a float is 0 they look anyway."""
    larger, smaller = np.maximum(near_one, near_other), np.minimum(near_one, near_other)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(smaller > 1e-300, np.log(larger) - np.log(smaller), np.inf)
    most = logs[smaller > 1e-300].max(initial=0.0)
    ratio: Any = Fraction(1)
    for y in np.flatnonzero(logs >= most - 1e-9).tolist():
        p, q = sorted((Fraction(one[y]), Fraction(other[y])))
        if q:
            ratio = max(ratio, q / p if p else float("inf"))
    return ratio

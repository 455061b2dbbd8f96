"""The max-case order: a channel is safer for whoever fears the worst outcome if its posteriors are mixtures."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost.channels import Channel
from utmost.exact import Array, checked, frozen, is_exact, one_world
from utmost.geometry.mixtures import nearest_mixture
from utmost.geometry.witnesses import TOLERANCE, as_rationals, same_secrets


@dataclass(frozen=True, slots=True, eq=False)
class MaxCaseVerdict:
    """Whether every posterior of A is a mixture of posteriors of B; true or false in a condition.

    Attributes:
        B, A: the posteriors for the uniform prior, a column each, (n, m) and (n, k).
        weights: (m, k): posterior w of A is sum_y weights[y, w] B[:, y]; None where some posterior is no mixture.
        outcome: a posterior of A that is none, or None.
        separator: (n,) g with g . A[:, outcome] > g . B[:, y] for all y: an expectation that A can raise higher.
        tolerance: by how much float64 posteriors may be off; 0 for exact ones.
    """

    B: Array
    A: Array
    weights: Array | None
    outcome: int | None
    separator: Array | None
    tolerance: float

    def __bool__(self) -> bool:
        return self.weights is not None

    def verify(self) -> bool:
        """Whether weights or separator prove the verdict, in rationals."""
        B, A, least = as_rationals(self.B), as_rationals(self.A), Fraction(self.tolerance)
        if self.weights is not None:
            weights = as_rationals(self.weights)
            fair = (weights >= 0).all() and (abs(weights.sum(axis=0) - 1) <= least).all()
            return bool(fair and (abs(B.dot(weights) - A) <= least).all())
        assert self.separator is not None, "a verdict has one of the two witnesses"
        heights = self.separator.dot(B)
        return bool(self.separator.dot(A[:, self.outcome]) - heights.max() > least * abs(self.separator).sum())


@checked
def max_case_verdict(B: Channel | object, A: Channel | object, tolerance: float = TOLERANCE) -> MaxCaseVerdict:
    """Is A safer than B for whoever fears the worst outcome: max_y V(posterior y), whatever quasi-convex V?

    Exactly if the posteriors of A lie in the convex hull of those of B. Refinement implies it (the earth that arrives
    at a posterior of A mixes posteriors of B) and asks for more: that the weights add up as well. Where the posteriors
    of B are linearly independent they do, and both are the same.

    Args:
        B, A: n rows.
        tolerance: for float64: how far a mixture may be off in every entry of a posterior.

    Raises:
        NotAChannel: for another number of secrets.

    Source: [chatzikokolakis2021]; [fernandes2022], observation b) after
    equation (7). Cost: one linear program for each outcome of A.

    >>> B, A = [["1/2", "1/2", 0], [0, "1/2", "1/2"]], [["3/4", "1/4"], ["1/4", "3/4"]]
    >>> from utmost.geometry.refinement import refinement
    >>> bool(max_case_verdict(B, A)), refinement(B, A) is not None
    (True, True)
    """
    first, second = same_secrets(B, A)
    known, wanted = one_world(_posteriors(first), _posteriors(second))
    exactly = is_exact(known) and is_exact(wanted)
    allowed = 0.0 if exactly else tolerance
    weights = []
    points = as_rationals(known)
    for w, target in enumerate(as_rationals(wanted).T):
        found = nearest_mixture(points, target)
        if found.distance > Fraction(allowed):
            return MaxCaseVerdict(known, wanted, None, w, found.separator, allowed)
        weights.append(found.weights)
    return MaxCaseVerdict(known, wanted, frozen(np.array(weights, dtype=object).T), None, None, allowed)


def _posteriors(channel: Channel) -> Array:
    """The posteriors of a uniform prior: columns over their sums, without those of impossible outcomes."""
    sums = channel.matrix.sum(axis=0)
    return np.asarray(channel.matrix[:, sums != 0] / sums[sums != 0])

"""Compute the posteriors of a prior under a channel, with their probabilities: a hyper-distribution."""

from dataclasses import dataclass

import numpy as np

from utmost.core.exact.arguments import instance, real
from utmost.core.exact.arrays import Array, PickledByFields, as_array, frozen, is_exact, same_numbers
from utmost.core.exact.display import Display
from utmost.design.channels.channel import Channel, merged_columns, stochastic
from utmost.design.leakage.channel_capacity import as_channel
from utmost.design.spaces.consumer import Consumer
from utmost.design.spaces.priors import prior as check_prior
from utmost.errors import NotAPrior, OutOfRange


@dataclass(frozen=True, slots=True, eq=False)
class Hyper(Display, PickledByFields):
    """A distribution of posteriors (hyper-distribution): posteriors[:, y] has the probability weights[y].

    All posteriors differ, and all weights are positive. The mean of the posteriors is the prior (lemma 1).

    Attributes:
        posteriors: Matrix (n, m), each column of which sums to 1.
        weights: Probabilities of the m posteriors; they sum to 1.

    Source: [fernandes2022], section II-A.
    """

    posteriors: Array
    weights: Array

    def __post_init__(self) -> None:
        frozen(self.posteriors)
        frozen(self.weights)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers (n, m) of secrets and posteriors."""
        n, m = self.posteriors.shape
        return int(n), int(m)

    @property
    def is_exact(self) -> bool:
        """Whether posteriors and weights are Fractions."""
        return is_exact(self.posteriors)

    @property
    def joint(self) -> Array:
        """The joint probability of secret and posterior, J[x, y] = weights[y] posteriors[x, y], (n, m)."""
        return frozen(np.asarray(self.posteriors * self.weights))

    @property
    def prior(self) -> Array:
        """The prior (n,), which is the mean of the posteriors."""
        return frozen(np.asarray(self.joint.sum(axis=1)))

    def channel(self) -> Channel:
        """Return the abstract channel C[x, y] = J[x, y] / prior[x], which maps the prior to this hyper.

        Up to the order of outcomes, this is the channel from which the hyper was computed, with proportional columns
        merged.

        Raises:
            NotAPrior: if a secret has prior probability 0, because the hyper does not determine its row.
        """
        joint, prior = self.joint, self.prior
        for x in np.flatnonzero(prior == 0)[:1]:
            remedy = "Compute the hyper with a prior that is positive everywhere, such as priors.uniform(n)."
            raise NotAPrior("the prior must be positive everywhere", came=f"0 for secret {x}", remedy=remedy)
        return stochastic(frozen(joint / prior[:, None]))

    def same_as(self, other: "Hyper", tolerance: float = 0.0) -> bool:
        """Return whether both hypers have the same posteriors with the same weights, in any order.

        Args:
            other: Another hyper.
            tolerance: Largest difference of two entries that count as equal; 0 for exact equality.
        """
        instance(other, Hyper, "other")
        tolerance = real(tolerance, "tolerance")
        if self.shape != other.shape:
            return False
        unmatched = list(range(self.shape[1]))
        for y in range(other.shape[1]):
            far = abs(self.posteriors[:, unmatched] - other.posteriors[:, y][:, None]).max(axis=0)
            gaps = np.maximum(far, abs(self.weights[unmatched] - other.weights[y]))
            near = int(np.argmin(gaps))
            if gaps[near] > tolerance:
                return False
            del unmatched[near]
        return True

    def __repr__(self) -> str:
        n, m = self.shape
        return f"Hyper({m} posteriors on {n} secrets, {'exact' if self.is_exact else 'float64'})"


def hyper(channel: Channel | object, prior: object, tolerance: float = 1e-12) -> Hyper:
    """Return the hyper [p, C]: the posteriors p(x | y) = p_x C[x, y] / w_y with their weights w_y = sum_x p_x C[x, y].

    Outcomes of probability zero are removed, and outcomes with equal posteriors are merged.

    Args:
        channel: Channel C, (n, m).
        prior: Prior p, (n,), or a consumer, whose prior is used.
        tolerance: Largest difference of entries of two float64 posteriors that are merged. Exact posteriors are merged
            if they are equal.

    Raises:
        NotAChannel, NotAPrior: if the channel or the prior is invalid.
        OutOfRange: if the number of entries of the prior is not n.

    Source: [fernandes2022], section II-A; the example is figure 1.

    >>> from utmost.channels import geometric_channel
    >>> from utmost.design.spaces import priors
    >>> h = hyper(geometric_channel(3, alpha="1/2"), priors.uniform(3))
    >>> [str(w) for w in h.weights], [str(p) for p in h.posteriors[:, 0]]
    (['7/18', '2/9', '7/18'], ['4/7', '2/7', '1/7'])
    """
    tolerance = real(tolerance, "tolerance")
    merged, _ = merged_columns(joint(channel, prior), tolerance)
    weights = np.asarray(merged.sum(axis=0))
    return Hyper(np.asarray(merged / weights), weights)


def joint(channel: Channel | object, prior: object) -> Array:
    """Return the joint probabilities of secret x and outcome y, J[x, y] = p_x C[x, y], (n, m)."""
    C, belief = as_channel(channel), as_prior(prior)
    if C.shape[0] != len(belief):
        raise OutOfRange(
            f"the channel must have {len(belief)} rows, one for each secret of the prior",
            came=C.shape[0],
            remedy="Pass a channel and a prior on the same secrets.",
        )
    weights, matrix = same_numbers(belief, C.matrix)
    return frozen(np.asarray(weights[:, None] * matrix))


def as_prior(prior: object) -> Array:
    """Return a prior after a check, or the prior of a consumer."""
    return prior.prior if isinstance(prior, Consumer) else check_prior(prior)


def hyper_of(posteriors: object, weights: object) -> Hyper:
    """Return the hyper with given posteriors and weights; check both, and merge equal posteriors.

    Args:
        posteriors: Matrix (n, m), each column of which is a distribution.
        weights: Probabilities of the m posteriors.

    >>> hyper_of([[1, "1/2"], [0, "1/2"]], ["1/2", "1/2"]).prior.tolist()
    [Fraction(3, 4), Fraction(1, 4)]
    """
    outer = check_prior(weights)
    columns = np.array([check_prior(column) for column in as_array(posteriors, "posteriors", ndim=2).T])
    if len(columns) != len(outer):
        raise NotAPrior(
            f"there must be {len(outer)} posteriors, one for each weight",
            came=len(columns),
            remedy="Pass one column of posteriors for each weight.",
        )
    inner, outer = same_numbers(columns.T if is_exact(columns) else columns.T.astype(np.float64), outer)
    merged, _ = merged_columns(np.asarray(inner * outer), 0 if is_exact(inner) else 1e-12)
    totals = np.asarray(merged.sum(axis=0))
    return Hyper(np.asarray(merged / totals), totals)

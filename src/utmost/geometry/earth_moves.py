"""Refinement of hypers: earth moved from posteriors to posteriors, each of the new ones a mean of what it received."""

from dataclasses import dataclass

import numpy as np

from utmost.channels import Channel
from utmost.exact import Array, checked, frozen, one_world
from utmost.geometry.refinement import refinement
from utmost.geometry.witnesses import TOLERANCE
from utmost.leakage import Hyper, hyper
from utmost.spaces.priors import prior as check_prior


@dataclass(frozen=True, slots=True, eq=False)
class EarthMove:
    """How much probability moves from which posterior of ``before`` to which one of ``after``.

    Attributes:
        before, after: the hypers of B and of A for one prior.
        amounts: (m, k): all that leaves posterior y of ``before`` is its weight, all that arrives at posterior w of
            ``after`` is its weight, and the mean of what arrives there is the posterior itself:
            sum_y amounts[y, w] before.posteriors[:, y] = after.weights[w] after.posteriors[:, w].
    """

    before: Hyper
    after: Hyper
    amounts: Array

    def __post_init__(self) -> None:
        frozen(self.amounts)

    @checked
    def verify(self, tolerance: float = TOLERANCE) -> bool:
        """Whether the amounts are as stated: exactly where all is exact, else up to the tolerance in every sum."""
        posteriors, amounts, joint = one_world(self.before.posteriors, self.amounts, self.after.joint)
        misses = (
            amounts.sum(axis=1) - self.before.weights,
            amounts.sum(axis=0) - self.after.weights,
            (posteriors @ amounts - joint).ravel(),
        )
        allowed = 0 if self.before.is_exact and self.after.is_exact else tolerance
        return bool((amounts >= 0).all() and all((abs(miss) <= allowed).all() for miss in misses))


@checked
def earth_move(
    B: Channel | object, A: Channel | object, prior: object, tolerance: float = TOLERANCE
) -> EarthMove | None:
    """The refining earth move from the hyper [prior, B] to the hyper [prior, A], or None where there is none.

    It exists exactly if A is a refinement of B on the secrets that the prior does not exclude: the remap P of merged
    outcomes moves weights[y] P[y, w]. For one prior without zeros it therefore decides refinement for all priors.

    Args:
        B, A: (n, m) and (n, k). prior: (n,).
        tolerance: for float64, as in `refinement`.

    Raises:
        NotAChannel, NotAPrior, OutOfRange: for what is none, and for other numbers of secrets.

    Source: [fernandes2022], equation (7) and observation a) after it.

    >>> from utmost.spaces import priors
    >>> move = earth_move([[1, 0], [0, 1]], [["3/4", "1/4"], ["1/4", "3/4"]], priors.uniform(2))
    >>> [[str(v) for v in row] for row in move.amounts], move.verify()
    ([['3/8', '1/8'], ['1/8', '3/8']], True)
    """
    belief = check_prior(prior)
    before, after = hyper(B, belief), hyper(A, belief)
    possible = np.flatnonzero(belief != 0)
    P = refinement(_rows_of(before, possible), _rows_of(after, possible), tolerance)
    if P is None:
        return None
    weights, remap = one_world(before.weights, P.matrix)
    return EarthMove(before, after, np.asarray(weights[:, None] * remap))


def _rows_of(of: Hyper, possible: Array) -> Channel:
    """The channel of a hyper on the secrets that its prior does not exclude."""
    joint = of.joint[possible]
    return Channel(joint / joint.sum(axis=1, keepdims=True))

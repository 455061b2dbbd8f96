"""Refining earth moves: how the posteriors of one channel are mixed into those of a worse one."""

from dataclasses import dataclass

import numpy as np

from utmost.channels import Channel
from utmost.exact import Array, checked, frozen, same_numbers
from utmost.geometry.refinement_proofs import TOLERANCE
from utmost.geometry.refining import refines
from utmost.leakage import Hyper, hyper
from utmost.spaces.priors import prior as check_prior


@dataclass(frozen=True, slots=True, eq=False)
class EarthMove:
    """How much probability moves from which posterior of ``before`` to which one of ``after``.

    Attributes:
        before, after: the hypers of the better and of the worse channel for one prior.
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
        posteriors, amounts, joint = same_numbers(self.before.posteriors, self.amounts, self.after.joint)
        misses = (
            amounts.sum(axis=1) - self.before.weights,
            amounts.sum(axis=0) - self.after.weights,
            (posteriors @ amounts - joint).ravel(),
        )
        allowed = 0 if self.before.is_exact and self.after.is_exact else tolerance
        return bool((amounts >= 0).all() and all((abs(miss) <= allowed).all() for miss in misses))


@checked
def earth_move(
    prior: object, *, better: Channel | object, worse: Channel | object, tolerance: float = TOLERANCE
) -> EarthMove | None:
    """The refining earth move from the hyper [prior, better] to the hyper [prior, worse], or None where there is none.

    It exists exactly if the worse channel is a refinement of the better one on the secrets that the prior does not
    exclude: the remap P of merged outcomes moves weights[y] P[y, w]. For one prior without zeros it therefore decides
    refinement for all priors.

    Args:
        prior: (n,).
        better, worse: (n, m) and (n, k).
        tolerance: for float64, as in `refines`.

    Raises:
        NotAChannel, NotAPrior, OutOfRange: for what is none, and for other numbers of secrets.

    Source: [fernandes2022], equation (7) and observation a) after it.

    >>> from utmost.spaces import priors
    >>> move = earth_move(priors.uniform(2), better=[[1, 0], [0, 1]], worse=[["3/4", "1/4"], ["1/4", "3/4"]])
    >>> [[str(v) for v in row] for row in move.amounts], move.verify()
    ([['3/8', '1/8'], ['1/8', '3/8']], True)
    """
    belief = check_prior(prior)
    before, after = hyper(better, belief), hyper(worse, belief)
    possible = np.flatnonzero(belief != 0)
    first, second = _rows_of(before, possible), _rows_of(after, possible)
    remap = refines(better=first, worse=second, tolerance=tolerance).remap
    if remap is None:
        return None
    weights, shares = same_numbers(before.weights, remap.matrix)
    return EarthMove(before, after, np.asarray(weights[:, None] * shares))


def _rows_of(of: Hyper, possible: Array) -> Channel:
    """The channel of a hyper on the secrets that its prior does not exclude."""
    joint = of.joint[possible]
    return Channel(joint / joint.sum(axis=1, keepdims=True))

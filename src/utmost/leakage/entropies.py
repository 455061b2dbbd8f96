"""Uncertainties that no single action pays for: Shannon entropy, and the number of guesses."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.exact import Array, fractions, frozen, is_exact, to_floats
from utmost.leakage.channel_capacity import Capacity, Kind, as_channel, check_kind
from utmost.leakage.hypers import as_prior
from utmost.leakage.measures import Measure, columns_of
from utmost.leakage.prior_capacity import best_of_corners, uniform_on_sets
from utmost.leakage.shannon import shannon_capacity


@dataclass(frozen=True, slots=True)
class ShannonEntropy(Measure):
    """H(p) = sum_x p_x log2(1/p_x), in bits; always a float.

    Its additive leakage is the mutual information of secret and outcome.
    """

    @property
    def name(self) -> str:  # noqa: D102
        return "Shannon entropy"

    @property
    def rises(self) -> bool:  # noqa: D102
        return False

    def of_columns(self, J: Array) -> Array:
        """sum_x J[x, y] log2(w_y / J[x, y])."""
        joint = to_floats(J) if is_exact(J) else J
        return np.asarray(_relative(joint, np.broadcast_to(joint.sum(axis=0), joint.shape), sign=-1).sum(axis=0))

    def additive_leakage(self, channel: object, prior: object = None) -> float:
        """The mutual information sum J[x, y] log2(J[x, y] / (p_x w_y)), without the cancellation of a difference."""
        joint = columns_of(channel, prior)
        J = to_floats(joint) if is_exact(joint) else joint
        independent = J.sum(axis=1)[:, None] * J.sum(axis=0)[None, :]
        return max(0.0, float(_relative(J, independent, sign=1).sum()))

    def capacity(self, channel: object, kind: Kind = "multiplicative") -> Capacity:
        """The additive one is the Shannon capacity in bits, with a proof of how near it is: see `shannon_capacity`."""
        return shannon_capacity(as_channel(channel)) if kind == "additive" else Measure.capacity(self, channel, kind)


@dataclass(frozen=True, slots=True)
class GuessingEntropy(Measure):
    """G(p) = sum_i i p_(i) with p_(1) >= p_(2) >= ...: the guesses needed, one after another, the likeliest first."""

    @property
    def name(self) -> str:  # noqa: D102
        return "guessing entropy"

    @property
    def rises(self) -> bool:  # noqa: D102
        return False

    def of_columns(self, J: Array) -> Array:  # noqa: D102
        turns = np.arange(len(J), 0, -1)
        weights = fractions(turns) if is_exact(J) else turns.astype(np.float64)
        return np.asarray((np.sort(J, axis=0) * weights[:, None]).sum(axis=0))

    def strategy(self, channel: object, prior: object = None) -> NDArray[np.intp]:
        """In which order to guess: the secrets as columns (n, m), first guess first; of equally likely ones the lowest.

        Args:
            channel: (n, m), or a `Hyper`; or a prior alone.
            prior: (n,), with a channel.
        """
        alone = prior is None and not hasattr(channel, "posteriors")
        J = as_prior(channel)[:, None] if alone else columns_of(channel, prior)
        return frozen(np.argsort(-J, axis=0, kind="stable"))

    def capacity(self, channel: object, kind: Kind = "multiplicative") -> Capacity:
        """Over the uniform distributions on sets of secrets. Cost: O(n m) for each of the 2^n - 1 sets."""
        check_kind(kind)
        C = as_channel(channel)
        return best_of_corners(C, self, kind, uniform_on_sets(C.shape[0]))


def _relative(J: Any, other: Any, sign: int) -> Any:
    """J log2(J / other) or its negative, 0 where J is 0."""
    safe = np.where(J > 0, J, 1.0)
    return np.where(J > 0, sign * J * np.log2(safe / np.where(J > 0, other, 1.0)), 0.0)


shannon_entropy = ShannonEntropy()
"""H(p) = sum_x p_x log2(1/p_x), in bits."""

guessing_entropy = GuessingEntropy()
"""G(p) = the expected number of guesses, one after another, until the secret is found."""

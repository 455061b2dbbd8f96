"""Proofs of verdicts on universal optimality, checked in rationals without any solver."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost.channels import Channel
from utmost.exact import Array
from utmost.geometry.cells import Complex, Prior, as_prior
from utmost.geometry.least_loss import least_losses


@dataclass(frozen=True, slots=True, eq=False)
class Dominance:
    """No mechanism of the type is better than M by more than ``slack``, for any prior.

    At every vertex pi of the cells, z with z . v <= min_w sum_x pi_x v(x) l(x, w) for all vertices v of the type shows
    that no mechanism loses less than sum(z); M loses at most slack more. On a cell M's loss is linear, since one
    action for each outcome is the best at all its vertices, and the least loss is concave: the bound holds all over it.

    Attributes:
        vertices: (n, N) all vertices of the type. loss: (n, k). channel: M. slack: nonnegative.
        cells: cells that fill the simplex of priors.
        duals: z for each of their vertices.
    """

    vertices: Array
    loss: Array
    channel: Channel
    slack: Fraction
    cells: Complex
    duals: dict[Prior, tuple[Fraction, ...]]

    def verify(self) -> bool:
        """Whether every claim holds."""
        return (
            self.cells.fills_the_simplex()
            and all(self._is_linear_on(cell.rays) for cell in self.cells.cells)
            and all(self._holds_at(prior) for prior in self.cells.priors)
        )

    def _is_linear_on(self, rays: tuple[Prior, ...]) -> bool:
        for column in self.channel.matrix.T:
            losses = (np.array(rays, dtype=object) * column) @ self.loss
            if not (losses == losses.min(axis=1)[:, None]).all(axis=0).any():
                return False
        return True

    def _holds_at(self, prior: Prior) -> bool:
        pi, z = as_prior(prior), np.array(self.duals[prior], dtype=object)
        feasible = (z @ self.vertices <= least_losses(self.vertices, self.loss, pi)).all()
        return bool(feasible and expected_loss(self.channel.matrix, self.loss, pi) <= z.sum() + self.slack)


@dataclass(frozen=True, slots=True, eq=False)
class Conflict:
    """Every mechanism of the type has a regret of at least ``regret`` for one of the priors.

    For mechanism k the loss at prior k is known; with weights mu and a z such that z . v <= sum_k mu_k u_v(prior k) for
    all vertices v, every mechanism's mean loss is at least sum(z): by regret more than the mean of the known ones.

    Attributes:
        vertices: (n, N) all vertices of the type. loss: (n, k).
        priors: the conflicting priors. weights: positive, summing to 1. mechanisms: a good one for each prior.
        multipliers: z. regret: positive.
    """

    vertices: Array
    loss: Array
    priors: tuple[Array, ...]
    weights: tuple[Fraction, ...]
    mechanisms: tuple[Channel, ...]
    multipliers: tuple[Fraction, ...]
    regret: Fraction

    def verify(self) -> bool:
        """Whether every claim holds; that the mechanisms belong to the type is for `PrivacyType.contains`."""
        z = np.array(self.multipliers, dtype=object)
        mean = sum(
            w * least_losses(self.vertices, self.loss, pi) for w, pi in zip(self.weights, self.priors, strict=True)
        )
        known = sum(
            w * expected_loss(m.matrix, self.loss, pi)
            for w, m, pi in zip(self.weights, self.mechanisms, self.priors, strict=True)
        )
        is_mean = min(self.weights) > 0 and sum(self.weights) == 1
        return bool(is_mean and (z @ self.vertices <= mean).all() and z.sum() - known == self.regret > 0)


def expected_loss(columns: Array, loss: Array, prior: Array) -> Fraction:
    """sum_y min_w sum_x pi_x C[x, y] l(x, w)."""
    return Fraction(least_losses(columns, loss, prior).sum())

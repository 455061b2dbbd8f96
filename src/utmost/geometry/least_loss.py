"""The least loss that any mechanism of a privacy type gives, prior by prior, with its proof."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost.channels import Channel
from utmost.errors import NotALoss, Unsupported
from utmost.exact import Array, as_array, fractions, is_exact
from utmost.geometry.cells import Prior, as_prior
from utmost.geometry.vertices import Vertices, vertices
from utmost.privacy import PrivacyType
from utmost.programs.whole import Solution, Tableau, whole
from utmost.spaces import Loss


@dataclass(frozen=True, slots=True, eq=False)
class LeastLoss:
    """The least expected loss f(pi) over a privacy type: vertices have prices, a mechanism is a bundle with row sums 1.

    U(pi, M) = sum_v lambda_v min_w sum_x pi_x v(x) l(x, w) for M = sum_v lambda_v v, and the best mechanism for a
    prior is a linear program in lambda with one row for each secret.

    Attributes:
        columns: (n, N) Fractions, the vertices. loss: (n, k) Fractions.
        scaled: (n, N) integers: columns, each times its scale. scales: (N,).
        start: a first mechanism, as a basis.
    """

    columns: Array
    loss: Array
    scaled: Array
    scales: tuple[int, ...]
    start: Tableau

    @classmethod
    def of(cls, ptype: PrivacyType, loss: object) -> "LeastLoss":
        """The least of a type and a loss.

        Raises:
            Unsupported: where some alpha^d is irrational, or the loss is float64.
        """
        listed = vertices(ptype)
        if not listed.is_exact:
            raise Unsupported(
                "universal optimality is decided in rational arithmetic only",
                came=f"irrational alpha^d at {ptype.level}",
                mend='Give the level as alpha="1/2", say, and a space with whole distances.',
            )
        return cls._of_vertices(listed, exact_loss(loss, ptype.space.size))

    @classmethod
    def _of_vertices(cls, listed: Vertices, loss: Array) -> "LeastLoss":
        columns = listed.weights
        pairs = [whole(column) for column in columns.T]
        scaled = np.array([integers for integers, _ in pairs], dtype=object).T
        right = np.full(len(columns), 1, dtype=object)
        return cls(columns, loss, scaled, tuple(scale for _, scale in pairs), Tableau.feasible(scaled, right))

    def prices(self, prior: Array) -> Array:
        """min_w sum_x pi_x v(x) l(x, w) for every vertex v; (N,) Fractions."""
        return least_losses(self.columns, self.loss, prior)

    def scaled_prices(self, prior: Prior) -> Array:
        """The prices of the scaled vertices at a prior."""
        return np.asarray(self.prices(as_prior(prior)) * np.array(self.scales, dtype=object))

    def at(self, priors: tuple[Prior, ...]) -> Iterator[tuple[Prior, Solution]]:
        """The best bundle for each prior, and the dual that proves it; each search starts where the last one ended."""
        at = self.start
        for prior in priors:
            costs, denominator = whole(self.scaled_prices(prior))
            found, at = at.minimise(costs)
            bundle = tuple(x * scale for x, scale in zip(found.x, self.scales, strict=True))
            dual = tuple(z / denominator for z in found.dual)
            yield prior, Solution(found.value / denominator, bundle, dual)

    def channel(self, bundle: tuple[Fraction, ...]) -> Channel:
        """The mechanism of a bundle: its columns are the vertices bought, in their amounts."""
        bought = [k for k, amount in enumerate(bundle) if amount]
        return Channel(self.columns[:, bought] * np.array([bundle[k] for k in bought], dtype=object))


def least_losses(columns: Array, loss: Array, prior: Array) -> Array:
    """min_w sum_x pi_x C[x, y] l(x, w) for every column y: the loss after the best remap, outcome by outcome."""
    return np.asarray(((columns.T * prior) @ loss).min(axis=1))


def exact_loss(loss: object, secrets: int) -> Array:
    """A loss as an (n, k) matrix of Fractions: a named loss or a matrix.

    Raises:
        Unsupported: for float64. NotALoss: for a matrix with another number of rows.
    """
    matrix = loss.matrix(secrets) if isinstance(loss, Loss) else as_array(loss, "loss", ndim=2)
    if matrix.dtype.kind in "iu":
        matrix = fractions(matrix)
    if not is_exact(matrix):
        raise Unsupported("universal optimality is decided for exact losses only", came="a float64 loss")
    if len(matrix) != secrets:
        raise NotALoss(f"the loss must have {secrets} rows", came=len(matrix))
    return matrix

"""Variances in closed form, if the groups of every level of every axis have one size (orthogonal block structure).

The groups of a marginal S have m_S cells each, and each of its sums has noise of precision p_S. Averages over the
groups of two marginals commute, so least squares splits into eigenspaces T: one for each choice of a level on each
axis. With

    lambda_T = sum of m_S p_S over the marginals S that are nowhere coarser than T,

the variance of the best linear unbiased estimate of w.x is the sum over T of |Q_T w|^2 / lambda_T. The cost depends on
the number of levels, not on the number of cells. See proofs/theory/workloads.md.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import wrong_kind
from utmost.core.exact.arrays import Array, Floats, frozen, unpickler
from utmost.core.exact.display import Display
from utmost.errors import OutOfRange, Unsupported
from utmost.publish.workloads.measuring.spectra import Chain, group_spectrum
from utmost.tables.axes.domain import Domain, Marginal

MOST_PAIRS = 10**8


def precision(level: Any) -> Any:
    """Return 1/variance of geometric noise at a level: cosh(level) - 1, accurate down to level 0; a float or an array.

    Levels above 650, whose variance is below 10^-281, count as 650.

    >>> float(precision(1e-9)), round(1 / float(precision(1.0)), 6)
    (5e-19, 1.841347)
    """
    return 2 * np.sinh(np.minimum(np.asarray(level, dtype=float), 650.0) / 2)[()] ** 2


def relative_precision(share: Any, level: float) -> Any:
    """Return precision(share * level) / precision(level) for shares in [0, 1], without overflow of either precision."""
    part = np.asarray(share, dtype=float)
    # sinh(x) = exp(x) (1 - exp(-2x))/2
    return (np.exp((part - 1) * level / 2) * np.expm1(-part * level) / np.expm1(-level))[()] ** 2


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class VarianceComponents(Display):
    """The marginals S and the eigenspaces T of a domain, and the pairs (S, T) in which S is nowhere coarser than T."""

    chains: tuple[Chain, ...]  # for each axis, the group sizes of its levels, then its number of values
    marginals: tuple[Marginal, ...]  # the marginals S, which are columns
    eigenspaces: tuple[Marginal, ...] = field(repr=False)  # the eigenspaces T, which are rows
    sizes: Floats = field(repr=False)  # m_S, the cells in a group of S; (marginals,)
    # the dimension of T; 0 if a level of T has the same groups as the next one; (eigenspaces,)
    dimensions: Floats = field(repr=False)
    below: NDArray[np.bool_] = field(repr=False)  # whether S is nowhere coarser than T; (eigenspaces, marginals)
    cells: int

    @classmethod
    def of(
        cls, domain: Domain, marginals: Iterable[Marginal] | None = None, eigenspaces: Iterable[Marginal] | None = None
    ) -> "VarianceComponents":
        """Return the components of a domain of even levels, for these S and T; by default for all S and all T."""
        chains = chains_of(domain)
        columns = tuple(domain.marginals() if marginals is None else marginals)
        rows = tuple(domain.marginals() if eigenspaces is None else eigenspaces)
        return _blocks(chains, columns, rows)

    def __reduce__(self) -> tuple[Any, ...]:
        return _blocks, (self.chains, self.marginals, self.eigenspaces)

    def spectrum(self, factors: Sequence[Sequence[Fraction]]) -> Array:
        """Return |Q_T w|^2 of a product row w, from the spectra of its factors; (eigenspaces,), Fractions."""
        squares = np.empty(len(self.eigenspaces), dtype=object)
        for row, T in enumerate(self.eigenspaces):
            squares[row] = prod((factor[t] for factor, t in zip(factors, T, strict=True)), start=Fraction(1))
        return frozen(squares)

    def eigenvalues(self, precisions: Floats) -> Floats:
        """Return lambda_T from the marginals' precisions; (..., marginals) to (..., eigenspaces)."""
        return np.asarray(np.asarray(precisions, dtype=float) * self.sizes @ self.below.T)

    def value(self, spectrum: Array, levels: Floats) -> float:
        """Return the sum over T of spectrum / lambda_T at the marginals' levels; inf if it is not determined."""
        # The spectrum of an answer gives its variance; the spectrum of a workload gives the weighted sum of variances.
        # Each level is for a change of a sum by 1: in a plan, epsilon / (cells * sensitivity) times the share.
        return weighed(spectrum, self.eigenvalues(precision(levels)))

    def variance(self, marginal: Marginal, levels: Floats) -> float:
        """Return the variance of the sum over one group of a marginal; inf if it is not determined."""
        # |Q_T w|^2 for the sum w over one group; (eigenspaces,)
        spectrum = self.spectrum(
            [group_spectrum(chain, level) for chain, level in zip(self.chains, marginal, strict=True)]
        )
        return self.value(spectrum, levels)


def chains_of(domain: Domain) -> tuple[Chain, ...]:
    if not isinstance(domain, Domain):
        raise wrong_kind("domain", "a Domain", domain)
    chains = []
    for name, axis in zip(domain.columns, domain.axes, strict=True):
        chain = axis.blocks
        if chain is None:
            raise Unsupported(
                "all groups of a level must have the same size",
                came="groups of several sizes",
                where=f"axis {name!r}",
                remedy="Declare the values of the coarser level as a separate axis, or leave the level out.",
            )
        chains.append(chain)
    return tuple(chains)


def weighed(spectrum: Array, eigenvalues: Floats) -> float:
    """Return the sum of spectrum / eigenvalue over the eigenspaces in which the spectrum is not 0."""
    squares = np.asarray(spectrum, dtype=float)
    present = squares > 0
    with np.errstate(divide="ignore"):
        return float((squares[present] / eigenvalues[present]).sum())


@unpickler
def _blocks(chains: tuple[Chain, ...], columns: tuple[Marginal, ...], rows: tuple[Marginal, ...]) -> VarianceComponents:
    if len(rows) * len(columns) > MOST_PAIRS:
        remedy = "Pass fewer candidates=."
        raise OutOfRange(
            "the number of tables times the number of eigenspaces must be at most 10^8",
            came="a larger product",
            remedy=remedy,
        )
    below = np.ones((len(rows), len(columns)), dtype=bool)
    for axis in range(len(chains)):
        below &= np.array([S[axis] for S in columns])[None, :] <= np.array([T[axis] for T in rows])[:, None]
    sizes = np.array([prod(chain[s] for chain, s in zip(chains, S, strict=True)) for S in columns], dtype=float)
    dimensions = np.array(
        [prod(dimension(chain, t) for chain, t in zip(chains, T, strict=True)) for T in rows], dtype=float
    )
    cells = prod(chain[-1] for chain in chains)
    return VarianceComponents(chains, columns, rows, frozen(sizes), frozen(dimensions), frozen(below), cells)


def dimension(chain: Sequence[int], level: int) -> int:
    """Return the dimension of an axis' eigenspace: the number of its level's groups minus that of the next level's."""
    coarser = chain[-1] // chain[level + 1] if level + 1 < len(chain) else 0
    return chain[-1] // chain[level] - coarser

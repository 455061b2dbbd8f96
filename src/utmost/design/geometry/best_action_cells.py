"""Cells of priors on which a consumer's best actions are constant, and certificates of universal optimality on them.

This module checks verdicts on universal optimality without a solver.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import gcd
from operator import or_
from typing import Any

import numpy as np

from utmost.core.exact.arrays import Array, as_array, as_integers, fractions, is_exact
from utmost.design.geometry.power_channels import AnyChannel, exact_weights, is_member
from utmost.design.geometry.power_numbers import PowerNumber, images_decide
from utmost.design.geometry.vertex_search import vertices
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.design.spaces.losses import Loss
from utmost.errors import NotALoss, Unsupported

PriorVector = tuple[Any, ...]
"""A prior up to scale: integers without a common factor, or numbers with sum 1 if irrational powers occur."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cone of priors, given by its vertices and, for each vertex, the hyperplanes of a `Complex` through it."""

    rays: tuple[PriorVector, ...]
    on: tuple[int, ...]  # bit masks of the numbers of the hyperplanes


@dataclass(frozen=True, slots=True)
class Complex:
    """The simplex of priors cut into cells, each with one best action for every outcome."""

    size: int
    planes: tuple[PriorVector, ...]  # integer normals of all hyperplanes, first the n coordinate planes
    cells: tuple[Cell, ...]  # they cover the simplex and meet in common faces

    @classmethod
    def of(cls, columns: Array, loss: Array) -> "Complex":
        """Return the cells for exact columns (n, m) and a loss (n, k); this can take time exponential in n."""
        # The cells of sum_y min_w sum_x pi_x C[x, y] l(x, w), column after column.
        n = len(columns)
        units = tuple(tuple(int(x == y) for x in range(n)) for y in range(n))
        actions = sorted({tuple(action) for action in as_integers(loss)[0].T})
        planes = {unit: k for k, unit in enumerate(units)}
        cells = [Cell(units, tuple(((1 << n) - 1) & ~(1 << k) for k in range(n)))]
        # Columns that are proportional have the same cells.
        directions = {_without_common_factor(over_one_denominator(column)[0]) for column in columns.T if any(column)}
        for column in sorted(directions):
            costs = np.array(column, dtype=object)[:, None] * np.array(actions, dtype=object).T
            parts = []
            for cell in cells:
                # The parts where each action is best for this column: where sum_x pi_x costs[x, w] is least.
                values = np.array(cell.rays, dtype=object) @ costs
                if (values == values.min(axis=1)[:, None]).all(axis=0).any():
                    parts.append(cell)
                    continue
                for w in range(len(actions)):
                    part: Cell | None = cell
                    for other in range(len(actions)):
                        if part is not None and other != w:
                            part = _clipped(part, tuple(costs[:, other] - costs[:, w]), planes)
                    if part is not None:
                        parts.append(part)
            cells = parts
        return cls(n, tuple(planes), tuple(cells))

    @property
    def priors(self) -> tuple[PriorVector, ...]:
        return tuple(sorted({ray for cell in self.cells for ray in cell.rays}))

    def fills_the_simplex(self) -> bool:
        """Check that every facet lies on the border of the simplex, or is shared with one cell on its other side."""
        # If so, the cells cover the simplex: the border of a gap would contain a facet without a cell on its other
        # side.
        across: dict[frozenset[PriorVector], list[int]] = {}
        for cell in self.cells:
            touched = reduce(or_, cell.on) >> self.size
            for number in range(self.size, self.size + touched.bit_length()):
                heights = [_dot(self.planes[number], ray) for ray in cell.rays]
                facet = frozenset(ray for ray, height in zip(cell.rays, heights, strict=True) if not height)
                if touched >> number - self.size & 1 and _rank(list(facet)) == self.size - 1:
                    signs = {h.sign if isinstance(h, PowerNumber) else (h > 0) - (h < 0) for h in heights}
                    across.setdefault(facet, []).extend(signs - {0})
        return bool(self.cells) and all(sorted(sides) == [-1, 1] for sides in across.values())


def exact_prior(ray: PriorVector) -> Array:
    """Return the prior in the direction of a ray, as exact numbers that sum to 1."""
    if all(isinstance(x, int) for x in ray):
        return np.array([Fraction(x, sum(ray)) for x in ray], dtype=object)
    return np.array([Fraction(x) if isinstance(x, int) else x for x in ray], dtype=object)


def over_one_denominator(values: Any) -> tuple[Array, int]:
    """Return rationals as integers over one denominator; irrational numbers are returned unchanged, over 1."""
    flat = np.asarray(values, dtype=object)
    return (flat, 1) if any(isinstance(x, PowerNumber) for x in flat.flat) else as_integers(flat)


def _clipped(cell: Cell, normal: PriorVector, planes: dict[PriorVector, int]) -> Cell | None:
    """Return the part of a cell with normal . pi >= 0; None if it has no interior."""
    if not any(normal):
        return cell
    heights = [_dot(normal, ray) for ray in cell.rays]
    if max(heights) <= 0:
        return None
    # The key of a plane: its normal without common factor, with a positive first nonzero entry, which is 1 if entries
    # are irrational.
    if any(isinstance(v, PowerNumber) for v in normal):
        head = next(v for v in normal if v)
        key = tuple(v / head if v else 0 for v in normal)
    else:
        reduced = _without_common_factor(normal)
        key = reduced if next(x for x in reduced if x) > 0 else tuple(-x for x in reduced)
    # Vertices on this plane must be marked even if the plane does not cut the cell.
    if min(heights) >= 0 and key not in planes:
        return cell
    bit = 1 << planes.setdefault(key, len(planes))
    rays = [
        (ray, on | (bit if h == 0 else 0)) for ray, on, h in zip(cell.rays, cell.on, heights, strict=True) if h >= 0
    ]
    for i, up in enumerate(heights):
        for j, down in enumerate(heights):
            # An edge that crosses the plane gives a new vertex. Two vertices are its ends if no third vertex is on all
            # the planes that both are on.
            common = cell.on[i] & cell.on[j]
            if up > 0 > down and not any(k not in (i, j) and on & common == common for k, on in enumerate(cell.on)):
                ray = _without_common_factor(
                    [up * b - down * a for a, b in zip(cell.rays[i], cell.rays[j], strict=True)]
                )
                rays.append((ray, common | bit))
    return Cell(tuple(ray for ray, _ in rays), tuple(on for _, on in rays))


def _dot(a: PriorVector, b: PriorVector) -> Any:
    return sum(x * y for x, y in zip(a, b, strict=True))


def _without_common_factor(values: Iterable[Any]) -> PriorVector:
    """Return nonnegative numbers, or an integer normal, divided by their common factor."""
    numbers = list(values)
    if any(isinstance(v, PowerNumber) for v in numbers):
        total = sum(numbers)
        return tuple(v / total for v in numbers)
    integers = [int(v) for v in numbers]
    common = gcd(*integers)
    return tuple(v // common for v in integers)


def _rank(rays: list[PriorVector]) -> int:
    rows = [list(ray) for ray in rays]
    rank = 0
    for c in range(len(rows[0]) if rows else 0):
        pivot = next((r for r in range(rank, len(rows)) if rows[r][c]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        for r in range(rank + 1, len(rows)):
            if rows[r][c]:
                # Cross-multiply, so that integers stay integers.
                a, b = rows[rank][c], rows[r][c]
                rows[r] = [a * y - b * x for x, y in zip(rows[rank], rows[r], strict=True)]
        rank += 1
    return rank


def least_losses(columns: Array, loss: Array, prior: Array) -> Array:
    """Return min_w sum_x pi_x C[x, y] l(x, w) for every column y."""
    return np.asarray(((columns.T * prior) @ loss).min(axis=1))


def exact_loss(loss: object, secrets: int) -> Array:
    """Return an exact loss as an (n, k) matrix of Fractions, from a named loss or a matrix."""
    matrix = loss.matrix(secrets) if isinstance(loss, Loss) else as_array(loss, "loss", ndim=2)
    if matrix.dtype.kind in "iu":
        matrix = fractions(matrix)
    if not is_exact(matrix):
        remedy = "Give integers, Fractions or text; a power needs an integer exponent, such as power:3."
        raise Unsupported("universal optimality needs an exact loss", came="a float64 loss", remedy=remedy)
    if len(matrix) != secrets:
        raise NotALoss(f"the loss must have {secrets} rows, one for each secret", came=len(matrix))
    return matrix


@dataclass(frozen=True, slots=True, eq=False)
class Dominance:
    """A certificate that no mechanism of the type is better than ``channel`` by more than ``slack``, for any prior."""

    # At a vertex pi of the cells, z with z . v <= min_w sum_x pi_x v(x) l(x, w) for all vertices v of the type proves
    # that every mechanism loses at least sum(z), and the channel loses at most slack more. On a cell the loss of the
    # channel is linear, because each outcome has one best action there, and the least loss is concave: the bound holds
    # on the cell.
    ptype: PrivacyType
    loss: Array  # (n, k)
    channel: AnyChannel
    slack: Any
    cells: Complex
    # z for each vertex of the cells.
    duals: dict[PriorVector, tuple[Any, ...]]

    @property
    def vertices(self) -> Array:
        """All vertices of the type, listed again: (n, N)."""
        return exact_weights(vertices(self.ptype))

    def verify(self) -> bool:
        """Check all claims, with vertices and cells computed again, because stored lists could be incomplete."""
        if not _are_exact(self.loss, self.channel.matrix, [self.slack], *self.duals.values()):
            return False
        if self.slack < 0 or not _fit_type(self.ptype, self.loss, self.channel):
            return False
        columns = self.vertices
        with images_decide():  # for this search only: the checks below are exact
            cells = Complex.of(self.channel.matrix, self.loss)
        stated, computed = ({frozenset(cell.rays) for cell in some.cells} for some in (self.cells, cells))
        if stated != computed or not cells.fills_the_simplex():
            return False
        # On each cell the loss of the channel is linear: every outcome has one action that is best at all its vertices.
        for cell in cells.cells:
            for column in self.channel.matrix.T:
                losses = (np.array(cell.rays, dtype=object) * column) @ self.loss
                if not (losses == losses.min(axis=1)[:, None]).all(axis=0).any():
                    return False
        for prior in cells.priors:
            pi, z = exact_prior(prior), np.array(self.duals.get(prior, ()), dtype=object)
            if z.shape != (len(columns),) or not (z @ columns <= least_losses(columns, self.loss, pi)).all():
                return False
            if exact_expected_loss(self.channel.matrix, self.loss, pi) > z.sum() + self.slack:
                return False
        return True


@dataclass(frozen=True, slots=True, eq=False)
class Conflict:
    """A certificate that every mechanism of the type has a regret of at least ``regret`` for one of the priors."""

    # With weights mu and z such that z . v <= sum_k mu_k u_v(prior k) for all vertices v, the mean loss of every
    # mechanism is at least sum(z), which exceeds the mean of the losses of the given mechanisms, each at its prior, by
    # ``regret``.
    ptype: PrivacyType
    loss: Array
    priors: tuple[Array, ...]
    weights: tuple[Any, ...]  # mu, positive with sum 1
    mechanisms: tuple[AnyChannel, ...]  # a good mechanism for each prior
    multipliers: tuple[Any, ...]  # z
    regret: Any

    def verify(self) -> bool:
        """Check all claims, with the vertices of the type listed again."""
        z = np.array(self.multipliers, dtype=object)
        if not _are_exact(self.loss, z, self.weights, [self.regret], *self.priors):
            return False
        if len({len(self.weights), len(self.priors), len(self.mechanisms)}) != 1 or not self.weights:
            return False
        n = self.ptype.space.size
        if z.shape != (n,) or not all(_is_distribution(prior, n) for prior in self.priors):
            return False
        if not _is_distribution(self.weights, len(self.weights)) or not _fit_type(
            self.ptype, self.loss, *self.mechanisms
        ):
            return False
        columns = exact_weights(vertices(self.ptype))
        mean = sum(w * least_losses(columns, self.loss, pi) for w, pi in zip(self.weights, self.priors, strict=True))
        known = sum(
            w * exact_expected_loss(m.matrix, self.loss, pi)
            for w, m, pi in zip(self.weights, self.mechanisms, self.priors, strict=True)
        )
        return bool((z @ columns <= mean).all() and z.sum() - known == self.regret > 0)


def _fit_type(ptype: PrivacyType, loss: Array, *channels: AnyChannel) -> bool:
    """Check that a loss is on the secrets of a type, and that exact channels are of the type."""
    n = ptype.space.size
    return (
        loss.ndim == 2
        and len(loss) == n
        and all(
            channel.shape[0] == n and _are_exact(channel.matrix) and is_member(ptype, channel) for channel in channels
        )
    )


def _is_distribution(values: Any, size: int) -> bool:
    return np.shape(values) == (size,) and all(x >= 0 for x in values) and sum(values) == 1


def _are_exact(*lists: Any) -> bool:
    """Check that no number is a float, because rounded sums prove nothing."""
    return all(isinstance(x, int | Fraction | PowerNumber | np.integer) for some in lists for x in np.ravel(some))


def exact_expected_loss(columns: Array, loss: Array, prior: Array) -> Any:
    """Return the expected loss sum_y min_w sum_x pi_x C[x, y] l(x, w)."""
    total = least_losses(columns, loss, prior).sum()
    return total if isinstance(total, PowerNumber) else Fraction(total)

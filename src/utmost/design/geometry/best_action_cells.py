"""Prove that a mechanism has the least loss for every prior, by certificates that are checked without a solver.

The certificates divide the set of priors into cells. Within a cell, the best actions of a consumer are constant.
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
from utmost.core.exact.progress_bar import report_progress
from utmost.design.geometry.power_channels import AnyChannel, exact_weights, is_member
from utmost.design.geometry.power_numbers import PowerNumber, images_decide
from utmost.design.geometry.vertex_search import vertices
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.design.spaces.losses import Loss
from utmost.errors import NotALoss, Unsupported

PriorVector = tuple[Any, ...]
"""A prior up to a positive factor: integers without a common factor or, if powers are irrational, numbers that sum to
1.
"""


@dataclass(frozen=True, slots=True)
class Cell:
    """A convex set of priors, given by its vertices and by the hyperplanes of a `Complex` through each vertex."""

    rays: tuple[PriorVector, ...]
    on: tuple[int, ...]  # for each vertex, a bit mask of the indices of hyperplanes through it


@dataclass(frozen=True, slots=True)
class Complex:
    """The simplex of priors, divided into cells; within a cell, each outcome of a channel has one best action."""

    size: int
    planes: tuple[PriorVector, ...]  # integer normals of all hyperplanes, first the n coordinate planes
    cells: tuple[Cell, ...]  # cells that cover the simplex and meet in common faces

    @classmethod
    def of(cls, columns: Array, loss: Array) -> "Complex":
        """Return the cells for a channel with exact columns (n, m) and a loss (n, k). The time may be exponential in
        n.
        """
        # Each column y divides the cells where the action w that minimises sum_x pi_x C[x, y] l(x, w) changes.
        n = len(columns)
        units = tuple(tuple(int(x == y) for x in range(n)) for y in range(n))
        actions = sorted({tuple(action) for action in as_integers(loss)[0].T})
        planes = {unit: k for k, unit in enumerate(units)}
        cells = [Cell(units, tuple(((1 << n) - 1) & ~(1 << k) for k in range(n)))]
        # Proportional columns divide the cells at the same hyperplanes.
        directions = {_without_common_factor(over_one_denominator(column)[0]) for column in columns.T if any(column)}
        for done, column in enumerate(sorted(directions)):
            report_progress(done, len(directions), f"{len(cells)} cells of priors")
            costs = np.array(column, dtype=object)[:, None] * np.array(actions, dtype=object).T
            parts = []
            for cell in cells:
                # Divide the cell into parts, in each of which one action w has the least sum_x pi_x costs[x, w].
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
        """Check that every facet of a cell lies on the border of the simplex or is a facet of one other cell."""
        # Then the cells cover the simplex: a gap between cells would have a facet without a cell on its other side.
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
    """Return rationals as integers and their common denominator; for irrational numbers, return them unchanged and the
    denominator 1.
    """
    flat = np.asarray(values, dtype=object)
    return (flat, 1) if any(isinstance(x, PowerNumber) for x in flat.flat) else as_integers(flat)


def _clipped(cell: Cell, normal: PriorVector, planes: dict[PriorVector, int]) -> Cell | None:
    """Return the part of a cell with normal . pi >= 0; None if it has no interior."""
    if not any(normal):
        return cell
    heights = [_dot(normal, ray) for ray in cell.rays]
    if max(heights) <= 0:
        return None
    # The key of a plane is its normal without a common factor. Its first nonzero entry is positive, and is 1 if entries
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
            # An edge that crosses the plane gives a new vertex. Two vertices are the ends of an edge if no third vertex
            # lies on all hyperplanes that contain both.
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
    """Return integers divided by their greatest common divisor, or irrational numbers divided by their sum."""
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
    """Return min_w sum_x pi_x C[x, y] l(x, w) for every column y, with C = ``columns`` and pi = ``prior``."""
    if any(isinstance(x, PowerNumber) for some in (columns, prior) for x in some.flat):
        return np.asarray(((columns.T * prior) @ loss).min(axis=1))
    # Sums of integers are many times as fast as those of Fractions.
    (C, c), (p, d), (L, e) = as_integers(columns), as_integers(prior), as_integers(loss)
    least, scale = ((C.T * p) @ L).min(axis=1), c * d * e
    return np.array([Fraction(value, scale) for value in least.tolist()], dtype=object)


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
    """A certificate that at every prior, the expected loss of ``channel`` exceeds the least expected loss by at most
    ``slack``.
    """

    # Let the prior pi be a vertex of a cell, and z a vector with z . v <= min_w sum_x pi_x v(x) l(x, w) for all
    # vertices v of the type. Then every mechanism loses at least sum(z) at pi, and the channel loses at most sum(z) +
    # slack. On a cell the loss of the channel is linear, because each outcome has one best action there, and the least
    # loss is concave, so the bound holds on the whole cell.
    ptype: PrivacyType
    loss: Array  # (n, k) the loss
    channel: AnyChannel
    slack: Any
    cells: Complex
    # The vector z for each vertex of the cells.
    duals: dict[PriorVector, tuple[Any, ...]]

    @property
    def vertices(self) -> Array:
        """All vertices of the type as the columns of an array (n, N), computed again at each call."""
        return exact_weights(vertices(self.ptype))

    def verify(self) -> bool:
        """Check all claims. Vertices and cells are computed again, because the stored lists could be incomplete."""
        if not _are_exact(self.loss, self.channel.matrix, [self.slack], *self.duals.values()):
            return False
        if self.slack < 0 or not _fit_type(self.ptype, self.loss, self.channel):
            return False
        columns = self.vertices
        with images_decide():  # floats are used for this search only: the checks below are exact
            cells = Complex.of(self.channel.matrix, self.loss)
        stated, computed = ({frozenset(cell.rays) for cell in some.cells} for some in (self.cells, cells))
        if stated != computed or not cells.fills_the_simplex():
            return False
        # The loss of the channel is linear on a cell if every outcome has one action that is best at all vertices of
        # the cell.
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
    """A certificate that every mechanism of the type has, at one or more of the priors in ``priors``, a regret of at
    least ``regret``.
    """

    # Let mu be weights of the priors, u_v(pi) = min_w sum_x pi_x v(x) l(x, w), and z a vector with z . v <= sum_k mu_k
    # u_v(priors[k]) for all vertices v of the type. Then the weighted mean loss of every mechanism over the priors is
    # at least sum(z). The weighted mean of the losses of mechanisms[k] at priors[k] is sum(z) - ``regret``.
    ptype: PrivacyType
    loss: Array
    priors: tuple[Array, ...]
    weights: tuple[Any, ...]  # mu, positive with sum 1
    mechanisms: tuple[AnyChannel, ...]  # for each prior, the mechanism to which others are compared
    multipliers: tuple[Any, ...]  # z
    regret: Any

    def verify(self) -> bool:
        """Check all claims. The vertices of the type are computed again."""
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
    """Return whether a loss has one row for each secret of a type, and all ``channels`` are exact and of the type."""
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
    """Return whether no number is a float. Floats are refused because rounded sums prove nothing."""
    return all(isinstance(x, int | Fraction | PowerNumber | np.integer) for some in lists for x in np.ravel(some))


def exact_expected_loss(columns: Array, loss: Array, prior: Array) -> Any:
    """Return the expected loss sum_y min_w sum_x pi_x C[x, y] l(x, w), with C = ``columns`` and pi = ``prior``."""
    total = least_losses(columns, loss, prior).sum()
    return total if isinstance(total, PowerNumber) else Fraction(total)

"""The cells of priors on which a consumer's best actions stay the same, and what numbers on them prove.

This module checks verdicts on universal optimality; it has no solver.
"""

from collections.abc import Iterable, Iterator
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
"""A prior up to scale: integers without a common factor, or, where irrational powers occur, numbers that sum to 1."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cone of priors with a vertex set and, for each vertex, the hyperplanes that it lies on.

    Attributes:
        rays: Vertices.
        on: Bit mask, for each vertex, of the numbers of the hyperplanes of a `Complex` on which it lies.
    """

    rays: tuple[PriorVector, ...]
    on: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Complex:
    """The simplex of priors cut into cells, each with a best action for every outcome, the same all over the cell.

    Attributes:
        size: Number n of secrets.
        planes: Normals of all hyperplanes, as integers; the first n are the coordinate planes.
        cells: Cells; they fill the simplex and meet in common faces.
    """

    size: int
    planes: tuple[PriorVector, ...]
    cells: tuple[Cell, ...]

    @classmethod
    def of(cls, columns: Array, loss: Array) -> "Complex":
        """The cells for the outcomes given as exact columns (n, m) and a loss (n, k).

        The cells of sum_y min_w sum_x pi_x C[x, y] l(x, w), column after column. Cost: exponential in n at worst.

        >>> halves = Complex.of(np.array([[Fraction(1)], [Fraction(1)]]), np.array([[0, 1], [1, 0]]))
        >>> halves.priors
        ((0, 1), (1, 0), (1, 1))
        """
        n = len(columns)
        units = tuple(tuple(int(x == y) for x in range(n)) for y in range(n))
        actions = sorted({tuple(action) for action in as_integers(loss)[0].T})
        planes = {unit: k for k, unit in enumerate(units)}
        cells = [Cell(units, tuple(((1 << n) - 1) & ~(1 << k) for k in range(n)))]
        for column in _directions(columns):
            costs = np.array(column, dtype=object)[:, None] * np.array(actions, dtype=object).T
            cells = [part for cell in cells for part in _parts_by_action(cell, costs, planes)]
        return cls(n, tuple(planes), tuple(cells))

    @property
    def priors(self) -> tuple[PriorVector, ...]:
        """The vertices of all cells, sorted."""
        return tuple(sorted({ray for cell in self.cells for ray in cell.rays}))

    def fills_the_simplex(self) -> bool:
        """Whether every facet of a cell lies on a face of the simplex, or belongs to one other cell, across it.

        Cells that do so leave no room: the border of a gap would hold a facet without a cell across it.
        """
        across: dict[frozenset[PriorVector], list[int]] = {}
        for cell in self.cells:
            for facet, normal in self._facets(cell):
                side = {_sign(_dot(normal, ray)) for ray in cell.rays} - {0}
                across.setdefault(facet, []).extend(side)
        return bool(self.cells) and all(sorted(sides) == [-1, 1] for sides in across.values())

    def _facets(self, cell: Cell) -> Iterator[tuple[frozenset[PriorVector], PriorVector]]:
        """The facets of a cell inside the simplex, with the normals of their hyperplanes."""
        touched = reduce(or_, cell.on) >> self.size
        for number in range(self.size, self.size + touched.bit_length()):
            normal = self.planes[number]
            facet = frozenset(ray for ray in cell.rays if not _dot(normal, ray))
            if touched >> number - self.size & 1 and _rank(list(facet)) == self.size - 1:
                yield facet, normal


def exact_prior(ray: PriorVector) -> Array:
    """The prior itself, as Fractions, or irrational numbers, that sum to 1."""
    if all(isinstance(x, int) for x in ray):
        return np.array([Fraction(x, sum(ray)) for x in ray], dtype=object)
    return np.array([Fraction(x) if isinstance(x, int) else x for x in ray], dtype=object)


def over_one_denominator(values: Any) -> tuple[Array, int]:
    """Rationals as integers over one denominator; irrational numbers as they are, over 1."""
    flat = np.asarray(values, dtype=object)
    return (flat, 1) if any(isinstance(x, PowerNumber) for x in flat.flat) else as_integers(flat)


def _directions(columns: Array) -> list[PriorVector]:
    """The columns up to scale, each once; zero columns say nothing."""
    directions = {_without_common_factor(over_one_denominator(column)[0]) for column in columns.T if any(column)}
    return sorted(directions)


def _parts_by_action(cell: Cell, costs: Array, planes: dict[PriorVector, int]) -> list[Cell]:
    """The parts of a cell in which each action is the best for one column: sum_x pi_x costs[x, w] is least."""
    values = np.array(cell.rays, dtype=object) @ costs
    best = values == values.min(axis=1)[:, None]
    if best.all(axis=0).any():
        return [cell]
    parts = []
    for w in range(costs.shape[1]):
        part: Cell | None = cell
        for other in range(costs.shape[1]):
            if part is not None and other != w:
                part = _clipped(part, tuple(costs[:, other] - costs[:, w]), planes)
        if part is not None:
            parts.append(part)
    return parts


def _clipped(cell: Cell, normal: PriorVector, planes: dict[PriorVector, int]) -> Cell | None:
    """The part of a cell where normal . pi >= 0; None if it has no interior."""
    if not any(normal):
        return cell
    heights = [_dot(normal, ray) for ray in cell.rays]
    if max(heights) <= 0:
        return None
    key = _unsigned_normal(normal)
    # Rays on a plane that another cut has named must bear it, though nothing is cut here.
    if min(heights) >= 0 and key not in planes:
        return cell
    bit = 1 << planes.setdefault(key, len(planes))
    rays = [
        (ray, on | (bit if h == 0 else 0)) for ray, on, h in zip(cell.rays, cell.on, heights, strict=True) if h >= 0
    ]
    for i, up in enumerate(heights):
        for j, down in enumerate(heights):
            # An edge that crosses the plane ends in a new ray.
            if up > 0 > down and _adjacent(cell, i, j):
                ray = _without_common_factor(
                    [up * b - down * a for a, b in zip(cell.rays[i], cell.rays[j], strict=True)]
                )
                rays.append((ray, (cell.on[i] & cell.on[j]) | bit))
    return Cell(tuple(ray for ray, _ in rays), tuple(on for _, on in rays))


def _adjacent(cell: Cell, i: int, j: int) -> bool:
    common = cell.on[i] & cell.on[j]
    return not any(k not in (i, j) and on & common == common for k, on in enumerate(cell.on))


def _dot(a: PriorVector, b: PriorVector) -> Any:
    return sum(x * y for x, y in zip(a, b, strict=True))


def _sign(x: Any) -> int:
    return x.sign if isinstance(x, PowerNumber) else (x > 0) - (x < 0)


def _without_common_factor(values: Iterable[Any]) -> PriorVector:
    """Nonnegative numbers, or a normal in integers, up to scale."""
    numbers = list(values)
    if any(isinstance(v, PowerNumber) for v in numbers):
        total = sum(numbers)
        return tuple(v / total for v in numbers)
    integers = [int(v) for v in numbers]
    common = gcd(*integers)
    return tuple(v // common for v in integers)


def _unsigned_normal(normal: PriorVector) -> PriorVector:
    """The normal without common factor, its first nonzero entry positive; 1 where irrational numbers occur."""
    if any(isinstance(v, PowerNumber) for v in normal):
        head = next(v for v in normal if v)
        return tuple(v / head if v else 0 for v in normal)
    reduced = _without_common_factor(normal)
    return reduced if next(x for x in reduced if x) > 0 else tuple(-x for x in reduced)


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
                # Crosswise, so that integers stay integers.
                a, b = rows[rank][c], rows[r][c]
                rows[r] = [a * y - b * x for x, y in zip(rows[rank], rows[r], strict=True)]
        rank += 1
    return rank


def least_losses(columns: Array, loss: Array, prior: Array) -> Array:
    """min_w sum_x pi_x C[x, y] l(x, w) for every column y: the loss after the best remap, outcome by outcome."""
    return np.asarray(((columns.T * prior) @ loss).min(axis=1))


def exact_loss(loss: object, secrets: int) -> Array:
    """A loss as an (n, k) matrix of Fractions: a named loss or a matrix.

    Raises:
        Unsupported: for float64.
        NotALoss: for a matrix with another number of rows.
    """
    matrix = loss.matrix(secrets) if isinstance(loss, Loss) else as_array(loss, "loss", ndim=2)
    if matrix.dtype.kind in "iu":
        matrix = fractions(matrix)
    if not is_exact(matrix):
        raise Unsupported("universal optimality is decided for exact losses only", came="a float64 loss")
    if len(matrix) != secrets:
        raise NotALoss(f"the loss must have {secrets} rows", came=len(matrix))
    return matrix


@dataclass(frozen=True, slots=True, eq=False)
class Dominance:
    """No mechanism of the type is better than M by more than ``slack``, for any prior.

    At every vertex pi of the cells, z with z . v <= min_w sum_x pi_x v(x) l(x, w) for all vertices v of the type shows
    that no mechanism loses less than sum(z); M loses at most slack more. On a cell M's loss is linear, since one
    action for each outcome is the best at all its vertices, and the least loss is concave: the bound holds all over it.

    Attributes:
        ptype: Privacy type.
        loss: (n, k).
        channel: M, of the type.
        slack: Nonnegative number.
        cells: Cells that fill the simplex of priors.
        duals: z for each of their vertices.
    """

    ptype: PrivacyType
    loss: Array
    channel: AnyChannel
    slack: Any
    cells: Complex
    duals: dict[PriorVector, tuple[Any, ...]]

    @property
    def vertices(self) -> Array:
        """(n, N): all vertices of the type, listed anew."""
        return exact_weights(vertices(self.ptype))

    def verify(self) -> bool:
        """Whether every claim holds.

        Vertices and cells are made anew: a list that leaves some out, or says of a cell that it has no borders, proves
        nothing.
        """
        if not _are_exact(self.loss, self.channel.matrix, [self.slack], *self.duals.values()):
            return False
        if self.slack < 0 or not _fit_type(self.ptype, self.loss, self.channel):
            return False
        columns = self.vertices
        with images_decide():  # what they are is checked without
            cells = Complex.of(self.channel.matrix, self.loss)
        stated, computed = ({frozenset(cell.rays) for cell in some.cells} for some in (self.cells, cells))
        return (
            stated == computed
            and cells.fills_the_simplex()
            and all(self._is_linear_on(cell.rays) for cell in cells.cells)
            and all(self._holds_at(prior, columns) for prior in cells.priors)
        )

    def _is_linear_on(self, rays: tuple[PriorVector, ...]) -> bool:
        for column in self.channel.matrix.T:
            losses = (np.array(rays, dtype=object) * column) @ self.loss
            if not (losses == losses.min(axis=1)[:, None]).all(axis=0).any():
                return False
        return True

    def _holds_at(self, prior: PriorVector, columns: Array) -> bool:
        pi, z = exact_prior(prior), np.array(self.duals.get(prior, ()), dtype=object)
        if z.shape != (len(columns),):
            return False
        feasible = (z @ columns <= least_losses(columns, self.loss, pi)).all()
        return bool(feasible and exact_expected_loss(self.channel.matrix, self.loss, pi) <= z.sum() + self.slack)


@dataclass(frozen=True, slots=True, eq=False)
class Conflict:
    """Every mechanism of the type has a regret of at least ``regret`` for one of the priors.

    For mechanism k the loss at prior k is known; with weights mu and a z such that z . v <= sum_k mu_k u_v(prior k) for
    all vertices v, every mechanism's mean loss is at least sum(z): by regret more than the mean of the known ones.

    Attributes:
        ptype: Privacy type.
        loss: (n, k).
        priors: Conflicting priors.
        weights: Positive weights of the priors, summing to 1.
        mechanisms: A good mechanism of the type for each prior.
        multipliers: z.
        regret: Positive number.
    """

    ptype: PrivacyType
    loss: Array
    priors: tuple[Array, ...]
    weights: tuple[Any, ...]
    mechanisms: tuple[AnyChannel, ...]
    multipliers: tuple[Any, ...]
    regret: Any

    def verify(self) -> bool:
        """Whether every claim holds; the vertices of the type are listed anew."""
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
    """Whether a loss is on the secrets of a type, and exact channels are of it."""
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
    """Whether no number is a float: sums of floats are rounded, and prove nothing."""
    return all(isinstance(x, int | Fraction | PowerNumber | np.integer) for some in lists for x in np.ravel(some))


def exact_expected_loss(columns: Array, loss: Array, prior: Array) -> Any:
    """sum_y min_w sum_x pi_x C[x, y] l(x, w)."""
    total = least_losses(columns, loss, prior).sum()
    return total if isinstance(total, PowerNumber) else Fraction(total)

"""Exactly unbiased least squares, in rationals, if hat functions and the values of an axis are measured.

Let y0 be the noisy values of the axis, with precision d. For other sets K of rows (hat functions, groups, the total),
let H_K be the matrix of their weights, and y_K their noisy sums with precision w_K. By Woodbury's identity least
squares is

    x^ = y0 + H' C (y_H - H y0),        C = (H H' + diag(d/w_K))^{-1},

where C has as many rows as H. y_H - H y0 has mean zero for every x. So **the estimate is exactly unbiased for every
rational C**, and C may be rounded: near the inverse, the variance changes only in second order. All groups of a level
of another axis have one size, so the eigenspaces T of the other axes split the problem. For each T there is one such
estimate along the axis; d and w_K are then the sums of m_V q_V over the measured marginals V that are nowhere coarser
than T on the other axes.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import Floats
from utmost.publish.workloads.measuring.forms import ProductForm
from utmost.publish.workloads.measuring.hat_spaces import HatSpace
from utmost.publish.workloads.measuring.measured_marginals import place_of_hats
from utmost.publish.workloads.measuring.row_sets import base_of, check_hats_fit, rows_of
from utmost.publish.workloads.reconstruction.least_squares import Reconstruction, not_determined
from utmost.tables.axes.domain import Domain, Marginal, is_finer


@dataclass(frozen=True, slots=True, eq=False)
class HatReconstruction:
    """Least squares as in `Reconstruction`, if some marginals measure hat functions along one axis [woodbury1950]."""

    # Time of an estimate: the number of cells, plus the square of the number of hat functions (at most 2000); for the
    # first estimate also its cube.
    domain: Domain
    weights: Mapping[Marginal, int]  # a positive integer for each marginal, proportional to the precision of its sums
    _split: "_AxisSplit" = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", dict(self.weights))
        object.__setattr__(self, "_split", _AxisSplit(self.domain, self.weights))
        for space in self._split.spaces:
            check_hats_fit(space.size, space.sets)

    def __reduce__(self) -> tuple[Any, ...]:
        return HatReconstruction, (self.domain, dict(self.weights))

    @property
    def place(self) -> int:
        """The index of the axis of hat functions."""
        return self._split.place

    @property
    def curvatures(self) -> tuple[int, int]:
        """A lower and an upper bound on the curvature of the sum of squares."""
        # The weights of a hat function of spacing s add up to at most s^2, and a cell's weights in all hat functions
        # add up to s, so no curvature of hat functions exceeds s^3.
        least = min(space.totals[1] if space.base == 1 else 0 for space in self._split.spaces)
        largest = max(
            sum(
                weight * (row_set if row_set > 0 else -row_set * row_set * row_set)
                for row_set, weight in space.totals.items()
            )
            for space in self._split.spaces
            if space.base
        )
        return least, largest

    def estimates(self, measured: Mapping[Marginal, NDArray[Any]], marginal: Marginal) -> tuple[NDArray[Any], int]:
        self.check_marginal_determined(marginal)
        return self._estimates(measured, marginal)

    def floats(self, measured: Mapping[Marginal, NDArray[Any]], marginal: Marginal) -> Floats:
        sums, divisor = self.estimates(measured, marginal)
        return np.asarray((sums / divisor).astype(np.float64))

    def value(self, measured: Mapping[Marginal, NDArray[Any]], form: ProductForm) -> Fraction:
        self.check_determined(form)
        sums, divisor = self._estimates(measured, form.marginal)
        return form.of(sums, form.marginal) / divisor

    def values(self, measured: Mapping[Marginal, NDArray[Any]], forms: Sequence[ProductForm]) -> list[Fraction]:
        """Estimate several forms; forms over one marginal are computed from one estimate of this marginal."""
        for form in forms:
            self.check_determined(form)
        estimated = {
            marginal: self._estimates(measured, marginal) for marginal in dict.fromkeys(form.marginal for form in forms)
        }
        return [form.of(estimated[form.marginal][0], form.marginal) / estimated[form.marginal][1] for form in forms]

    def variance_bounds(self, forms: Sequence[ProductForm], variances: Mapping[Marginal, float]) -> Floats | None:
        """Return upper bounds on the variances of determined forms, from the variance of each marginal's noise.

        None if the forms have different factors on an axis other than that of the hat functions.
        """
        frame, first = self._split, forms[0]
        for form in forms:
            if not all(map(np.array_equal, frame.factors(form), frame.factors(first))):
                return None
        # Use Python integers: factors with many digits would overflow floats.
        rows = [form.factors[frame.place].astype(object) / form.denominator for form in forms]
        factors = np.array(rows, dtype=np.float64).T
        along = [space.float_coefficients(factors[:: space.base or 1]) for space in frame.spaces]
        bounds = np.zeros(len(forms))
        for marginal in self.weights:
            classes = [frame.classes([first], a, level) for a, level in enumerate(frame.others(marginal))]
            for picked in product(*classes):
                total, off = np.zeros((1, len(forms))), np.zeros((1, len(forms)))
                for space, (known, errors) in zip(frame.spaces, along, strict=True):
                    share = frame.share(space, 0, [key for key, _ in picked])
                    if share and marginal in space.places:
                        scale, which = float(share * space.relative(marginal)), space.places[marginal]
                        total, off = total + scale * known[which], off + abs(scale) * errors[which]
                times = math.prod(count for _, count in picked)
                bounds += variances[marginal] * times * ((np.abs(total) * (1 + 1e-12) + off) ** 2).sum(axis=0)
        return bounds

    def check_marginal_determined(self, marginal: Marginal) -> None:
        starts = self.domain.axes[self._split.place].group_starts(marginal[self._split.place])
        for space in self._split.above(marginal):
            if space.base == 0 or (starts % space.base).any():
                raise not_determined(self.domain, marginal, self.weights)

    def check_determined(self, form: ProductForm) -> None:
        factor = form.factors[self._split.place]
        for space in self._split.spaces:
            known = space.base and (np.repeat(factor[:: space.base], space.base) == factor).all()
            if not known and any(factor.tolist()) and self._split.meets(form, space.space):
                raise not_determined(self.domain, form.marginal, self.weights)

    def kinds(self, marginal: Marginal) -> NDArray[np.intp]:
        """Number the groups: by their index along the axis of hat functions, and by their sizes on other axes."""
        frame = self._split
        rest = frame.others(marginal)
        others = frame.blocks.kinds(rest).reshape(frame.rest.group_shape(rest))
        groups = self.domain.axes[frame.place].groups(marginal[frame.place])
        numbers = np.add.outer(np.arange(groups) * (int(others.max()) + 1), others)
        return np.moveaxis(numbers, 0, frame.place).ravel()

    def terms(self, *forms: ProductForm) -> dict[Marginal, dict[tuple[Fraction, ...], int]]:
        frame = self._split
        along = [[space.coefficients(form.factors[frame.place]) for form in forms] for space in frame.spaces]
        terms = {}
        for marginal in self.weights:
            classes = [frame.classes(forms, a, level) for a, level in enumerate(frame.others(marginal))]
            counted: dict[tuple[Fraction, ...], int] = {}
            for picked in product(*classes):
                columns = self._columns(marginal, forms, along, [key for key, _ in picked])
                times = math.prod(count for _, count in picked)
                for key in zip(*columns, strict=True):
                    if any(key):
                        counted[key] = counted.get(key, 0) + times
            terms[marginal] = counted
        return terms

    def on_cells(
        self, measured: Mapping[Marginal, NDArray[Any]]
    ) -> tuple[Self, dict[Marginal, tuple[NDArray[Any], int]]]:
        return self, {marginal: (sums, 1) for marginal, sums in measured.items()}

    def coefficients(self, marginal: Marginal, others: Sequence[int]) -> list[tuple[Marginal, Floats, int]]:
        """Return triples: measured marginal, coefficients (groups, terms) within 10^-12, how often these occur."""
        frame = self._split
        axis = self.domain.axes[frame.place]
        form = frame.cells_of(marginal, others)
        groups = axis.group_of(marginal[frame.place])
        along = [
            space.float_coefficients((groups[:: space.base or 1, None] == np.arange(groups[-1] + 1)).astype(float))[0]
            for space in frame.spaces
        ]
        entering = []
        for measured in self.weights:
            classes = [frame.classes([form], a, level) for a, level in enumerate(frame.others(measured))]
            for picked in product(*classes):
                total: Any = 0.0
                for space, known in zip(frame.spaces, along, strict=True):
                    share = frame.share(space, 0, [key for key, _ in picked])
                    if share and measured in space.places:
                        total = total + float(share * space.relative(measured)) * known[space.places[measured]]
                if np.ndim(total):
                    entering.append((measured, np.asarray(total).T, math.prod(count for _, count in picked)))
        return entering

    def _columns(
        self, marginal: Marginal, forms: Sequence[ProductForm], along: Sequence[Sequence[Any]], keys: Sequence[Any]
    ) -> list[list[Fraction]]:
        """For each form, return the coefficients of a marginal's rows in one class of groups on each other axis."""
        frame, columns = self._split, []
        rows = self.domain.axes[frame.place].groups(marginal[frame.place])
        for which, form in enumerate(forms):
            total: Any = [Fraction(0)] * rows
            for space, coefficients in zip(frame.spaces, along, strict=True):
                share = frame.share(space, which, keys)
                if share and marginal in space.places:
                    scale = share * space.relative(marginal) / (form.denominator << space.shift)
                    part = coefficients[which][space.places[marginal]]
                    total = [so_far + scale * int(more) for so_far, more in zip(total, part, strict=True)]
            columns.append(total)
        return columns

    def _estimates(self, measured: Mapping[Marginal, NDArray[Any]], marginal: Marginal) -> tuple[NDArray[Any], int]:
        """Return the estimates of a marginal's sums, without the parts in eigenspaces that are not determined."""
        frame, estimates = self._split, []
        level, others = marginal[frame.place], frame.others(marginal)
        starts = self.domain.axes[frame.place].group_starts(level)
        for space in frame.above(marginal):
            if space.base and not (starts % space.base).any():
                lifted, divisor = space.estimate(
                    {weight: frame.lifted(measured[weight], weight) for weight in space.weights}
                )
                sums = np.add.reduceat(lifted, starts // space.base, axis=0)
                estimates.append((frame.rest_sums(sums, others), divisor * frame.rest.size))
        common = math.lcm(*(divisor for _, divisor in estimates))
        total = sum(sums * (common // divisor) for sums, divisor in estimates)
        return np.moveaxis(np.asarray(total), 0, frame.place).reshape(self.domain.group_shape(marginal)), common


@dataclass(frozen=True, eq=False)
class _AxisSplit:
    """A domain, split into the axis of hat functions and the other axes; eigenspaces of these split least squares."""

    domain: Domain
    weights: Mapping[Marginal, int]

    @cached_property
    def place(self) -> int:
        return place_of_hats(self.weights) or 0

    @cached_property
    def rest(self) -> Domain:
        """The domain of the other axes; if there are none, a domain of one axis with one value."""
        axes = {axis.levels[0]: axis for a, axis in enumerate(self.domain.axes) if a != self.place}
        return Domain(axes or {"all": ["all"]})

    @cached_property
    def blocks(self) -> Reconstruction:
        return Reconstruction(self.rest, dict.fromkeys(map(self.others, self.weights), 1))

    @cached_property
    def spaces(self) -> tuple[HatSpace, ...]:
        axis, found = self.domain.axes[self.place], list[HatSpace]()
        for space in self.blocks.spaces():
            others = {marginal: self.others(marginal) for marginal in self.weights}
            entering = [
                marginal for marginal in self.weights if is_finer(self.blocks.canonical(others[marginal]), space)
            ]
            rows = {marginal: rows_of(axis, marginal[self.place]) for marginal in entering}
            cells = {marginal: self.blocks.cells_in(others[marginal]) for marginal in entering}
            weights = {marginal: self.weights[marginal] * cells[marginal] for marginal in entering}
            found.append(HatSpace(space, axis.size, base_of(rows.values()), weights, rows, cells, self.project))
        return tuple(found)

    def others(self, marginal: Marginal) -> Marginal:
        """Return a marginal's levels on the other axes."""
        return tuple(level for a, level in enumerate(marginal) if a != self.place) or (0,)

    def above(self, marginal: Marginal) -> Iterator[HatSpace]:
        """Yield the eigenspaces that are not orthogonal to the sums of a marginal."""
        least = self.blocks.base_of(self.others(marginal))
        return (space for space in self.spaces if is_finer(least, space.space))

    def cells_of(self, marginal: Marginal, others: Sequence[int]) -> ProductForm:
        """Return the sum over a group of the other axes, with factors 1 along the axis of hat functions."""
        factors = [
            (axis.group_of(level) == group).astype(np.int64)
            for axis, level, group in zip(self.rest.axes, self.others(marginal), others, strict=True)
        ]
        if len(self.domain.axes) > 1:
            factors.insert(self.place, np.ones(self.domain.axes[self.place].size, dtype=np.int64))
        return ProductForm(self.domain, tuple(factors))

    def lifted(self, sums: NDArray[Any], marginal: Marginal) -> NDArray[Any]:
        """Return a marginal's sums for each cell of the other axes; the axis of hat functions comes first."""
        lifted = np.moveaxis(np.asarray(sums).reshape(self.domain.group_shape(marginal)), self.place, 0)
        lifted = lifted.reshape(lifted.shape[0], *self.rest.group_shape(self.others(marginal)))
        for a, level in enumerate(self.others(marginal)):
            lifted = np.take(lifted, self.rest.axes[a].group_of(level), axis=a + 1)
        return lifted

    def rest_sums(self, cells: NDArray[Any], marginal: Marginal) -> NDArray[Any]:
        """Add up cells over the groups of a marginal of the other axes; the first array axis is unchanged."""
        for a, level in enumerate(marginal):
            cells = np.add.reduceat(cells, self.rest.axes[a].group_starts(level), axis=a + 1)
        return cells

    def project(self, cells: NDArray[Any], space: Marginal) -> NDArray[Any]:
        """Return Q_T of each row, times the number of cells of the other axes."""
        for a, (chain, level) in enumerate(zip(self.blocks.chains, space, strict=True)):
            after = chain.index(level) + 1
            average = self._averaged(cells, a, level)
            cells = average - self._averaged(cells, a, chain[after]) if after < len(chain) else average
        return cells

    def meets(self, form: ProductForm, space: Marginal) -> bool:
        """Whether a form is not orthogonal to an eigenspace of the other axes."""
        factors = self.factors(form)
        return all(any(self._part(factors[a], a, level, 0).tolist()) for a, level in enumerate(space))

    def classes(self, forms: Sequence[ProductForm], axis: int, level: int) -> list[tuple[Any, int]]:
        """For a level of another axis, return classes of groups with equal coefficients, and the size of each class."""
        # A class has a key: for each form and eigenspace, the sum of the form's part over a group, times the axis'
        # size.
        rows = [
            self._part(self.factors(form)[axis], axis, coarse, level).tolist()
            for form in forms
            for coarse in self.blocks.chains[axis]
        ]
        return list(Counter(zip(*rows, strict=True)).items())

    def share(self, space: HatSpace, which: int, keys: Sequence[Any]) -> Fraction:
        """Return a form's coefficient, projected to an eigenspace, for one class of groups on each other axis."""
        share = Fraction(1, self.rest.size)
        for a, (chain, level) in enumerate(zip(self.blocks.chains, space.space, strict=True)):
            share *= keys[a][which * len(chain) + chain.index(level)]
        return share

    def factors(self, form: ProductForm) -> list[NDArray[Any]]:
        factors = [factor for a, factor in enumerate(form.factors) if a != self.place]
        return factors or [np.ones(1, dtype=object)]

    def _part(self, factor: NDArray[Any], axis: int, level: int, groups: int) -> NDArray[Any]:
        """Project a factor on the eigenspace of ``level``; return its sums over groups, times the axis' size."""
        chain = self.blocks.chains[axis]
        after = chain.index(level) + 1
        projected = self._averaged(factor[None, :], 0, level, axis)
        if after < len(chain):
            projected = projected - self._averaged(factor[None, :], 0, chain[after], axis)
        return np.add.reduceat(projected[0], self.rest.axes[axis].group_starts(groups))

    def _averaged(self, cells: NDArray[Any], place: int, level: int, axis: int | None = None) -> NDArray[Any]:
        """Replace each cell by the mean of its group of a level, times the axis' size."""
        along = self.rest.axes[place if axis is None else axis]
        sums = np.add.reduceat(cells, along.group_starts(level), axis=place + 1)
        return np.take(sums * along.groups(level), along.group_of(level), axis=place + 1)

"""Estimate all sums from noisy marginals of a vast domain: least squares by residual subspaces.

Every marginal S that contains a space T gives an unbiased estimate of the data's part in T: add up the sums of S to the
levels of T, and centre them along each axis. Let c_ST be proportional to the precision of S over its number of sums,
and let the c_ST of each T add up to 1. Then

    part in T = sum over S of c_ST (estimate of the part in T from S),

and an answer is the sum of its parts. These estimates are least squares (`Reconstruction` computes the same numbers).
The c_ST are rounded to multiples of 2^-20 that add up to 1. So **every estimate is exactly unbiased**, and is an
integer over 2^20 times the number of the table's cells. The rounding changes a variance by less than a factor of 1 +
10^-5; stated errors are those of the rounded estimates.

Source: proofs/theory/marginals.md; [nelder1965].
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise, product
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import largest_size
from utmost.publish.workloads.measuring.forms import ProductForm
from utmost.publish.workloads.measuring.marginal_spaces import MarginalSpace, MarginalSpaces
from utmost.publish.workloads.reconstruction.least_squares import (
    kinds_of_groups,
    not_cleanable,
    not_determined,
    read_weights,
)
from utmost.tables.axes.domain import Domain, Marginal

_BITS = 20  # never change this number: published estimates depend on it
_FITS = 1 << 62

_Key = tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class MarginalReconstruction:
    """Least squares as in `Reconstruction`, for marginals of a vast domain and for differences of two values."""

    # Time of a table: its cells times 2^columns; for the first table also the spaces that measured tables have in
    # common.
    domain: Domain
    weights: Mapping[Marginal, int]  # a positive integer for each marginal, proportional to the precision of its sums
    _spaces: MarginalSpaces = field(init=False, repr=False)
    _common: dict[MarginalSpace, NDArray[Any]] = field(init=False, repr=False)
    _measured: list[Any] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", read_weights(self.weights))
        object.__setattr__(self, "_spaces", MarginalSpaces.of(self.domain, self.weights))
        object.__setattr__(self, "_common", {})
        object.__setattr__(self, "_measured", [None])

    def __reduce__(self) -> tuple[Any, ...]:
        return MarginalReconstruction, (self.domain, dict(self.weights))

    def estimates(self, measured: Mapping[Marginal, NDArray[Any]], marginal: Marginal) -> tuple[NDArray[Any], int]:
        """Return the estimates of all sums of a marginal, flattened: integers, and their divisor."""
        self.check_marginal_determined(marginal)
        axes = self._spaces.base(marginal)
        shape = tuple(self._groups(axis, level) for axis, level in axes)
        parts, bound = [], 0
        for space in self._spaces.below(axes):
            part, largest = self._part(measured, space)
            # Along an axis that the space averages out, use the index after the last level: the group of all values.
            levels = {axis: len(self._spaces.chains[axis].levels) - 1 for axis, _ in axes} | dict(space)
            times = math.prod(self._groups(axis, levels[axis] + 1) for axis, _ in axes)
            # `bound` is an upper bound on every sum: use int64 if it fits, else Python integers.
            bound += largest * times
            parts.append((part, times, dict(space)))
        total = np.zeros(shape, dtype=np.int64 if bound < _FITS else object)
        for part, times, levels in parts:
            spread: NDArray[Any] = part.astype(total.dtype) * times
            for at, (axis, level) in enumerate(axes):
                # Along an axis that the space averages out, the part is the same for all values.
                if axis not in levels:
                    spread = np.expand_dims(spread, at)
                elif levels[axis] > level:
                    spread = np.repeat(spread, shape[at] // self._groups(axis, levels[axis]), axis=at)
            total += spread
        # A level with groups of several sizes is added up from the next finer level with groups of one size.
        for at, (axis, place) in enumerate(axes):
            chain, of = self._spaces.chains[axis], self.domain.axes[axis]
            if chain.levels[place] != marginal[axis] and of.groups(marginal[axis]) < chain.groups[place]:
                starts = np.searchsorted(of.group_starts(chain.levels[place]), of.group_starts(marginal[axis]))
                total = np.add.reduceat(total, starts, axis=at)
        return total.ravel(), math.prod(shape) << _BITS

    def value(self, measured: Mapping[Marginal, NDArray[Any]], form: ProductForm) -> Fraction:
        self.check_determined(form)
        means, total = _Means.of(self._spaces, form), Fraction(0)
        for space in means.spaces:
            part, scale = self._part(measured, space)[0].astype(object), means.others(space)
            for axis, level in space:
                part = np.asarray(np.tensordot(means.sums[axis][level], part, axes=([0], [0])), dtype=object)
                scale *= Fraction(self._groups(axis, level + 1), self.domain.axes[axis].size)
            total += scale * int(part.item())
        return total / (form.denominator << _BITS)

    def check_marginal_determined(self, marginal: Marginal) -> None:
        if any(space not in self._spaces.covers for space in self._spaces.below(self._spaces.base(marginal))):
            raise not_determined(self.domain, marginal, self.weights)

    def check_determined(self, form: ProductForm) -> None:
        if any(space not in self._spaces.covers for space in _Means.of(self._spaces, form).spaces):
            raise not_determined(self.domain, form.marginal, self.weights)

    def kinds(self, marginal: Marginal) -> NDArray[np.intp]:
        """Number the groups: groups with the same size on every axis have the same number."""
        return kinds_of_groups(self.domain, marginal)

    def terms(self, *forms: ProductForm) -> dict[Marginal, dict[tuple[Fraction, ...], int]]:
        means = [_Means.of(self._spaces, form) for form in forms]
        by_marginal: dict[int, list[tuple[MarginalSpace, int]]] = {}
        for space in dict.fromkeys(space for of in means for space in of.spaces):
            for place, share in self._shares(space).items():
                by_marginal.setdefault(place, []).append((space, share))
        known: dict[tuple[int, int | None], dict[_Key, int]] = {}
        terms: dict[Marginal, dict[tuple[Fraction, ...], int]] = {marginal: {} for marginal in self.weights}
        for place, shared in by_marginal.items():
            axes = self._spaces.measured_axes[place]
            for axis in axes:
                if axis not in known:
                    known[axis] = _classes(self._spaces, means, *axis)
            terms[self._spaces.marginals[place]] = _terms(axes, shared, means, [known[axis] for axis in axes])
        return terms

    def on_cells(self, measured: Mapping[Marginal, NDArray[Any]]) -> NoReturn:
        raise not_cleanable()

    def _groups(self, axis: int, level: int) -> int:
        return self._spaces.chains[axis].groups[level]

    def _shares(self, space: MarginalSpace) -> dict[int, int]:
        """Return c_ST * 2^20 for the marginals S that contain a space T: positive integers with sum 2^20."""
        places = self._spaces.covers[space]
        common = math.lcm(*(self._spaces.sums[place] for place in places))
        marginals = self._spaces.marginals
        parts = [self.weights[marginals[place]] * (common // self._spaces.sums[place]) for place in places]
        whole = sum(parts)
        shares = [(part << _BITS) // whole for part in parts]
        largest = max(range(len(parts)), key=parts.__getitem__)
        # Add the rounding errors to the largest one: estimates are unbiased only if the c_ST add up to 1.
        shares[largest] += (1 << _BITS) - sum(shares)
        return {place: share for place, share in zip(places, shares, strict=True) if share}

    def _part(self, measured: Mapping[Marginal, NDArray[Any]], space: MarginalSpace) -> tuple[NDArray[Any], int]:
        """Return the data's part in a space, times 2^20 and a ratio for each axis; and the largest number in it."""
        # Cached parts are valid only for the same measured sums.
        if self._measured[0] is not measured:
            self._measured[0] = measured
            self._common.clear()
        if space in self._common:
            return self._common[space], largest_size(self._common[space])
        sides: dict[tuple[int, ...], NDArray[Any]] = {}
        for place, share in self._shares(space).items():
            shown, differing = self._added_up(measured, place, dict(space))
            # an entry is at most the largest sum times 2^axes times the product of the ratios
            bound = largest_size(shown) << (_BITS + 1)
            for axis, level in space:
                bound *= 2 * self._groups(axis, level) // self._groups(axis, level + 1)
            weighted = shown.astype(np.int64 if bound < _FITS else object) * share
            known = sides.get(differing)
            sides[differing] = weighted if known is None else known + weighted
        total: Any = 0
        for differing, side in sides.items():
            part = side
            for at, (axis, level) in enumerate(space):
                if axis in differing:
                    part = np.concatenate([part, -part], axis=at)
                else:
                    # Centre along the axis: multiply the values by the number of groups in a coarser group, and
                    # subtract the coarser group's sum.
                    coarser = self._groups(axis, level + 1)
                    ratio = self._groups(axis, level) // coarser
                    shape = (*part.shape[:at], coarser, ratio, *part.shape[at + 1 :])
                    blocks = part.reshape(shape)
                    centred: NDArray[Any] = blocks * ratio - blocks.sum(axis=at + 1, keepdims=True)
                    part = centred.reshape(part.shape)
            total = total + part
        whole = np.asarray(total)
        if len(self._spaces.covers[space]) > 1:
            self._common[space] = whole
        return whole, largest_size(whole)

    def _added_up(
        self, measured: Mapping[Marginal, NDArray[Any]], place: int, levels: Mapping[int, int]
    ) -> tuple[NDArray[Any], tuple[int, ...]]:
        """Add up a measured marginal's sums to a space's levels; return the new sums, and the axes with differences."""
        axes = self._spaces.measured_axes[place]
        shape = [1 if level is None else self._groups(axis, level) for axis, level in axes]
        sums = measured[self._spaces.marginals[place]].reshape(shape)
        left_out = tuple(at for at, (axis, _) in enumerate(axes) if axis not in levels)
        rest = [(axis, level) for axis, level in axes if axis in levels]
        # Add up the axes outside the space first, so that the reshaped array is small.
        sums = sums.sum(axis=left_out) if left_out else sums
        for at, (axis, level) in enumerate(rest):
            if level is not None and levels[axis] > level:
                groups = self._groups(axis, levels[axis])
                sums = sums.reshape(*sums.shape[:at], groups, -1, *sums.shape[at + 1 :]).sum(axis=at + 1)
        return np.asarray(sums), tuple(axis for axis, level in rest if level is None)


@dataclass(frozen=True, slots=True, eq=False)
class _Means:
    """The mean of a form's factors over groups of each axis, from which the form's part in each space follows."""

    form: ProductForm
    # for each axis with factors other than 1, the factors' sums over the groups of each even level
    sums: Mapping[int, list[NDArray[Any]]]
    all_of: Mapping[int, Fraction]  # for each of these axes, the mean of all factors
    spaces: Sequence[MarginalSpace]  # the spaces that are not orthogonal to the form

    @classmethod
    def of(cls, spaces: MarginalSpaces, form: ProductForm) -> "_Means":
        sums: dict[int, list[NDArray[Any]]] = {}
        all_of: dict[int, Fraction] = {}
        own: dict[int, list[int]] = {}
        for axis, factor in enumerate(form.factors):
            total, size = int(sum(factor.tolist())), len(factor)
            if total == size and all(number == 1 for number in factor.tolist()):
                continue
            all_of[axis] = Fraction(total, size)
            chain = spaces.chains[axis]
            sums[axis] = [form.group_sums(axis, level) for level in chain.levels]
            own[axis] = [at for at in chain.above(0) if _means_differ(sums[axis], at)]
        choices: list[list[MarginalSpace]] = []
        for axis, levels in own.items():
            everything: list[MarginalSpace] = [()] if all_of[axis] else []
            choices.append([*(((axis, at),) for at in levels), *everything])
        listed = [tuple(level for levels in picked for level in levels) for picked in product(*choices)]
        return cls(form, sums, all_of, listed)

    def others(self, space: MarginalSpace) -> Fraction:
        """Return the product of the means along the axes that a space averages out."""
        inside = {axis for axis, _ in space}
        return math.prod((mean for axis, mean in self.all_of.items() if axis not in inside), start=Fraction(1))


def _terms(
    axes: Sequence[tuple[int, int | None]],
    shared: Sequence[tuple[MarginalSpace, int]],
    means: Sequence[_Means],
    classes: Sequence[Mapping[_Key, int]],
) -> dict[tuple[Fraction, ...], int]:
    """Return the coefficients of one marginal's sums in the forms, and the number of sums with each coefficient."""
    outside = [of.others(tuple((axis, 0) for axis, _ in axes)) / (of.form.denominator << _BITS) for of in means]
    levels = [[dict(space).get(axis, -1) for axis, _ in axes] for space, _ in shared]
    counted: dict[tuple[Fraction, ...], int] = {}
    for picked in product(*(of.items() for of in classes)):
        values = []
        for which, scale in enumerate(outside):
            total = Fraction(0)
            for (_, share), own in zip(shared, levels, strict=True):
                factors = (key[which][level] for (key, _), level in zip(picked, own, strict=True))
                total += share * math.prod(factors, start=Fraction(1))
            values.append(total * scale)
        if any(values):
            key = tuple(values)
            counted[key] = counted.get(key, 0) + math.prod(count for _, count in picked)
    return counted


def _classes(spaces: MarginalSpaces, means: Sequence[_Means], axis: int, level: int | None) -> dict[_Key, int]:
    """Return classes of groups of a level with equal coefficients in every form, and the size of each class."""
    # For each form, a key has a coefficient for each level of a space on the axis, then one for a space without the
    # axis.
    chain, size = spaces.chains[axis], spaces.domain.axes[axis].size
    groups = 1 if level is None else chain.groups[level]
    rows = []
    for of in means:
        if axis not in of.sums:
            rows.append([(*(Fraction(0) for _ in chain.levels), Fraction(1))] * groups)
        elif level is None:
            first, second = of.form.factors[axis].tolist()
            rows.append([(Fraction(first - second, 2), of.all_of[axis])])
        else:
            each = [
                [Fraction(int(total) * chain.groups[at], size) for total in of.sums[axis][at].tolist()]
                for at in range(level, len(chain.levels))
            ]
            each.append([of.all_of[axis]])
            spread = [[means_of[group * len(means_of) // groups] for group in range(groups)] for means_of in each]
            steps = [[fine - coarse for fine, coarse in zip(*pair, strict=True)] for pair in pairwise(spread)]
            nothing = [[Fraction(0)] * groups] * level
            rows.append(list(zip(*nothing, *steps, spread[-1], strict=True)))
    return Counter(zip(*rows, strict=True))


def _means_differ(sums: Sequence[NDArray[Any]], at: int) -> bool:
    """Whether the mean of some group differs from the mean of the next coarser group that contains it."""
    fine, coarse = sums[at], sums[at + 1] if at + 1 < len(sums) else sums[at].sum(keepdims=True)
    ratio = len(fine) // len(coarse)
    return bool((fine * ratio != np.repeat(coarse, ratio)).any())

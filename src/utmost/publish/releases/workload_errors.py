"""The distribution of the error of each answer, marginal and ratio that a release by a plan gives.

The distributions follow from the reconstruction and the levels of the noise, so they are known before noise is drawn.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import Floats
from utmost.core.exact.levels import Level
from utmost.core.noise.combination import Combination, simultaneous_margins
from utmost.core.noise.near_distributions import heights_at, spread_margins
from utmost.core.privacy.unit import Unit
from utmost.publish.releases.table_bars import distributions_of_groups, places_of
from utmost.publish.workloads.amount_pair import AmountPair, Weights
from utmost.publish.workloads.measuring.forms import ProductForm, group_of
from utmost.publish.workloads.reconstruction.estimates import LeastSquares
from utmost.publish.workloads.reconstruction.hat_reconstruction import HatReconstruction
from utmost.publish.workloads.reconstruction.least_squares import Reconstruction
from utmost.tables.axes.domain import Marginal

_EDGE, _SHORT = (
    0.45,
    1 - 1e-9,
)  # bounds by variance use at most this fraction of a level; relative accuracy of float estimates

MarginalDistributions = tuple[NDArray[np.intp], dict[int, Combination]]
"""For each group of a marginal, the number of its error distribution; and the distributions by number."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AnswerErrors:
    reconstruction: LeastSquares
    ratios: Mapping[Marginal, Level]  # For each measured marginal, the level of its noise for a change of 1
    unit: Unit  # Unit of privacy; cells with distinct counts cannot be added up
    _known: dict[Marginal, MarginalDistributions] = field(default_factory=dict)

    def of(self, form: ProductForm) -> Combination:
        """Return the distribution of an answer's error; raise NotDetermined if the sums do not determine the answer."""
        return _combined((u, level, count) for (u,), level, count in self._terms(form))

    def exclude_zero(self, forms: Sequence[ProductForm], values: Sequence[Fraction], miss: Fraction) -> list[bool]:
        """For each answer, return whether its margin excludes 0; first try a margin that follows from the variance."""
        for form in forms:
            self._check_adds(form)
        reach = [math.inf] * len(forms)
        squares = self.reconstruction
        if forms and isinstance(squares, Reconstruction | HatReconstruction):
            edges, heights = heights_at(np.array([ratio.epsilon_float for ratio in self.ratios.values()]), _EDGE)
            by_marginal = dict(zip(self.ratios, heights.tolist(), strict=True))
            if isinstance(squares, Reconstruction):
                spread: Floats | None = squares.variances(forms, by_marginal)
            else:
                spread = squares.variance_bounds(forms, by_marginal)
            if spread is not None:
                reach = [float(far) for far in spread_margins(spread, heights, edges, miss)]
        return [
            float(abs(value)) * _SHORT > far or self.of(form).rejects(value, miss)
            for form, value, far in zip(forms, values, reach, strict=True)
        ]

    def of_difference(self, first: ProductForm, second: ProductForm) -> Combination:
        """Return the distribution of the error of ``first`` minus ``second``, two answers that may overlap."""
        return _combined((u - v, level, count) for (u, v), level, count in self._terms(first, second))

    def of_pair(self, over: ProductForm, under: ProductForm, errors: "AnswerErrors") -> dict[str, Any]:
        """Return the joint distribution of two answers' errors; ``errors`` belong to the second answer's release."""
        if errors is self:
            listed = [(u, v, level, count) for (u, v), level, count in self._terms(over, under)]
        else:
            nothing = Fraction(0)
            listed = [(u, nothing, level, count) for (u,), level, count in self._terms(over)]
            listed += [(nothing, v, level, count) for (v,), level, count in errors._terms(under)]
        return dict(zip(("u", "v", "levels", "counts"), _columns(listed, 4), strict=True))

    def of_marginal(self, marginal: Marginal) -> MarginalDistributions:
        """Return for each group of a marginal the index of its error distribution, and these distributions."""
        domain = self.reconstruction.domain
        self.unit.check_adds(
            is_one_cell=domain.is_of_cells(marginal), came=f"sums by {domain.marginal_name(marginal)!r}"
        )
        if marginal not in self._known:
            self._known[marginal] = distributions_of_groups(self.reconstruction, marginal, self.ratios, self.of)
        return self._known[marginal]

    def of_amounts(self, amounts: AmountPair, marginal: Marginal, weights: Weights) -> MarginalDistributions:
        """Return the error distributions of a weighted sum of an amount's parts, by group, as `of_marginal` does."""
        both, seen, domain = amounts.both(marginal), amounts.seen(marginal), self.reconstruction.domain
        parts = amounts.parts(self.reconstruction.kinds(both), both)
        _, first, kinds = np.unique(parts, axis=1, return_index=True, return_inverse=True)
        places = [places_of(group, domain.group_shape(seen)) for group in first.tolist()]
        forms = [amounts.form(group_of(domain, seen, place), weights) for place in places]
        return kinds.ravel().astype(np.intp), {kind: self.of(form) for kind, form in enumerate(forms)}

    def widest(
        self, by_marginal: Mapping[Marginal, MarginalDistributions], sure: Fraction, *, together: bool
    ) -> dict[Marginal, int | float]:
        """Return the largest margin in each marginal; if ``together``, *all* margins hold with probability ``sure``."""
        distributions = {marginal: of for marginal, (_, of) in by_marginal.items()}
        if together:
            listed = [of[kind] for kinds, of in by_marginal.values() for kind in kinds.tolist()]
            alone = len(self.ratios) == 1 and len(distributions) == 1
            margins = dict(zip(map(id, listed), simultaneous_margins(listed, sure, independent=alone), strict=True))
        else:
            margins = {
                id(distribution): distribution.margin(sure)
                for of in distributions.values()
                for distribution in of.values()
            }
        return {
            marginal: max(margins[id(distribution)] for distribution in of.values())
            for marginal, of in distributions.items()
        }

    def _terms(self, *forms: ProductForm) -> list[tuple[tuple[Fraction, ...], Level, int]]:
        """For each kind of noise in some answers, return its coefficients, its level, and how often it occurs."""
        for form in forms:
            self._check_adds(form)
            self.reconstruction.check_determined(form)
        return [
            (key, self.ratios[marginal], count)
            for marginal, terms in self.reconstruction.terms(*forms).items()
            for key, count in terms.items()
        ]

    def _check_adds(self, form: ProductForm) -> None:
        self.unit.check_adds(is_one_cell=form.is_one_cell, came="a sum over several")


def by_group(kinds: NDArray[np.intp], by_kind: Mapping[int, Any]) -> NDArray[Any]:
    if len(by_kind) == 1:
        return np.full(kinds.size, next(iter(by_kind.values())))
    return np.array([by_kind[kind] for kind in kinds.tolist()])


def scaled(noise: Combination, step: Fraction) -> Combination:
    """Return the distribution of ``step`` times an error."""
    if step == 1:
        return noise
    return Combination([step * size for size in noise.coefficients], noise.levels, noise.counts)


def _combined(listed: Iterable[tuple[Fraction, Level, int]]) -> Combination:
    return Combination(*_columns(list(listed), 3))


def _columns(listed: Sequence[tuple[Any, ...]], width: int) -> list[tuple[Any, ...]]:
    return list(zip(*listed, strict=True)) if listed else [()] * width

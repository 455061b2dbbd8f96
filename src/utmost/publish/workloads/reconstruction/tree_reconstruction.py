"""Least squares along one axis whose groups differ in size, such as states and their counties, in two passes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import Array, Floats
from utmost.publish.workloads.measuring.forms import ProductForm
from utmost.publish.workloads.measuring.unequal_trees import UnequalTree, estimates_of_groups
from utmost.publish.workloads.reconstruction.least_squares import not_determined
from utmost.tables.axes.domain import Domain, Marginal


@dataclass(frozen=True, slots=True, eq=False)
class TreeReconstruction:
    """Least squares as in `Reconstruction`, for a domain of one axis, whose groups may have any sizes."""

    # Computing all estimates takes a few rationals for each group, and so does the error of an answer.
    domain: Domain
    weights: Mapping[Marginal, int]  # a positive integer for each measured level
    _tree: UnequalTree = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", dict(self.weights))
        object.__setattr__(self, "_tree", UnequalTree.of(self.domain))

    def __reduce__(self) -> tuple[Any, ...]:
        return TreeReconstruction, (self.domain, dict(self.weights))

    @property
    def curvatures(self) -> tuple[int, int]:
        """A lower and an upper bound on the curvature of the sum of squares."""
        blocks = {marginal: int(self.domain.axes[0].group_sizes(marginal[0]).max()) for marginal in self.weights}
        largest = sum(weight * blocks[marginal] for marginal, weight in self.weights.items())
        return self.weights.get((0,), 0), largest

    def estimates(self, measured: Mapping[Marginal, NDArray[Any]], marginal: Marginal) -> tuple[NDArray[Any], int]:
        """Return the estimates of a level's sums as rationals, and the divisor 1."""
        self.check_marginal_determined(marginal)
        return self._estimated(measured, Fraction)[marginal[0]], 1

    def floats(self, measured: Mapping[Marginal, NDArray[Any]], marginal: Marginal) -> Floats:
        self.check_marginal_determined(marginal)
        return self._estimated(measured, float)[marginal[0]].astype(np.float64)

    def value(self, measured: Mapping[Marginal, NDArray[Any]], form: ProductForm) -> Fraction:
        self.check_determined(form)
        estimates = self._estimated(measured, Fraction)[self._finest]
        return Fraction(sum(estimate * of for estimate, of in zip(estimates, self._coefficients(form), strict=True)))

    def check_marginal_determined(self, marginal: Marginal) -> None:
        """Check that a level is no finer than the finest measured level."""
        if self._tree.groups[marginal[0]] > self._tree.groups[self._finest]:
            raise not_determined(self.domain, marginal, self.weights)

    def check_determined(self, form: ProductForm) -> None:
        self.check_marginal_determined(form.marginal)

    def terms(self, *forms: ProductForm) -> dict[Marginal, dict[tuple[Fraction, ...], int]]:
        terms: dict[Marginal, dict[tuple[Fraction, ...], int]] = {marginal: {} for marginal in self.weights}
        # The coefficients of a form w in the measured sums are q_S A_S (A'QA)^-1 w; and (A'QA)^-1 w is the estimate if
        # the measured sums are w/q at the finest level and zeros elsewhere.
        finest, columns = self._finest, []
        for form in forms:
            sums: list[Any] = [
                [Fraction(0)] * groups if (level,) in self.weights else None
                for level, groups in enumerate(self._tree.groups)
            ]
            sums[finest] = [coefficient / self.weights[(finest,)] for coefficient in self._coefficients(form)]
            solutions = estimates_of_groups(self._tree, sums, self._weights(Fraction))
            rows = [[] if solution is None else solution.tolist() for solution in solutions]
            columns.append({marginal: [q * row for row in rows[marginal[0]]] for marginal, q in self.weights.items()})
        for marginal in self.weights:
            for key in zip(*(column[marginal] for column in columns), strict=True):
                if any(key):
                    terms[marginal][key] = terms[marginal].get(key, 0) + 1
        return terms

    def kinds(self, marginal: Marginal) -> NDArray[np.intp]:
        """Number the groups of a level: groups that a symmetry of the tree exchanges have the same number."""
        # Up the tree, groups are alike if their children are, in any order. Then, down the tree, groups are alike only
        # if their parents are alike, too.
        shapes: list[list[int]] = [[0] * self._tree.groups[0]]
        for level in range(1, len(self._tree.groups)):
            children: list[list[int]] = [[] for _ in range(self._tree.groups[level])]
            for shape, parent in zip(shapes[-1], self._tree.parents[level - 1].tolist(), strict=True):
                children[parent].append(shape)
            shapes.append(_numbered([tuple(sorted(shapes_below)) for shapes_below in children]))
        numbers = shapes[-1]
        for level in range(len(self._tree.groups) - 2, marginal[0] - 1, -1):
            above = [numbers[parent] for parent in self._tree.parents[level].tolist()]
            numbers = _numbered(list(zip(above, shapes[level], strict=True)))
        return np.array(numbers, dtype=np.intp)

    def on_cells(
        self, measured: Mapping[Marginal, NDArray[Any]]
    ) -> tuple[Self, dict[Marginal, tuple[NDArray[Any], int]]]:
        return self, {marginal: (sums, 1) for marginal, sums in measured.items()}

    @property
    def _finest(self) -> int:
        return min(marginal[0] for marginal in self.weights)

    def _weights(self, number: type) -> list[Any]:
        return [number(self.weights.get((level,), 0)) for level in range(len(self._tree.groups))]

    def _estimated(self, measured: Mapping[Marginal, NDArray[Any]], number: type) -> list[Array]:
        sums = [
            None if (level,) not in measured else measured[(level,)].ravel() for level in range(len(self._tree.groups))
        ]
        estimates = estimates_of_groups(self._tree, sums, self._weights(number))
        return [np.zeros(0) if estimate is None else estimate for estimate in estimates]

    def _coefficients(self, form: ProductForm) -> list[Fraction]:
        """Return a form's coefficients in the sums of the finest measured level."""
        starts = self.domain.axes[0].group_starts(self._finest)
        return [Fraction(int(factor), form.denominator) for factor in form.factors[0][starts]]


def _numbered(keys: list[Any]) -> list[int]:
    known: dict[Any, int] = {}
    return [known.setdefault(key, len(known)) for key in keys]

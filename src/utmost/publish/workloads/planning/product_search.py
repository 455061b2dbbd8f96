"""Search for listed rows along each axis of a workload, so that their products have little error.

The Gram matrix of a workload is a sum with a term for each part: a product of one matrix for each axis. If the rows of
the other axes are fixed, the error along one axis is the error for a single Gram matrix: the sum of the parts'
matrices, each weighted by the part's error along the other axes. So the search improves the real rows of one axis after
the other, repeatedly, and rounds them at the end. Source: [mckenna2018], OPT_x and OPT_+.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isfinite

import numpy as np

from utmost.core.exact.arrays import Floats
from utmost.core.exact.one_thread import one_blas_thread
from utmost.errors import Unsupported
from utmost.publish.workloads.measuring.product_errors import MOST_VALUES_WITH_ROWS, ProductErrors, row_precision
from utmost.publish.workloads.measuring.product_rows import AxisRows, ProductRows, values_alone
from utmost.publish.workloads.measuring.signed_axis import SignedAxis
from utmost.publish.workloads.planning.row_search import RealRows, few_levels, real_rows, refitted, whole_rows
from utmost.publish.workloads.planning.signed_search import signed_rows
from utmost.publish.workloads.row_unit import WholeRows
from utmost.publish.workloads.workload import Workload
from utmost.tables.axes.domain import with_level

_MOST_CLASSES = 400  # the largest number of measured marginals: more would make statements long
_PARTS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256)
_LEVELS = (6, 10, 16, 24, 40)
_SHORT = 8  # rows over at most this many values have few classes
_FEW = 64  # for more values, fewer than 128 parts are too coarse
_ALTERNATIONS, _LEAST_GAIN = 12, 1e-4
_POLISHED, _AGAIN, _INSIDE = 4, 2, 0.03
_LITTLE = 1e-6  # the smallest level of a value, as part of the full level


def product_rows(workload: Workload, level: float, together: str | None = None) -> tuple[ProductRows, float]:
    """Return the best listed rows found, and their error; an axis ``together`` has signed rows."""
    problem = _RowProblem(ProductErrors.of(workload))
    if together is not None:
        problem = problem.with_signed(WholeRows.of(workload.domain, together).place, level)
    if not problem.searched and together is None:
        required = f"rows can be searched only along axes of 2 to {MOST_VALUES_WITH_ROWS} values"
        raise Unsupported(required, came=workload.domain.shape, remedy="Leave out rows=.")
    with one_blas_thread(), np.errstate(all="ignore"):
        real = problem.real_rows(level) if problem.searched else []
        candidates = [problem.alone, *(problem.rounded(real) for real in real)]
        errors = [sum(problem.errors.weighted(rows, rows.shares, level)) for rows in candidates]
    chosen = int(np.argmin(errors))
    return candidates[chosen], errors[chosen]


@dataclass(frozen=True, slots=True, eq=False)
class _RowProblem:
    errors: ProductErrors
    signed: tuple[int, SignedAxis] | None = None  # the index of an axis with signed rows, and these rows

    def with_signed(self, place: int, level: float) -> "_RowProblem":
        """Return the problem with signed rows along an axis; the rows are optimized for the axis' Gram matrix."""
        workload = self.errors.workload
        whole = _RowProblem(ProductErrors.of(workload, with_level(self.errors.base, place, 0)))
        size = workload.domain.axes[place].size
        gram = whole._gram_along(place, {})
        rows, shares = signed_rows(size, level * size, gram=tuple(map(tuple, (gram / gram.trace()).tolist())))
        return replace(whole, signed=(place, SignedAxis(rows, shares)))

    @property
    def searched(self) -> list[int]:
        """The axes along which rows are searched."""
        signed = None if self.signed is None else self.signed[0]
        return [place for place, gram in enumerate(self.errors.grams[0]) if len(gram) > 1 and place != signed]

    @property
    def alone(self) -> ProductRows:
        """The rows that measure each value by itself, together with the signed rows if there are any."""
        domain = self.errors.workload.domain
        listed: list[AxisRows | SignedAxis] = [
            values_alone(axis, level) for axis, level in zip(domain.axes, self.errors.base, strict=True)
        ]
        if self.signed is not None:
            place, signed = self.signed
            listed[place] = signed
        return ProductRows(domain, tuple(listed))

    @property
    def _signed_inverse(self) -> dict[int, Floats]:
        """X^-1 along the axis of signed rows, in the limit of small levels; {} without such an axis."""
        if self.signed is None:
            return {}
        place, signed = self.signed
        shares = np.array([float(part) for part in signed.parts_of_level]) * signed.values
        A = signed.matrix.astype(float)
        return {place: np.asarray(np.linalg.inv((A.T * shares**2 / 2) @ A))}

    def real_rows(self, level: float) -> list[dict[int, RealRows]]:
        """Return candidates {axis: real rows}, optimized at ``level`` for one axis, at small levels for several."""
        if len(self.searched) == 1:
            (place,) = self.searched
            return [{place: rows} for rows in _best_of_starts(self._gram_along(place, self._signed_inverse), level)]
        inverses: dict[int, Floats] = {place: np.eye(len(self.errors.grams[0][place])) for place in self.searched}
        inverses |= self._signed_inverse
        known: dict[int, RealRows] = {}
        value = np.inf
        for _ in range(_ALTERNATIONS):
            for place in self.searched:
                gram = self._gram_along(place, inverses)
                scaled = gram / gram.trace()
                if place in known:
                    start = known[place]
                    rows = real_rows(scaled, len(start.rows), 1.0, exact=False, steps=100, start=start)
                else:
                    tried = (real_rows(scaled, count, 1.0, exact=False, steps=150) for count in _counts(len(gram)))
                    rows = min(tried, key=_error)
                known[place], inverses[place] = rows, _inverse(rows)
            before, value = value, float(self.errors.weights @ np.prod(self._traces(inverses), axis=1))
            if value > before * (1 - _LEAST_GAIN):
                break
        return [known]

    def rounded(self, real: Mapping[int, RealRows]) -> ProductRows:
        """Round real rows to integer rows, and return the products of the integer rows."""
        wide = sum(len(rows.left) > _SHORT for rows in real.values())
        most = max(3, int(_MOST_CLASSES ** (1 / max(1, wide)))) if len(real) > 1 else 64
        exact = len(real) == 1
        listed = list(self.alone.axes)
        for place, rows in real.items():
            spent = float(rows.left[0] + rows.rows[:, 0].sum())
            beside = {other: _inverse(of) for other, of in real.items() if other != place}
            gram = self._gram_along(place, {**self._signed_inverse, **beside})
            classes = most if len(rows.left) > _SHORT or exact else 3
            listed[place] = _rounded(gram, rows, spent, self.errors.base[place], classes - 1, exact=exact)
        return ProductRows(self.errors.workload.domain, tuple(listed))

    def _gram_along(self, place: int, inverses: Mapping[int, Floats]) -> Floats:
        """Return the Gram matrix along an axis: the parts' matrices, weighted by errors along the other axes."""
        weights = self.errors.weights * np.prod(np.delete(self._traces(inverses), place, 1), axis=1)
        return np.asarray(sum(weight * of[place] for weight, of in zip(weights, self.errors.grams, strict=True)))

    def _traces(self, inverses: Mapping[int, Floats]) -> Floats:
        """Return the error of each part along each axis; (parts, axes)."""
        return np.array(
            [
                [
                    float((gram * inverses[place]).sum() if place in inverses else gram.trace())
                    for place, gram in enumerate(of)
                ]
                for of in self.errors.grams
            ]
        )


def _inverse(rows: RealRows) -> Floats:
    """Return X^-1 of real rows, in the limit of small levels."""
    left = np.maximum(rows.left, _LITTLE)
    return np.asarray(np.linalg.inv(np.diag(left**2 / 2) + rows.rows.T @ rows.rows / 2))


def _best_of_starts(gram: Floats, level: float) -> list[RealRows]:
    """Search for real rows from several starts, and return the best one or two results."""
    scaled = gram / gram.trace()
    seeds = range(4 if len(gram) <= 256 else 1)
    steps = 400 if len(gram) <= 256 else 600
    tried = [
        real_rows(scaled, count, level, exact=True, seed=seed, steps=steps)
        for count in _counts(len(gram))
        for seed in seeds
    ]
    best = sorted((rows for rows in tried if isfinite(rows.error)), key=_error)[:_POLISHED]
    # start a little inside the boundary, so that entries of 0 can grow again
    for _ in range(_AGAIN if len(gram) <= 256 else 1):
        best = [
            min(
                rows,
                real_rows(scaled, len(rows.rows), level, exact=True, start=rows, steps=steps, inside=_INSIDE),
                key=_error,
            )
            for rows in best
        ]
    return sorted(best, key=_error)[: 2 if len(gram) <= _FEW else 1]


def _error(rows: RealRows) -> float:
    return rows.error


def _counts(values: int) -> list[int]:
    """Return the numbers of rows to try along an axis."""
    fourth = {values // 4} if values <= 64 else set()
    return sorted({max(1, values // 16), max(1, values // 8) if values <= 512 else 1} - {0} | fourth - {0})


def _rounded(gram: Floats, real: RealRows, level: float, base: int, most: int, *, exact: bool) -> AxisRows:
    """Round real rows to integer rows, with several numbers of parts and of levels for the values; return the best."""
    best, least = AxisRows(base, np.zeros((0, len(gram)), dtype=np.int64), 1), np.inf
    for count in sorted({min(levels, most, len(gram)) for levels in _LEVELS[-2 if len(gram) > 256 else 0 :]}):
        left = np.minimum(few_levels(real.left, count), level)
        fitted = refitted(gram / gram.trace(), real.rows, left, level, exact=exact)
        for parts in _PARTS if len(gram) <= _FEW else _PARTS[-2:]:
            whole = whole_rows(fitted.rows, left, level, parts)
            listed = AxisRows(base, whole, parts)
            # Compute tr(M X^-1) of the integer rows along this axis.
            levels = np.array([float(share) for share in listed.shares]) * level
            precisions = row_precision(levels) if exact else levels**2 / 2
            B = listed.float_estimates(precisions)
            squares = ((gram @ B) * B).sum(axis=0)
            error = sum(
                float(squares[places].sum() / precision)
                for places, precision in zip(listed.places, precisions, strict=True)
            )
            if error < least and len(listed.places) <= most + 1:
                best, least = listed, error
    return best

"""Estimate all sums from noisy sums of marginals: generalised least squares, in closed form and in integers.

Let P_S average over the groups of a marginal S. If all groups of a level have one size, these projections commute.
Their common eigenspaces T, one for each choice of a level on every axis, have the projections Q_T = tensor of (P_t -
P_(t+1)). If the sums of S have the weight q_S, and each group of S has m_S cells, least squares is

    x^ = sum_T 1/lambda_T Q_T sum_S q_S A_S' y_S,        lambda_T = sum of m_S q_S over the S finer than T or equal,

so only averages over axes are needed. The estimate is unbiased for any positive weights. With the weights 1/variance
the estimate has the least variance of all linear unbiased estimates [Gauss, Markov]. The weights here are integers,
proportional to 1/variance within 2^-25, so every estimate is an exact rational function of the measured sums.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise, product
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance, mapping
from utmost.core.exact.arrays import largest_size
from utmost.core.exact.levels import Level
from utmost.errors import NotDetermined, OutOfRange, Unsupported
from utmost.publish.workloads.measuring.forms import ProductForm, values_of
from utmost.tables.axes.axes import Axis
from utmost.tables.axes.domain import Domain, Marginal, is_finer

_NAMED = 12  # an error names at most this many marginals
_MOST_CLASSED = 64  # at most this many lists are cached, each at most as long as an axis
_DIGITS = 25  # binary digits of a weight
_LOUDEST, _SILENT = (
    Level(None, Fraction(1, 1 << 1000)),
    Level(None, Fraction(100)),
)  # levels outside these two have the weight of the nearer one


def precision_weights(levels: Mapping[Marginal, Level]) -> dict[Marginal, int]:
    """Return integers without common divisor, proportional to the precisions of geometric noise within 2^-25."""
    # Each level is for one unit of noise: P(x + 1) = exp(-level) P(x). At level 100, noise is not 0 with a probability
    # of about e^-100.
    precisions = {}
    for marginal, level in levels.items():
        near = max(_LOUDEST, min(level, _SILENT))
        # 1/variance = (1 - alpha)^2 / (2 alpha), with a relative error below 2^-60: alpha is above 2^-145, and
        # 1 - alpha is above 2^-small / 2.
        small = max(0, -math.frexp(near.epsilon_float)[1])
        interval = near.alpha_interval(256 + small)
        alpha = near.base if near.base and near.power == 1 else (interval.lower + interval.upper) / 2
        precisions[marginal] = (1 - alpha) ** 2 / (2 * alpha)
    least = min(precisions.values())
    ratios = {marginal: _rounded(precise / least) for marginal, precise in precisions.items()}
    common = math.lcm(*(ratio.denominator for ratio in ratios.values()))
    whole = {marginal: int(ratio * common) for marginal, ratio in ratios.items()}
    divisor = math.gcd(*whole.values())
    return {marginal: weight // divisor for marginal, weight in whole.items()}


def _rounded(ratio: Fraction) -> Fraction:
    """Round a rational >= 1 to 25 binary digits; a short rational is unchanged."""
    if max(ratio.numerator, ratio.denominator) < 1 << _DIGITS:
        return ratio
    step = Fraction(2) ** (int(ratio).bit_length() - _DIGITS)
    return round(ratio / step) * step


@dataclass(frozen=True, slots=True, eq=False)
class Reconstruction:
    """Least squares from measured marginals, if the groups of each measured level have one size [nelder1965]."""

    # Time of an estimate: the wanted cells or groups times 2^axes; for the first estimate also the measured sums.
    domain: Domain
    weights: Mapping[Marginal, int]  # a positive integer for each marginal, proportional to the precision of its sums
    _chains: tuple[tuple[int, ...], ...] = field(init=False, repr=False)
    _totals: dict[Marginal, int] = field(init=False, repr=False)
    _measured: tuple[tuple[Marginal, int], ...] = field(init=False, repr=False)
    _sizes: dict[tuple[int, int], tuple[int, int]] = field(init=False, repr=False)
    _classed: dict[Any, list[tuple[Any, int]]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        instance(self.domain, Domain, "domain")
        object.__setattr__(self, "weights", read_weights(mapping(self.weights, "weights")))
        object.__setattr__(self, "_sizes", {})
        object.__setattr__(self, "_classed", {})
        chains = []
        for axis in range(len(self.domain.axes)):
            # The measured levels of the axis, and the finest level
            levels = {0, *(self._canonical(axis, marginal[axis]) for marginal in self.weights)}
            for level in levels:
                self._block(axis, level)
            chains.append(tuple(sorted(levels)))
        object.__setattr__(self, "_chains", tuple(chains))
        object.__setattr__(self, "_totals", {})
        measured = ((self.canonical(marginal), self.cells_in(marginal) * q) for marginal, q in self.weights.items())
        object.__setattr__(self, "_measured", tuple(measured))

    def __reduce__(self) -> tuple[Any, ...]:
        return Reconstruction, (self.domain, dict(self.weights))

    def cells_in(self, marginal: Marginal) -> int:
        """Return the number of cells in a group of a measured marginal."""
        return math.prod(self._block(a, level) for a, level in enumerate(marginal))

    def spaces(self, base: Marginal | None = None) -> list[Marginal]:
        """Return the eigenspaces of the measured levels; with ``base``, only those that its sums need."""
        least = self.domain.finest if base is None else base
        return list(product(*([v for v in c if v >= b] for c, b in zip(self._chains, least, strict=True))))

    def total(self, space: Marginal) -> int:
        """Return lambda_T of an eigenspace; 0 if no marginal measures it."""
        # Compute each when it is first read: there may be as many eigenspaces as cells, and an answer needs only few.
        if space not in self._totals:
            self._totals[space] = sum(weight for marginal, weight in self._measured if is_finer(marginal, space))
        return self._totals[space]

    @property
    def chains(self) -> tuple[tuple[int, ...], ...]:
        """For each axis, its measured levels and its finest level."""
        return self._chains

    def canonical(self, marginal: Marginal) -> Marginal:
        """Return the finest marginal that has the same groups as ``marginal``."""
        return tuple(self._canonical(a, level) for a, level in enumerate(marginal))

    def base_of(self, marginal: Marginal) -> Marginal:
        """Return the coarsest marginal of measured levels that is nowhere coarser than ``marginal``."""
        same = self.canonical(marginal)
        return tuple(
            max(coarser for coarser in chain if coarser <= level)
            for chain, level in zip(self._chains, same, strict=True)
        )

    @property
    def curvatures(self) -> tuple[int, int]:
        """The least and the largest lambda_T, which are the curvatures of the sum of squares."""
        coarsest = tuple(chain[-1] for chain in self._chains)
        return self.total(self.domain.finest), self.total(coarsest)  # a coarser space has a larger lambda

    def kinds(self, marginal: Marginal) -> NDArray[np.intp]:
        """Number the groups: groups with the same size on every axis have the same number."""
        return kinds_of_groups(self.domain, marginal)

    def estimates(self, measured: Mapping[Marginal, NDArray[Any]], marginal: Marginal) -> tuple[NDArray[Any], int]:
        self.check_marginal_determined(marginal)
        return self._estimates(measured, self.base_of(marginal), marginal)

    def floats(self, measured: Mapping[Marginal, NDArray[Any]], marginal: Marginal) -> NDArray[np.float64]:
        """Return the estimates in float64, without the parts in eigenspaces that are not determined."""
        base = self.base_of(marginal)
        divisor, kernel = self._kernel(base)
        shares = {coarse: float(Fraction(weight, divisor)) for coarse, weight in kernel.items()}
        smoothed = self._smoothed(self._gathered(measured, base, np.dtype(np.float64)), base, shares)
        return self._regrouped(smoothed, base, marginal)

    def value(self, measured: Mapping[Marginal, NDArray[Any]], form: ProductForm) -> Fraction:
        self.check_determined(form)
        base = self.base_of(form.marginal)
        sums, divisor = self._estimates(measured, base, base)
        return form.of(sums, base) / divisor

    def values(self, measured: Mapping[Marginal, NDArray[Any]], forms: Sequence[ProductForm]) -> list[Fraction]:
        """Return the estimates of several linear forms, from one estimate of a common marginal."""
        if len(forms) < 2:
            return [self.value(measured, form) for form in forms]
        self.variances(forms, dict.fromkeys(self.weights, 0.0))
        base = self._common_base(forms)
        sums, divisor = self._estimates(measured, base, base)
        return [value / divisor for value in values_of(forms, sums, base)]

    def variances(self, forms: Sequence[ProductForm], variances: Mapping[Marginal, float]) -> NDArray[np.float64]:
        """Return the variances of forms, within 10^-12, from the variance of each marginal's noise."""
        # The factor of an eigenspace is (sum of m_S q_S^2 v_S) / lambda_T^2, which is 1/lambda_T if q_S = 1/v_S.
        parts = [self._parts(forms, axis) for axis in range(len(self._chains))]
        scales = [form.denominator**2 * math.prod(axis.size for axis in self.domain.axes) for form in forms]
        of_forms = np.zeros(len(forms))
        for space in self.spaces(self._common_base(forms)):
            total = self.total(space)
            columns = [part[level] for part, level in zip(parts, space, strict=True)]
            products = list(map(math.prod, zip(*columns, strict=True))) if columns else [1] * len(forms)
            if total == 0 and any(products):
                lost = next(form for form, energy in zip(forms, products, strict=True) if energy)
                raise not_determined(self.domain, lost.marginal, self.weights)
            energies = np.array([energy / scale for energy, scale in zip(products, scales, strict=True)])
            for (canonical, _), (marginal, weight) in zip(self._measured, self.weights.items(), strict=True):
                if total and is_finer(canonical, space):
                    share = self.cells_in(marginal) * Fraction(weight, total) ** 2
                    of_forms += energies * (float(share) * variances[marginal])
        return of_forms

    def _common_base(self, forms: Sequence[ProductForm]) -> Marginal:
        """Return the coarsest marginal of measured levels such that each form is a sum over its groups."""
        bases = [self.base_of(form.marginal) for form in forms]
        return tuple(min(levels) for levels in zip(*bases, strict=True))

    def _parts(self, forms: Sequence[ProductForm], axis: int) -> dict[int, list[int]]:
        """For each level of an axis and each form, return the axis' factor in `energies`, times the axis' size."""
        factors = np.array([form.factors[axis] for form in forms], dtype=object)
        size = self.domain.axes[axis].size
        # Below this bound, int64 can hold the sums of squares.
        if largest_size(factors) ** 2 * size**2 < 1 << 62:
            factors = factors.astype(np.int64)
        lengths = []
        for level in self._chains[axis]:
            sums = np.add.reduceat(factors, self.domain.axes[axis].group_starts(level), axis=1)
            lengths.append((sums * sums).sum(axis=1) * sums.shape[1])
        lengths.append(np.zeros_like(lengths[0]))
        differences = [(fine - coarse).tolist() for fine, coarse in pairwise(lengths)]
        return dict(zip(self._chains[axis], differences, strict=True))

    def check_marginal_determined(self, marginal: Marginal) -> None:
        if not self.total(self.base_of(marginal)):  # if this space is measured, so are all coarser ones
            raise not_determined(self.domain, marginal, self.weights)

    def check_determined(self, form: ProductForm) -> None:
        if any(energy and not self.total(space) for space, energy in self.energies(form).items()):
            raise not_determined(self.domain, form.marginal, self.weights)

    def energies(self, form: ProductForm) -> dict[Marginal, Fraction]:
        """Return the squared length of a form's part in each eigenspace in which it may have a part."""
        parts = []
        base = self.base_of(form.marginal)
        for a, (chain, least) in enumerate(zip(self._chains, base, strict=True)):
            lengths = [*(form.energy(a, level) for level in chain if level >= least), Fraction(0)]
            parts.append([fine - coarse for fine, coarse in pairwise(lengths)])
        scale = Fraction(1, form.denominator**2)
        return {space: scale * math.prod(part) for space, part in zip(self.spaces(base), product(*parts), strict=True)}

    def terms(self, *forms: ProductForm) -> dict[Marginal, dict[tuple[Fraction, ...], int]]:
        """For each measured marginal, count the sums whose noise has the same coefficients in the forms' estimates."""
        # Groups with the same coefficients on every axis are treated as one class, so the cost depends only on the
        # axes.
        base = self._common_base(forms)
        divisor, kernel = self._kernel(base)
        divisor *= self.cells_in(base)  # a group's coefficient is the mean over its cells
        used = [sum(level >= least for level in chain) for chain, least in zip(self._chains, base, strict=True)]
        shares = np.array(list(kernel.values()), dtype=object).reshape([count for count in used if count > 1])
        coefficients = {}
        for marginal, weight in self.weights.items():
            classes = [self._classes(forms, a, level) for a, level in enumerate(marginal)]
            vectors = [np.array([count for _, count in alike], dtype=object) for alike in classes]
            counts = vectors[0] if vectors else np.array(1, dtype=object)
            for vector in vectors[1:]:
                counts = np.multiply.outer(counts, vector)
            columns = []
            for which, form in enumerate(forms):
                total: Any = shares
                for axis_classes, count in zip(classes, used, strict=True):
                    picked = np.array([key[which][-count:] for key, _ in axis_classes], dtype=object)
                    if count > 1:  # sum over the first axis that is left; its classes become the last axis
                        total = np.tensordot(total, picked, axes=([0], [1]))
                    else:
                        total = np.multiply.outer(total, picked[:, 0])
                scale = divisor * form.denominator
                columns.append([Fraction(weight * weighted, scale) for weighted in np.ravel(total).tolist()])
            occurrences: dict[tuple[Fraction, ...], int] = {}
            for key, times in zip(zip(*columns, strict=True), counts.ravel().tolist(), strict=True):
                if any(key):
                    occurrences[key] = occurrences.get(key, 0) + times
            coefficients[marginal] = occurrences
        return coefficients

    def on_cells(
        self, measured: Mapping[Marginal, NDArray[Any]]
    ) -> tuple[Self, dict[Marginal, tuple[NDArray[Any], int]]]:
        return self, {marginal: (sums, 1) for marginal, sums in measured.items()}

    def _estimates(
        self, measured: Mapping[Marginal, NDArray[Any]], base: Marginal, marginal: Marginal
    ) -> tuple[NDArray[Any], int]:
        divisor, kernel = self._kernel(base)
        bound = sum(q * self.cells_in(s) * largest_size(measured[s]) for s, q in self.weights.items())
        bound *= self.domain.size * sum(map(abs, kernel.values()))
        kind = np.dtype(np.int64 if bound < 1 << 62 else object)
        smoothed = self._smoothed(self._gathered(measured, base, kind), base, kernel)
        return self._regrouped(smoothed, base, marginal), divisor

    def _gathered(self, measured: Mapping[Marginal, NDArray[Any]], base: Marginal, kind: np.dtype[Any]) -> NDArray[Any]:
        """Return sum_S q_S A_base A_S' y_S."""
        gathered = np.zeros(self.domain.group_shape(base), dtype=kind)
        for marginal, weight in self.weights.items():
            shared = self.cells_in(
                tuple(min(level, base_level) for level, base_level in zip(marginal, base, strict=True))
            )
            sums = measured[marginal].reshape(self.domain.group_shape(marginal)).astype(kind)
            gathered += weight * shared * self._regrouped(sums, marginal, base)
        return gathered

    def _smoothed(self, groups: NDArray[Any], base: Marginal, kernel: Mapping[Marginal, Any]) -> NDArray[Any]:
        smoothed = np.zeros_like(groups)
        for coarse, weight in kernel.items():
            if weight:
                smoothed += self._regrouped(weight * self._regrouped(groups, base, coarse), coarse, base)
        return smoothed

    def _kernel(self, base: Marginal) -> tuple[int, dict[Marginal, int]]:
        """Return D and K_V with (sum of Q_T / lambda_T over T >= ``base``) = (sum of K_V A_V' A_V) / D."""
        fractions = {}
        for space in self.spaces(base):
            # The spaces T whose projections Q_T contain P_space, each with its sign
            choices = []
            for chain, level, least in zip(self._chains, space, base, strict=True):
                finer = [(chain[chain.index(level) - 1], -1)] if level > least else []
                choices.append([(level, 1), *finer])
            total = Fraction(0)
            for picked in product(*choices):
                if precision := self.total(tuple(level for level, _ in picked)):
                    total += Fraction(math.prod(sign for _, sign in picked), precision)
            fractions[space] = total * self.cells_in(base) / self.cells_in(space)
        divisor = math.lcm(*(fraction.denominator for fraction in fractions.values()))
        return divisor, {space: int(fraction * divisor) for space, fraction in fractions.items()}

    def _classes(self, forms: Sequence[ProductForm], axis: int, level: int) -> list[tuple[Any, int]]:
        """For a level of one axis, return classes of groups with equal coefficients, and the size of each class."""
        # Cache them, since the forms of a quantile differ along only one axis.
        factors = axis, level, *(tuple(form.factors[axis].tolist()) for form in forms)
        known = self._classed.get(factors)
        if known is None:
            if len(self._classed) >= _MOST_CLASSED:
                self._classed.clear()
            rows = []
            for form in forms:
                for coarse in self._chains[axis]:
                    sums = form.group_sums(axis, max(coarse, self._canonical(axis, level)))
                    spread = self._along(sums, axis, max(coarse, self._canonical(axis, level)), level, 0)
                    rows.append((spread * min(self._block(axis, coarse), self._block(axis, level))).tolist())
            counted = Counter(zip(*rows, strict=True))
            many = len(self._chains[axis])
            known = self._classed[factors] = [
                (tuple(column[i * many : (i + 1) * many] for i in range(len(forms))), count)
                for column, count in counted.items()
            ]
        return known

    def _regrouped(self, groups: NDArray[Any], source: Marginal, target: Marginal) -> NDArray[Any]:
        """Add up sums to coarser groups; for finer groups, repeat the sum of the group that contains them."""
        regrouped = groups
        for a, (source_level, target_level) in enumerate(zip(source, target, strict=True)):
            regrouped = self._along(regrouped, a, source_level, target_level, a)
        return regrouped

    def _along(self, groups: NDArray[Any], axis: int, source: int, target: int, place: int) -> NDArray[Any]:
        if self._canonical(axis, source) == self._canonical(axis, target):
            return groups
        values = self.domain.axes[axis]
        starts = values.group_starts(target)
        if values.groups(target) < values.groups(source):
            if len(starts) == 1:
                return np.asarray(groups.sum(axis=place, keepdims=True))
            return np.add.reduceat(groups, np.searchsorted(values.group_starts(source), starts), axis=place)
        return np.take(groups, values.group_of(source)[starts], axis=place)

    def _canonical(self, axis: int, level: int) -> int:
        """Return the finest level that has the same groups as ``level``."""
        return self._level(axis, level)[0]

    def _block(self, axis: int, level: int) -> int:
        """Return the number of values in each group of a level; refuse groups of several sizes."""
        block = self._level(axis, level)[1]
        return block or even_block(self.domain.axes[axis], level)  # 0: even_block refuses

    def _level(self, axis: int, level: int) -> tuple[int, int]:
        """Return the finest level with the groups of ``level``, and their size (0 if it differs); cached."""
        known = self._sizes.get((axis, level))
        if known is None:
            values = self.domain.axes[axis]
            canonical = next(fine for fine in range(level + 1) if values.groups(fine) == values.groups(level))
            sizes = np.diff(values.group_starts(level), append=values.size)
            known = self._sizes[axis, level] = canonical, int(sizes[0]) if (sizes == sizes[0]).all() else 0
        return known


def even_block(axis: Axis, level: int) -> int:
    """Return the number of values in each group of a level; refuse groups of several sizes."""
    sizes = axis.group_sizes(level)
    if (sizes != sizes[0]).any():
        raise Unsupported(
            "all groups of a measured level must have the same size",
            came=f"groups of {sizes.min()} to {sizes.max()}",
            where=repr(axis.levels[level]),
            remedy="Measure the finest level; a workload may still ask for sums over coarser groups.",
        )
    return int(sizes[0])


def read_weights(weights: Mapping[Marginal, int]) -> dict[Marginal, int]:
    """Check that measured marginals have positive integers as weights."""
    if not weights or any(type(weight) is not int or weight <= 0 for weight in weights.values()):
        raise OutOfRange("each measured marginal must have a positive integer as its weight", came="other weights")
    if not all(isinstance(marginal, tuple) and all(type(level) is int for level in marginal) for marginal in weights):
        raise OutOfRange("each measured marginal must be a tuple of levels, one for each axis", came="other keys")
    return dict(weights)


def kinds_of_groups(domain: Domain, marginal: Marginal) -> NDArray[np.intp]:
    """Number the groups of a marginal, flattened: groups with the same size on every axis have the same number."""
    numbers = np.zeros(1, dtype=np.intp)
    for axis, level in zip(domain.axes, marginal, strict=True):
        if axis.groups(level) > 1:
            sizes = axis.group_sizes(level)
            different, which = np.unique(sizes, return_inverse=True)
            numbers = np.add.outer(numbers * len(different), which).ravel()  # arrays have at most 64 axes
    return numbers


def not_determined(domain: Domain, marginal: Marginal, measured: Iterable[Marginal]) -> NotDetermined:
    """Return the error for sums of a marginal that the measured sums do not determine."""
    name = domain.marginal_name(marginal)
    names = [repr(domain.marginal_name(known)) for known in measured]
    more = [f"and {len(names) - _NAMED} more"] if len(names) > _NAMED else []
    return NotDetermined(
        f"the answer must follow from the measured tables ({', '.join([*names[:_NAMED], *more])})",
        came=f"sums over {name!r}" if name else "the total",
        remedy=f"Ask for a coarser sum; or measure {name!r} or a finer table.",
    )


def not_cleanable() -> Unsupported:
    """Return the error for clean tables of a vast domain, or of a plan that measures differences or listed rows."""
    remedy = 'Plan with method="independent", over a smaller domain.'
    came = "listed rows, differences or a vast domain"
    return Unsupported("clean tables need measured groups or hat functions", came=came, remedy=remedy)

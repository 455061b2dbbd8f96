"""Margins of tables whose sums have many different error distributions, as when hat functions were measured.

Inverting a characteristic function for each sum would take minutes. But the distributions are similar: only a few are
inverted, and every other distribution is replaced by the nearest of these few, widened by a bound on the difference
(see `near_distributions`).
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import Floats
from utmost.core.exact.levels import Level
from utmost.core.noise.combination import Combination
from utmost.core.noise.near_distributions import NearDistribution, SpreadBound, spreads
from utmost.publish.workloads.measuring.forms import ProductForm, group_of
from utmost.publish.workloads.reconstruction.estimates import CoefficientsAlong, LeastSquares
from utmost.tables.axes.domain import Marginal

FEW_DISTRIBUTIONS = 12
"""The largest number of distributions that are inverted one by one."""

_WIDER = 0.04  # a margin may exceed its exact value by this many standard deviations
_MISS = 0.05 / 32  # bounds on the difference of two distributions fail with this probability
_AT_ONCE = 1 << 22


def distributions_of_groups(
    reconstruction: LeastSquares,
    marginal: Marginal,
    ratios: Mapping[Marginal, Level],
    noise: Callable[[ProductForm], Combination],
) -> tuple[NDArray[np.intp], dict[int, Combination]]:
    """Return for each group of a marginal the index of a distribution with valid margins, and these distributions."""
    domain = reconstruction.domain
    numbers, first = np.unique(reconstruction.kinds(marginal), return_index=True)
    kinds = np.searchsorted(numbers, reconstruction.kinds(marginal).ravel())
    places = [places_of(number, domain.group_shape(marginal)) for number in first.tolist()]

    def distribution(kind: int) -> Combination:
        return noise(group_of(domain, marginal, places[kind]))

    def among(members: Sequence[int]) -> Callable[[int], Combination]:
        return lambda member: distribution(members[member])

    if not isinstance(reconstruction, CoefficientsAlong) or len(places) <= FEW_DISTRIBUTIONS:
        return kinds, {kind: distribution(kind) for kind in range(len(places))}
    known: list[Combination] = []
    number = np.zeros(len(places), dtype=np.intp)
    # For each group of the other axes, its kinds of sums, in the order of the axis of hat functions
    along = reconstruction.place
    by_others: dict[tuple[int, ...], list[int]] = {}
    for kind in sorted(range(len(places)), key=lambda kind: places[kind][along]):
        others = tuple(group for axis, group in enumerate(places[kind]) if axis != along) or (0,)
        by_others.setdefault(others, []).append(kind)
    for others, members in by_others.items():
        terms = reconstruction.coefficients(marginal, others)
        which, distributions = _near_distributions(terms, ratios, among(members))
        number[members] = which + len(known)
        known += distributions
    return number[kinds], dict(enumerate(known))


def places_of(number: int, shape: Sequence[int]) -> tuple[int, ...]:
    """Return the index of a group on each axis, from its flat index; NumPy allows fewer axes than a domain."""
    places = []
    for groups in reversed(shape):
        number, place = divmod(number, groups)
        places.append(place)
    return tuple(reversed(places))


def _near_distributions(
    terms: Sequence[tuple[Marginal, Floats, int]],
    ratios: Mapping[Marginal, Level],
    distribution: Callable[[int], Combination],
) -> tuple[NDArray[np.intp], list[Combination]]:
    """Return for each sum the index of a distribution whose margins are valid for it, and these distributions."""
    # Noises at one level are exchangeable and symmetric, so coefficients are compared by their sorted sizes.
    sizes = np.concatenate([np.sort(np.abs(piece), axis=1) for _, piece, _ in terms], axis=1)
    epsilons = np.concatenate([np.full(piece.shape[1], ratios[marginal].epsilon_float) for marginal, piece, _ in terms])
    counts = np.concatenate([np.full(piece.shape[1], float(count)) for _, piece, count in terms])
    # above epsilon 600 there is hardly any noise, and an order of magnitude suffices
    deviations = np.sqrt(sizes**2 @ (counts / 2 / np.sinh(np.clip(epsilons, 1e-150, 600.0) / 2) ** 2))
    at_once = max(1, _AT_ONCE // sizes.shape[1])
    which: NDArray[np.intp] = np.full(len(sizes), -1, dtype=np.intp)
    distributions: list[Combination] = []
    while (which < 0).any():
        left = np.flatnonzero(which < 0)
        first = int(left[deviations[left].argmax()])
        bounds: list[SpreadBound] = []
        for start in range(0, len(left), at_once):
            bounds += spreads(sizes[left[start : start + at_once]] - sizes[first], epsilons, counts)
        differences = np.array([bound.margin_for_miss(_MISS) for bound in bounds])
        wider = differences + 2 * (deviations[first] - deviations[left])
        near = (wider <= _WIDER * deviations[first]) | (left == first)
        which[left[near]] = len(distributions)
        exactly, alike = distribution(first), [bound for bound, on in zip(bounds, near, strict=True) if on]
        if len(alike) == 1:
            distributions.append(exactly)
        else:
            bound = SpreadBound(max(bound.square for bound in alike), min(bound.steepest for bound in alike))
            distributions.append(NearDistribution(exactly, bound))
    return which, distributions

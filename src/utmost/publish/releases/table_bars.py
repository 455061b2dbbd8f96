"""Margins of tables whose sums have many different error distributions, such as with measured hat functions.

Inverting a characteristic function for each sum would take minutes. The distributions are similar; so few of them are
inverted, and each other one is replaced by the nearest of these, widened by the difference (`near_laws`).
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import Floats
from utmost.core.exact.levels import Level
from utmost.core.noise.combination import Combination
from utmost.core.noise.near_laws import NearLaw, SpreadBound, spreads
from utmost.publish.workloads.measuring.forms import ProductForm, group_of
from utmost.publish.workloads.reconstruction.estimates import CoefficientsAlong, LeastSquares
from utmost.tables.axes.domain import Family

FEW = 12
"""The largest number of distributions that are inverted one by one."""

_WIDER = 0.04  # of a standard deviation, by which a margin may exceed its exact value
_MISS = 0.05 / 32  # probability at which spreads are compared
_AT_ONCE = 1 << 22


def laws_of_groups(
    reconstruction: LeastSquares,
    family: Family,
    ratios: Mapping[Family, Level],
    noise: Callable[[ProductForm], Combination],
) -> tuple[NDArray[np.intp], dict[int, Combination]]:
    """The number of a distribution whose margins hold for each group of a marginal, and these distributions."""
    domain = reconstruction.domain
    numbers, first = np.unique(reconstruction.kinds(family), return_index=True)
    kinds = np.searchsorted(numbers, reconstruction.kinds(family).ravel())
    places = [places_of(number, domain.group_shape(family)) for number in first.tolist()]

    def law(kind: int) -> Combination:
        return noise(group_of(domain, family, places[kind]))

    def among(members: Sequence[int]) -> Callable[[int], Combination]:
        return lambda member: law(members[member])

    if not isinstance(reconstruction, CoefficientsAlong) or len(places) <= FEW:
        return kinds, {kind: law(kind) for kind in range(len(places))}
    known: list[Combination] = []
    number = np.zeros(len(places), dtype=np.intp)
    for others, members in _by_others(places, reconstruction.place).items():
        terms = reconstruction.coefficients(family, others)
        which, laws = _near_laws(terms, ratios, among(members))
        number[members] = which + len(known)
        known += laws
    return number[kinds], dict(enumerate(known))


def places_of(number: int, shape: Sequence[int]) -> tuple[int, ...]:
    """The group with a number, by axis; written by hand, since there may be more axes than NumPy allows."""
    places = []
    for groups in reversed(shape):
        number, place = divmod(number, groups)
        places.append(place)
    return tuple(reversed(places))


def _by_others(places: Sequence[tuple[int, ...]], along: int) -> dict[tuple[int, ...], list[int]]:
    """The kinds in each group of the other axes, in the order of the axis of hat functions."""
    others: dict[tuple[int, ...], list[int]] = {}
    for kind in sorted(range(len(places)), key=lambda kind_place: places[kind_place][along]):
        others.setdefault(tuple(group for a, group in enumerate(places[kind]) if a != along) or (0,), []).append(kind)
    return others


def _near_laws(
    terms: Sequence[tuple[Family, Floats, int]], ratios: Mapping[Family, Level], law: Callable[[int], Combination]
) -> tuple[NDArray[np.intp], list[Combination]]:
    """The number of a distribution whose margins hold for each sum, and these distributions."""
    # Noises of one level are exchangeable and symmetric: coefficients are compared by size.
    sizes = np.concatenate([np.sort(np.abs(piece), axis=1) for _, piece, _ in terms], axis=1)
    epsilons = np.concatenate([np.full(piece.shape[1], ratios[family].epsilon_float) for family, piece, _ in terms])
    counts = np.concatenate([np.full(piece.shape[1], float(count)) for _, piece, count in terms])
    # beyond a level of 600 there is hardly any noise, and an order of magnitude suffices here
    deviations = np.sqrt(sizes**2 @ (counts / 2 / np.sinh(np.clip(epsilons, 1e-150, 600.0) / 2) ** 2))
    which: NDArray[np.intp] = np.full(len(sizes), -1, dtype=np.intp)
    laws: list[Combination] = []
    while (which < 0).any():
        left = np.flatnonzero(which < 0)
        first = int(left[deviations[left].argmax()])
        spreads_of_laws = _spreads(sizes, left, first, epsilons, counts)
        wider = np.array([piece.reach(_MISS) for piece in spreads_of_laws]) + 2 * (deviations[first] - deviations[left])
        near = (wider <= _WIDER * deviations[first]) | (left == first)
        which[left[near]] = len(laws)
        laws.append(_law([piece for piece, on in zip(spreads_of_laws, near, strict=True) if on], law(first)))
    return which, laws


def _law(members: Sequence[SpreadBound], exactly: Combination) -> Combination:
    if len(members) == 1:
        return exactly
    return NearLaw(
        exactly, SpreadBound(max(member.square for member in members), min(member.steepest for member in members))
    )


def _spreads(
    sizes: Floats, places: NDArray[np.intp], first: int, epsilons: Floats, counts: Floats
) -> list[SpreadBound]:
    step = max(1, _AT_ONCE // sizes.shape[1])
    pieces: list[SpreadBound] = []
    for start in range(0, len(places), step):
        pieces += spreads(sizes[places[start : start + step]] - sizes[first], epsilons, counts)
    return pieces

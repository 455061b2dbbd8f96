"""Find the best private channel on hundreds of places (secrets) by column generation, and return its certificate.

The columns of a channel, one for each action, all lie in the same cone. So the best channel consists of multiples of
extreme rays of the cone, each assigned to its cheapest action; at every place, the entries of these multiples sum to 1.
A linear program with one row for each place finds the rays of the best channel. Rays are generated as needed: at the
prices mu of the rows, a simplex method on trees (`utmost.design.optima.tree_pricing`) finds the best ray of each
action. When all trees are optimal, their flows are the multipliers that prove a lower bound.

The float solution proves nothing. The columns of the float solution are corrected to an exactly private channel, and
its multipliers to a feasible dual; from channel and dual the checker computes both bounds of the certificate.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from utmost.core.exact.arrays import Indices
from utmost.core.exact.one_thread import one_blas_thread
from utmost.design.optima.checker import Multipliers
from utmost.design.optima.evidence import Certificate
from utmost.design.optima.extreme_rays import LARGEST_EXPONENT, plain_factors
from utmost.design.optima.near_places import merging_circles
from utmost.design.optima.nearly_private import feasible_dual, roomy_matrix
from utmost.design.optima.search_for_rays import GapProgress, RayProgram, RaySearch, SearchResults
from utmost.design.optima.tree_pricing import compile_if_it_pays
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.design.spaces.consumer import Consumer
from utmost.errors import SolverFailed, WrongKind

_AIM_SHARE = 0.6  # the search stops at this fraction of the requested gap, because rounding will widen the gap
# largest ratio of the epsilons of two searches for which the first helps the second
_NEAR_LEVELS = 2.0
# Relative gaps at which a search stops, to see which places without mass must be included. Searches with merged places
# stop at the first of these gaps.
_ROUGH_GAPS = (1e-2, 1e-4)


def certificate_of_rays(
    ptype: PrivacyType,
    consumer: Consumer,
    *,
    gap: float = 1e-7,
    progress: GapProgress | None = None,
) -> Certificate:
    """Return the certificate of a channel whose loss exceeds the least loss at most by the relative gap ``gap``."""
    # The gap is relative to the loss, or to 1e-12 of the largest expected loss of an action if that is more.
    # ``progress`` receives the number of rounds and the relative gap so far, for the current places; if merged places
    # have misled a search, a new one starts, and the number of rounds starts at 0 again. If rounding errors or a
    # keyboard interrupt stop the search early, the gap is larger. Time: 5 to 60 seconds for 400 places. There are 20 to
    # 250 rounds; a
    # round takes O(n^2 N) operations for N = 8 n rays, and O(n s) for each pivot of a tree with s sources. Memory:
    # O(n (n + k)) floats for k actions. Source:
    # column generation on program (2) to (6) of [ghosh2009], smoothed as in [wentges1997];
    # proofs/theory/large-designs.md.
    if progress is not None and not callable(progress):
        remedy = "Pass None, or a function of two arguments: the number of rounds and the gap."
        raise WrongKind("progress must be a function", came=type(progress).__name__, remedy=remedy)
    return searched(ptype, consumer, gap=gap, progress=progress).certificate


def searched(
    ptype: PrivacyType,
    consumer: Consumer,
    *,
    gap: float,
    progress: GapProgress | None = None,
    starts: Sequence[SearchResults] = (),
) -> "SearchedCertificate":
    """Return the certificate of `certificate_of_rays`, together with results from which other searches on the space can
    start.
    """
    # ``starts`` are results of one or two searches on this space, at any levels and for any consumers, nearest first.
    program, now = RayProgram.of(ptype, consumer), ptype.level.epsilon_float
    # Rays and prices help only if their epsilon is near the epsilon of this search.
    starts = [start for start in starts if 1 / _NEAR_LEVELS <= start.epsilon / now <= _NEAR_LEVELS]
    farthest = float(np.asarray(ptype.space.distances, dtype=np.float64).max())
    if max((*(start.epsilon for start in starts), now)) * farthest > LARGEST_EXPONENT:
        starts = []
    merged = [] if starts else merging_circles(-np.log(program.factors), program.prior)
    compile_if_it_pays(int((program.prior > 0).sum()))
    # In matrix products of a few hundred rows, threads cost more time than they save.
    with one_blas_thread():
        search, whole = _last_search(program, _searches(program, starts, merged, gap), progress)
        # Merged places may mislead a search if losses differ as much between near places as between far ones (as for
        # the binary loss).
        if whole and merged and search.gap > search.aim(gap):
            try:
                again, whole = _last_search(program, _searches(program, (), [], gap), progress)
                search = min(search, again, key=lambda ended: ended.gap)
            except KeyboardInterrupt:
                whole = False
        bound, scale, at = search.best, search.program.scale, search.places
        if bound is None or not np.isfinite(bound.value):
            remedy = 'Pass a larger gap, or method="program".'
            raise SolverFailed("the search must prove a bound", came="none", where="certificate_of_rays", remedy=remedy)
        shortfalls = bound.trees.price_shortfalls(search.costs - bound.prices, bound.level)
        prices = bound.prices + bound.level * bound.trees.weights - shortfalls
        factors = plain_factors(np.asarray(ptype.space.distances, dtype=np.float64), now)
        proof = bound.trees.multipliers(search.costs - prices, factors[np.ix_(at, at)])
        scaled = Multipliers(at[proof.low], at[proof.high], proof.action, proof.value * scale)
        mu = np.zeros(len(factors))
        mu[at] = prices * scale
        # From here on, all numbers are rationals, or floats rounded outward.
        mu, multipliers = feasible_dual(ptype, consumer, mu, scaled)
        matrix = roomy_matrix(ptype, search.channel())
        certificate = Certificate(ptype, consumer, mu, matrix=matrix, multipliers=multipliers)
        return SearchedCertificate(certificate, whole, search.results())


def _last_search(
    program: RayProgram, searches: Iterator[tuple[RaySearch, float]], progress: GapProgress | None
) -> tuple[RaySearch, bool]:
    """Run each search to its relative gap; return the last and True, or after an interrupt the best and False."""
    search = None
    try:
        for search, aim in searches:
            search.run(aim, progress)
    # An interrupted search proves bounds too, with a wider gap.
    except KeyboardInterrupt:
        if search is None or (ended := search.latest_with_bound()) is None:
            raise
        if ended.program is not program:
            # A search with merged places proves no bound for all places. One round with all places does.
            ended = ended.with_separated_places(program, np.flatnonzero(program.prior > 0))
            ended.round()
        return ended, False
    assert search is not None
    return search, True


@dataclass(frozen=True, slots=True, eq=False)
class SearchedCertificate:
    """A certificate, and the results of the search for it, from which other searches can start."""

    certificate: Certificate
    is_whole: bool  # whether the search ended without a keyboard interrupt
    results: SearchResults


def _searches(
    program: RayProgram, starts: Sequence[SearchResults], merged: Sequence[Indices], gap: float
) -> Iterator[tuple[RaySearch, float]]:
    """Yield (search, relative gap at which it should stop); each search starts from the results of the previous one."""
    # The first searches merge near places. The next one is over all places with mass, and the last ones add the places
    # without mass that must be included.
    search, places = None, np.flatnonzero(program.prior > 0)
    if starts:
        search = RaySearch.of(program, np.unique(np.concatenate([places, *(start.places for start in starts)])))
        search.start_from(starts)
    else:
        for near in [*merged, None]:
            fewer, at = (program, places) if near is None else (program.with_merged_places(near), np.unique(near))
            search = RaySearch.of(fewer, at) if search is None else search.with_separated_places(fewer, at)
            if near is not None:
                yield search, _ROUGH_GAPS[0]
    assert search is not None
    # A search to a wide gap shows which places without mass must be included. A search to a narrow gap shows whether
    # any are missing.
    rough = _ROUGH_GAPS if len(search.places) < len(program.prior) else ()
    for aim in [*(wide for wide in rough if wide > gap), _AIM_SHARE * gap]:
        yield search, aim
        while len(short := search.places_to_add()):
            search = search.with_more_places(short)
            yield search, aim

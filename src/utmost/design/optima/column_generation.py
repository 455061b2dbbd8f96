"""Optima of large programs: a channel put together of extreme rays, which are found where they are worth it.

All columns of a channel lie in the same cone, whatever their action. So the best channel is a sum of its extreme rays,
each given to its cheapest action, that adds up to 1 in every place: a program with one row for each place. Its rays are
found one by one: at the prices mu of the rows, each action's best ray is priced by walking over trees
(`utmost.design.optima.tree_pricing`), and where all trees stop, their flows are the multipliers that prove the prices.

A solver in floats proves nothing. Only the certificate that is made from its answer matters: the columns are
corrected to an exactly private channel, the multipliers to a feasible dual, and the checker computes both bounds anew.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from utmost.core.exact.arrays import Indices
from utmost.core.exact.one_thread import one_blas_thread
from utmost.design.optima.checker import Multipliers
from utmost.design.optima.evidence import Certificate
from utmost.design.optima.extreme_rays import FARTHEST, plain_factors
from utmost.design.optima.near_places import merging_circles
from utmost.design.optima.nearly_private import feasible_dual, roomy_matrix
from utmost.design.optima.search_for_rays import GapProgress, RayProgram, RaySearch, SearchResults
from utmost.design.optima.tree_pricing import compile_if_it_pays
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.design.spaces.consumer import Consumer
from utmost.errors import SolverFailed, WrongKind

_AIM_SHARE = 0.6  # of the gap that is asked for: what the loop stops at, so that rounding has room
_NEAR_LEVELS = 2.0  # times the level: what is found at levels farther away misleads
_ROUGH_GAPS = (1e-2, 1e-4)  # gaps at which prices say which places without mass count; the first parts near ones, too


def certificate_of_rays(
    ptype: PrivacyType, consumer: Consumer, *, gap: float = 1e-7, progress: GapProgress | None = None
) -> Certificate:
    """The certificate of a channel whose loss is within a gap of the optimum, for any space, prior and loss.

    Args:
        ptype: Space and level.
        consumer: Prior over the space's secrets, and a loss.
        gap: Largest distance of the loss from the optimum, relative to it, or to 1e-12 of the largest expected loss of
            an action where that is more.
        progress: Function that receives, after each round, the number of rounds and the relative gap so far: of the
            places that count so far, where some have no mass, and of near places taken for one at first. A search that
            those have led astray begins again, and so does the count.

    Returns:
        The best certificate found. Its bounds are farther apart than the gap where rounding stops the search early, and
        when it is interrupted from the keyboard.

    Raises:
        SolverFailed: when no bound was found at all.
        KeyboardInterrupt: when it comes before there is any bound.

    Cost: 20 to 250 rounds, each O(n^2 N) for N = 8 n rays, and O(n s) for each pivot of a tree with s sources; 400
        places take from 5 to 60 seconds. Memory: O(n (n + k)) floats for k actions.

    Source: column generation on program (2) to (6) of [ghosh2009], smoothed as in [wentges1997];
        `proofs/theory/large-designs.md`.

    >>> from utmost.spaces import grid

    >>> from utmost.design.spaces import losses, priors
    >>> place = grid(2, 2)
    >>> found = certificate_of_rays(PrivacyType(place, epsilon=1), Consumer(priors.uniform(4), losses.distance(place)))
    >>> found.gap <= 1e-7 * found.upper, found.verify()
    (True, True)
    """
    if progress is not None and not callable(progress):
        raise WrongKind("progress must be a function", came=type(progress).__name__, where="certificate_of_rays")
    return searched(ptype, consumer, gap=gap, progress=progress).certificate


def searched(
    ptype: PrivacyType,
    consumer: Consumer,
    *,
    gap: float,
    progress: GapProgress | None = None,
    starts: Sequence[SearchResults] = (),
) -> "SearchedCertificate":
    """Return the result of `certificate_of_rays`, with a start for other searches on the same space.

    Args:
        ptype, consumer, gap, progress: See there.
        starts: Results of one or two searches on this space, at any levels, for any consumers, nearest first.
    """
    program, starts = RayProgram.of(ptype, consumer), _near_starts(starts, ptype)
    merged = [] if starts else merging_circles(-np.log(program.factors), program.prior)
    compile_if_it_pays(int((program.prior > 0).sum()))
    # Products of a few hundred rows: threads that wait for each other cost more than they save.
    with one_blas_thread():
        search, whole = _last_search(program, _searches(program, starts, merged, gap), progress)
        # Losses that differ as much between near places as between any (binary ones) may be led astray by merged ones.
        if whole and merged and search.gap > search.aim(gap):
            try:
                again, whole = _last_search(program, _searches(program, (), [], gap), progress)
                search = min(search, again, key=lambda ended: ended.gap)
            except KeyboardInterrupt:
                whole = False
        return SearchedCertificate(_certified(ptype, consumer, search), whole, search.results())


def _last_search(
    program: RayProgram, searches: Iterator[tuple[RaySearch, float]], progress: GapProgress | None
) -> tuple[RaySearch, bool]:
    """The last of some searches, each run to its gap, and True; once interrupted, the best so far, and False."""
    search = None
    try:
        for search, aim in searches:
            search.run(aim, progress)
    # What was found so far proves bounds, too, if wider ones.
    except KeyboardInterrupt:
        if search is None or (ended := search.with_bound()) is None:
            raise
        if ended.program is not program:
            # Merged masses prove nothing of the others: one round among all does.
            ended = ended.parted(program, np.flatnonzero(program.prior > 0))
            ended.round()
        return ended, False
    assert search is not None
    return search, True


@dataclass(frozen=True, slots=True, eq=False)
class SearchedCertificate:
    """A certificate, and the results of its search with which others can start.

    Attributes:
        certificate: Certificate as `certificate_of_rays` returns it.
        is_whole: Whether the search was not interrupted.
        results: Start for other searches.
    """

    certificate: Certificate
    is_whole: bool
    results: SearchResults


def _searches(
    program: RayProgram, starts: Sequence[SearchResults], merged: Sequence[Indices], gap: float
) -> Iterator[tuple[RaySearch, float]]:
    """One search after another, each begun with what the one before has found, and the gap that it is to be run to.

    Near places are taken for one first, then come those with mass, and then those without it that count, too.
    """
    search, places = None, np.flatnonzero(program.prior > 0)
    if starts:
        search = RaySearch.begun(program, np.unique(np.concatenate([places, *(start.places for start in starts)])))
        search.start_from(starts)
    else:
        for near in [*merged, None]:
            fewer, at = (program, places) if near is None else (program.gathered(near), np.unique(near))
            search = RaySearch.begun(fewer, at) if search is None else search.parted(fewer, at)
            if near is not None:
                yield search, _ROUGH_GAPS[0]
    assert search is not None
    # Prices that are nearly right say which places without mass count, and the right ones whether all do.
    rough = _ROUGH_GAPS if len(search.places) < len(program.prior) else ()
    for aim in [*(wide for wide in rough if wide > gap), _AIM_SHARE * gap]:
        yield search, aim
        while len(short := search.short_places()):
            search = search.wider(short)
            yield search, aim


def _certified(ptype: PrivacyType, consumer: Consumer, search: RaySearch) -> Certificate:
    bound, scale = search.best, search.program.scale
    if bound is None or not np.isfinite(bound.value):
        raise SolverFailed("the trees must prove a bound", came="none", where="certificate_of_rays")
    lacks = bound.trees.lacks(search.costs - bound.prices, bound.level)
    prices = bound.prices + bound.level * bound.trees.weights - lacks
    factors = plain_factors(np.asarray(ptype.space.distances, dtype=np.float64), ptype.level.epsilon_float)
    at = search.places
    proof = bound.trees.multipliers(search.costs - prices, factors[np.ix_(at, at)])
    scaled = Multipliers(at[proof.low], at[proof.high], proof.action, proof.value * scale)
    mu = np.zeros(len(factors))
    mu[at] = prices * scale
    # From here on in rationals, or in floats rounded outward: what the search believed is not asked again.
    mu, multipliers = feasible_dual(ptype, consumer, mu, scaled)
    return Certificate(ptype, consumer, mu, matrix=roomy_matrix(ptype, search.channel()), multipliers=multipliers)


def _near_starts(starts: Sequence[SearchResults], ptype: PrivacyType) -> Sequence[SearchResults]:
    """The starts at levels so near that their rays and prices lead the right way."""
    now = ptype.level.epsilon_float
    near = [start for start in starts if 1 / _NEAR_LEVELS <= start.epsilon / now <= _NEAR_LEVELS]
    farthest = float(np.asarray(ptype.space.distances, dtype=np.float64).max())
    return near if max((*(start.epsilon for start in near), now)) * farthest <= FARTHEST else []

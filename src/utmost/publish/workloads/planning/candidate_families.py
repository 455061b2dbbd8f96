"""Which families a search should look at, and where it should start.

Of two families with the same eigenspaces above them (among those that the workload lies in) the coarser one is never
worse: its groups are larger, and nothing else differs. So only the coarsest families are candidates, one for each set
of eigenspaces; an axis that nobody asks about is never measured.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations
from math import prod

import numpy as np

from utmost.core.exact.arrays import Floats
from utmost.errors import OutOfRange
from utmost.publish.workloads.measuring.wanted_sums import MOST_CANDIDATES, check_determined
from utmost.publish.workloads.planning.share_exchange import WeighedError, chord_shares
from utmost.publish.workloads.workload import Workload
from utmost.tables.axes.domain import Domain, Family, finest_common, is_finer

FEW = 16
"""Up to so many families, the search also starts from each one by itself."""

_MOST_PAIRS = 10**7


def candidate_families(workload: Workload) -> dict[Family, int]:
    """The families to search among, each with how many families of the domain it stands for (1 where not counted).

    All that are of any use, where they are at most 64. Else the wanted families, the finest common one of each two,
    and of all; else the wanted ones and the finest common one alone.

    >>> domain = Domain(a=range(3), b=range(4), c=range(5))
    >>> candidate_families(Workload(domain, {"a b": 1, "b": 1}))
    {(0, 0, 1): 2, (0, 1, 1): 2, (1, 0, 1): 2, (1, 1, 1): 2}
    """
    useful = _useful_families(workload.domain, workload.eigenspaces)
    if useful and len(useful) <= MOST_CANDIDATES:
        return useful
    wanted = workload.families
    pairs = {finest_common(pair) for pair in combinations(wanted, 2)} if len(wanted) <= MOST_CANDIDATES else set()
    few = {*wanted, finest_common(wanted)}
    return dict.fromkeys(sorted(few | pairs if len(few | pairs) <= MOST_CANDIDATES else few), 1)


def named_candidates(workload: Workload, candidates: Iterable[str | Sequence[str] | Family]) -> dict[Family, int]:
    """The families that somebody named."""
    families = dict.fromkeys(sorted({workload.domain.family(name) for name in candidates}), 1)
    if not families:
        raise OutOfRange("there must be candidates", came="none", where="candidates")
    check_determined(workload, families)
    return families


def plain_shares(workload: Workload, families: Sequence[Family]) -> list[Floats]:
    """Shares that anybody would try: the finest common family alone, equal shares of the wanted ones, of all."""
    wanted = [family in workload.families for family in families]
    finest = [family == finest_common(workload.families) for family in families]
    return [_equal(chosen) for chosen in (finest, wanted, [True] * len(families)) if any(chosen)]


def search_starts(workload: Workload, families: dict[Family, int], error: WeighedError) -> list[Floats]:
    """The starts of the search: plain shares, the whole domain's families alike, the chord's best, single families."""
    names = list(families)
    starts = [*plain_shares(workload, names), chord_shares(error)]
    times = np.array(list(families.values()), dtype=float)
    starts.append(times / times.sum())
    if len(names) <= FEW:
        starts += list(np.eye(len(names)))
    else:
        finest = [not any(S != T and is_finer(S, T) for S in workload.families) for T in names]
        starts.append(_equal([last and T in workload.families for last, T in zip(finest, names, strict=True)]))
    return [start for start in starts if start.sum() > 0]


def _useful_families(domain: Domain, eigenspaces: Sequence[Family]) -> dict[Family, int]:
    """The coarsest family for each set of eigenspaces above; nothing where there are too many to look at."""
    if prod(len(axis.levels) + 1 for axis in domain.axes) * len(eigenspaces) > _MOST_PAIRS:
        return {}
    all_families, rows = np.array(list(domain.families())), np.array(eigenspaces)
    above = np.all(all_families[:, None, :] <= rows[None, :, :], axis=2)
    some = above.any(axis=1)
    lowest = np.where(above[some][:, :, None], rows[None, :, :], rows.max(initial=0) + 1).min(axis=1)
    coarsest, times = np.unique(lowest, axis=0, return_counts=True)
    return {tuple(row): count for row, count in zip(coarsest.tolist(), times.tolist(), strict=True)}


def _equal(chosen: Sequence[bool]) -> Floats:
    shares = np.array(chosen, dtype=float)
    return np.asarray(shares / max(shares.sum(), 1))

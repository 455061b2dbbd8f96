"""Which marginals a search for a plan considers, and with which budget shares it starts.

Two marginals can measure the same eigenspaces of the workload. Then the coarser marginal is never worse, since its
groups are larger. So for each set of eigenspaces, only the coarsest marginal is a candidate. An axis without wanted
sums is never measured.
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
from utmost.tables.axes.domain import Marginal, finest_common, is_finer

FEW_MARGINALS = 16
"""Up to this number of marginals, the search also starts from each single marginal with the share 1."""

_MOST_PAIRS = 10**7


def candidate_marginals(workload: Workload) -> dict[Marginal, int]:
    """Return the candidate marginals, and how many marginals of the domain each represents (1 if unknown)."""
    # `useful` has the coarsest marginal for each set of eigenspaces; it is empty if there are too many to examine. If
    # more than `MOST_CANDIDATES` are useful, the candidates are the wanted marginals, the finest common marginal of
    # each pair of wanted marginals, and the finest common marginal of all. If these are too many, the pairs are left
    # out.
    useful: dict[Marginal, int] = {}
    if prod(len(axis.levels) + 1 for axis in workload.domain.axes) * len(workload.eigenspaces) <= _MOST_PAIRS:
        all_marginals, rows = np.array(list(workload.domain.marginals())), np.array(workload.eigenspaces)
        above = np.all(all_marginals[:, None, :] <= rows[None, :, :], axis=2)
        some = above.any(axis=1)
        lowest = np.where(above[some][:, :, None], rows[None, :, :], rows.max(initial=0) + 1).min(axis=1)
        coarsest, times = np.unique(lowest, axis=0, return_counts=True)
        useful = {tuple(row): count for row, count in zip(coarsest.tolist(), times.tolist(), strict=True)}
    if useful and len(useful) <= MOST_CANDIDATES:
        return useful
    wanted = workload.marginals
    pairs = {finest_common(pair) for pair in combinations(wanted, 2)} if len(wanted) <= MOST_CANDIDATES else set()
    few = {*wanted, finest_common(wanted)}
    return dict.fromkeys(sorted(few | pairs if len(few | pairs) <= MOST_CANDIDATES else few), 1)


def named_candidates(workload: Workload, candidates: Iterable[str | Sequence[str] | Marginal]) -> dict[Marginal, int]:
    """Read the names of the marginals to search, and check that they determine the workload."""
    marginals = dict.fromkeys(sorted({workload.domain.marginal(name) for name in candidates}), 1)
    if not marginals:
        raise OutOfRange("candidates must name at least one table", came="none", where="candidates")
    check_determined(workload, marginals)
    return marginals


def plain_shares(workload: Workload, marginals: Sequence[Marginal]) -> list[Floats]:
    """Return up to three choices of shares.

    In one, the finest common marginal has the share 1; in one, the wanted marginals have equal shares; in one, all
    marginals have equal shares.
    """
    wanted = [marginal in workload.marginals for marginal in marginals]
    finest = [marginal == finest_common(workload.marginals) for marginal in marginals]
    return [_equal(chosen) for chosen in (finest, wanted, [True] * len(marginals)) if any(chosen)]


def search_starts(workload: Workload, marginals: dict[Marginal, int], error: WeighedError) -> list[Floats]:
    """Return the shares with which the search starts.

    The starts are those of `plain_shares` and `chord_shares`; shares proportional to the number of marginals that each
    candidate represents; and, for each candidate, the start that gives it the share 1. If there are more than
    `FEW_MARGINALS` candidates, one start replaces those with a single marginal: it divides the share 1 equally among
    the wanted marginals that no other wanted marginal refines.
    """
    names = list(marginals)
    starts = [*plain_shares(workload, names), chord_shares(error)]
    times = np.array(list(marginals.values()), dtype=float)
    starts.append(times / times.sum())
    if len(names) <= FEW_MARGINALS:
        starts += list(np.eye(len(names)))
    else:
        finest = [not any(S != T and is_finer(S, T) for S in workload.marginals) for T in names]
        starts.append(_equal([last and T in workload.marginals for last, T in zip(finest, names, strict=True)]))
    return [start for start in starts if start.sum() > 0]


def _equal(chosen: Sequence[bool]) -> Floats:
    shares = np.array(chosen, dtype=float)
    return np.asarray(shares / max(shares.sum(), 1))

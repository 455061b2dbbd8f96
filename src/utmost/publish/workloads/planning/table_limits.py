"""Limit the error of each wanted table to the error of separate noise on this table, at this table's budget share.

The plan of least weighted error may give one table a large error in favour of the others. If all tables are within
their limits, no table is worse than with separate noise. A table at budget share s has a variance of about 2/(s
epsilon)^2. So the weighted error of tables with separate noise is least if the shares are proportional to weight^(1/3).
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction

from utmost.publish.workloads.measuring.axis_sums import Groups, Weighed
from utmost.publish.workloads.measuring.even_levels import EvenLevels
from utmost.publish.workloads.measuring.unit_charge import charge_of, is_total, share_conditions
from utmost.publish.workloads.measuring.variance_components import precision
from utmost.publish.workloads.measuring.wanted_sums import is_unequal_tree
from utmost.publish.workloads.measuring.ways.way import Shares
from utmost.publish.workloads.planning.searches.plan_search import FoundSums, PlanRequest
from utmost.publish.workloads.workload import Workload
from utmost.tables.axes.domain import Marginal

_CLOSE = 1e-9  # errors with a smaller relative difference count as equal
_PARTS, _SHARE_STEPS, _WEIGHT_DENOMINATOR = 10**6, 1000, 1000
_HALVINGS = 10
_REPEATS, _MOST_EXCESS = 4, 100.0
# If a variance is x times its limit, its weight is multiplied by x^_URGED, since c times the weight reduces the
# variance by a factor of c^(1/4) or more.
_URGED = 4


def budget_shares(workload: Workload) -> dict[str, Fraction]:
    """Return the budget share of each wanted part if each had separate noise: proportional to weight^(1/3)."""
    parts = workload.parts
    if len({part.weight for part in parts}) == 1:
        return {part.name: Fraction(1, len(parts)) for part in parts}
    roots = [float(part.weight) ** (1 / 3) for part in parts]
    whole = sum(roots)
    shares = [Fraction(max(1, int(root / whole * _PARTS)), _PARTS) for root in roots]
    over = max(Fraction(1), sum(shares, Fraction(0)))  # rounding up thousands of tiny shares may exceed 1
    return {part.name: share / over for part, share in zip(parts, shares, strict=True)}


def own_marginals(workload: Workload) -> dict[str, Marginal]:
    """For each part, return the coarsest measurable marginal that determines it."""
    domain = workload.domain
    # Uneven levels of a tree can be measured if only groups are wanted.
    if is_unequal_tree(domain) and all(isinstance(sums, Groups) for part in workload.parts for sums in part.sums):
        return {part.name: part.marginal(domain) for part in workload.parts}
    even = EvenLevels.of(workload)
    return {part.name: even.restored(part.marginal(even.workload.domain)) for part in even.workload.parts}


def table_limits(request: PlanRequest) -> dict[str, float]:
    """For each wanted table, return its limit: the variance with separate noise at the table's budget share."""
    workload, unit, at = request.workload, request.unit, request.level_of_cells
    marginals, shares, known = own_marginals(workload), budget_shares(workload), dict[tuple[bool, Fraction], float]()
    limits = {}
    for part in workload.parts:
        marginal, share = marginals[part.name], shares[part.name]
        key = is_total(workload.domain, marginal), share
        if key not in known:
            charge = charge_of(workload.domain, unit, {marginal: Fraction(1)})
            # A public total costs nothing at any level.
            known[key] = float(1 / precision(at * float(share / charge))) if charge else float("inf")
        # Compute the mean over a part's answers of the sum of squared coefficients of the marginal's groups.
        squares = 1.0
        for sums, axis, level in zip(part.sums, workload.domain.axes, marginal, strict=True):
            if isinstance(sums, Groups) and sums.at == level:
                continue
            groups = axis.groups(level)
            if isinstance(sums, Weighed):
                squares *= float((sums.matrix(axis)[:, axis.group_starts(level)].astype(float) ** 2).sum(axis=1).mean())
            else:
                lengths = sums.lengths(axis)
                squares *= sum(size * rows for size, rows in lengths.items()) / lengths.total() * groups / axis.size
        limits[part.name] = known[key] * squares
    return limits


def is_within(variances: Mapping[str, float], limits: Mapping[str, float]) -> bool:
    """Whether no variance exceeds its limit, up to a relative tolerance of 10^-9."""
    return all(variances[name] <= limit * (1 + _CLOSE) for name, limit in limits.items())


def limited(request: PlanRequest, search: Callable[[PlanRequest], Shares], *, repeats: bool) -> Shares:
    """Return the shares of least weighted error that a search finds within the limits of all tables."""
    # If the result exceeds a limit, the search is repeated with more weight on the tables above their limits. The
    # results are mixed with the equal split, whose plan keeps all limits.
    limits = table_limits(request)
    if len(limits) == 1:  # no search is worse than one table at the full level
        return search(request)
    found = [search(request)]
    variances = FoundSums(found[0]).variances(request)
    if is_within(variances, limits):
        return found[0]
    workload = request.workload
    for _ in range(_REPEATS if repeats else 0):
        excess = {
            name: min(_MOST_EXCESS, max(1.0, variances[name] / limit)) ** _URGED for name, limit in limits.items()
        }
        parts = [
            replace(part, weight=part.weight * Fraction(excess[part.name]).limit_denominator(_WEIGHT_DENOMINATOR))
            for part in workload.parts
        ]
        workload = Workload.of_parts(workload.domain, parts)
        found.append(search(replace(request, workload=workload)))
        variances = FoundSums(found[-1]).variances(request)
        if is_within(variances, limits):
            break
    split = equal_split(request)
    mixed = [
        mixed_within(request, FoundSums(shares), split, limits, lambda mixture: _spending(request, mixture))
        for shares in found
    ]
    best = min(mixed, key=lambda found: found.value(request)).shares
    steps = {marginal: share * _SHARE_STEPS for marginal, share in best.items()}
    short = best
    if sum(steps.values(), Fraction(0)) == _SHARE_STEPS and min(steps.values()) >= 1:
        # Round shares that add up to 1 to thousandths, by largest remainders.
        whole = {marginal: int(count) for marginal, count in steps.items()}
        lacking = _SHARE_STEPS - sum(whole.values())
        for marginal in sorted(steps, key=lambda marginal: whole[marginal] - steps[marginal])[:lacking]:
            whole[marginal] += 1
        short = {marginal: Fraction(count, _SHARE_STEPS) for marginal, count in whole.items()}
    return short if is_within(FoundSums(short).variances(request), limits) else best


def equal_split(request: PlanRequest) -> Shares:
    """Give each marginal of `own_marginals` the budget share of its part, and scale the shares to spend the level."""
    domain, unit = request.workload.domain, request.unit
    marginals, budget = own_marginals(request.workload), budget_shares(request.workload)
    shares: dict[Marginal, Fraction] = {}
    for name, marginal in marginals.items():
        charge = charge_of(domain, unit, {marginal: Fraction(1)})
        # A public total gets the same share as in a search: the largest one that floats can represent.
        loudest = max(
            condition.scale * condition.free
            for condition in share_conditions(unit, domain.size, request.level_of_cells)
        )
        shares[marginal] = shares.get(marginal, Fraction(0)) + (budget[name] / charge if charge else loudest)
    return _spending(request, shares)


def _spending(request: PlanRequest, shares: Shares) -> Shares:
    charge = charge_of(request.workload.domain, request.unit, shares)
    return {marginal: share / charge for marginal, share in shares.items()} if charge else shares


def mixed_within(
    request: PlanRequest,
    found: FoundSums,
    split: Shares,
    limits: Mapping[str, float],
    spending: Callable[[Shares], Shares] = dict,
) -> FoundSums:
    """Mix the shares of a found plan with those of a split: as much of the found plan as the limits allow."""
    # `spending` scales a mixture so that it spends the level.
    if is_within(found.variances(request), limits):
        return found
    marginals = sorted({*found.shares, *split})
    low, high, best = 0, 1 << _HALVINGS, found._replace(shares=split)
    while high - low > 1:
        steps = (low + high) // 2
        part = Fraction(steps, 1 << _HALVINGS)
        mixture = {
            marginal: part * found.shares.get(marginal, 0) + (1 - part) * split.get(marginal, 0)
            for marginal in marginals
        }
        tried = found._replace(shares=spending(mixture))
        if is_within(tried.variances(request), limits):
            low, best = steps, tried
        else:
            high = steps
    return best

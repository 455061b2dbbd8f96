"""Search for budget shares for workloads of many marginals: a closed form, and descents that start from it.

If no other wanted table contains a wanted table S, only S measures the space T = S (see `marginal_spaces`), with the
error mu_S n_S v(e_S). At small levels, the sum of these errors is least, for a given sum of levels, if

    e_S is proportional to (mu_S n_S)^(1/3).

For many tables this closed form is nearly optimal: a descent improves it by at most 0.02 % for all tables of two, or of
three, of Adult's fourteen attributes. If wanted tables contain other wanted tables, a descent (L-BFGS from the closed
form) improves more. Instead of the wanted tables, a plan may measure tables with one or two further small attributes,
because then fewer tables share the level. For an attribute of two values, a plan may measure the difference of the two
cells: it gives the same precision in the table's own space as both cells, with half the sums at the same charge
(``signs=True``).
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import comb, prod

import numpy as np

from utmost.core.exact.arguments import instance
from utmost.core.exact.arrays import Floats
from utmost.core.exact.numbers import Number, natural
from utmost.errors import OutOfRange
from utmost.publish.workloads.measuring.marginal_spaces import MarginalErrors
from utmost.publish.workloads.measuring.unit_charge import ShareCondition, is_total
from utmost.publish.workloads.planning.row_search import lbfgs_descent
from utmost.publish.workloads.workload import Workload
from utmost.tables.axes.domain import Domain, Marginal
from utmost.tables.axes.hat_functions import DIFFERENCE

_SMALL = 14  # the largest factor by which further attributes may multiply the cells of a wanted table
_MOST_TABLES = _MOST_MERGED = _MOST_SIGNED = 20_000
_DESCENT_STEPS = 400
_NOTHING = 1e-7  # a marginal with a smaller share is not measured
_TRACE = 1e-3  # starting share of a marginal that may be useless; a descent never leaves a share of 0
_EQUAL = 1e-4  # the relative gain that a descent must have over the closed form


def marginals(domain: Domain, *columns: int, weight: Number = 1) -> dict[Marginal, Number]:
    """Return all marginals of a given number of axes, at their finest level, as an argument of `Workload`.

    Args:
        domain: Domain of the tables.
        columns: Numbers of axes that a table may have.
        weight: Weight of each table.

    Raises:
        OutOfRange: if ``columns`` has a number above that of the domain's axes, or if there are more than 20 000
            tables.

    >>> domain = Domain(a=range(3), b=range(4), c=range(5))
    >>> Workload(domain, marginals(domain, 2))
    Workload(a b: 12 answers, weight 1; a c: 15 answers, weight 1; b c: 20 answers, weight 1)
    """
    instance(domain, Domain, "domain")
    tops = [len(axis.levels) for axis in domain.axes]
    counts = dict.fromkeys(natural(count, "columns", least=0) for count in columns)
    if any(count > len(tops) for count in counts):
        raise OutOfRange(f"a wanted table can have at most {len(tops)} columns", came=max(counts))
    if sum(comb(len(tops), count) for count in counts) > _MOST_TABLES:
        raise OutOfRange(
            f"a workload may have at most {_MOST_TABLES} tables",
            came="more tables",
            remedy="Ask for tables of fewer axes.",
        )
    chosen = (of for count in counts for of in combinations(range(len(tops)), count))
    return {tuple(0 if at in of else top for at, top in enumerate(tops)): weight for of in chosen}


def marginal_shares(
    workload: Workload, level: float, condition: ShareCondition, *, signs: bool = False
) -> dict[Marginal, Fraction]:
    """Search for shares of little error for a workload of many marginals; ``level`` is the level of share 1."""
    domain = workload.domain
    wanted = tuple(dict.fromkeys(part.marginal(domain) for part in workload.parts))
    sets = [wanted]
    # List the tables inside the wanted tables, those with fewer columns first, up to a limit.
    below: dict[Marginal, None] = {}
    tops = [len(axis.levels) for axis in domain.axes]
    for marginal in wanted:
        own = [at for at, level in enumerate(marginal) if level < tops[at]]
        for count in range(len(own)):
            for chosen in combinations(own, count):
                below[tuple(marginal[at] if at in chosen else top for at, top in enumerate(tops))] = None
        if len(below) > _MOST_SIGNED:
            break
    lower = list(below)
    larger = _larger(domain, wanted)
    if larger:
        sets.append((*wanted, *larger, *lower))
    if signs and 2 in domain.shape and len(lower) < _MOST_SIGNED:
        # List the tables with differences on any subset of their attributes of two values, up to a limit.
        signed: dict[Marginal, None] = {}
        bits = [at for at, size in enumerate(domain.shape) if size == 2]
        for marginal in (*wanted, *lower):
            own = [at for at in bits if marginal[at] == 0]
            for count in range(len(own) + 1):
                for chosen in combinations(own, count):
                    signed[tuple(DIFFERENCE if at in chosen else level for at, level in enumerate(marginal))] = None
            if len(signed) > _MOST_SIGNED:
                break
        sets.append(tuple(signed))
    plans = [_searched(workload, marginals, level, condition) for marginals in sets]
    best = plans[0]
    for other in plans[1:]:
        best = other if other[0] < best[0] * (1 - _EQUAL) else best
    _, marginals, shares = best
    # Round shares to multiples of a power of ten that add up to 1, by largest remainders.
    steps = 10 ** (3 + len(str(len(shares))))
    whole = np.floor(shares * steps).astype(np.int64)
    order = np.argsort(whole - shares * steps, kind="stable")
    whole[order[: steps - int(whole.sum())]] += 1
    return condition.shares(domain, dict(zip(marginals, [Fraction(int(count), steps) for count in whole], strict=True)))


def _searched(
    workload: Workload, marginals: Sequence[Marginal], level: float, condition: ShareCondition
) -> tuple[float, tuple[Marginal, ...], Floats]:
    """Return the least error found, the marginals to measure, and their shares, by the closed form and descents."""
    listed = tuple(sorted(set(marginals)))
    errors = MarginalErrors.of(workload, listed)
    whole = level * float(condition.scale)
    free = condition.free_of(is_total(workload.domain, marginal) for marginal in listed)

    def error(parts: Floats) -> float:
        return errors.error(whole * (parts + free))

    plain = _cube_roots(errors)
    least = min((size for size in workload.domain.shape if size > 1), default=1)
    small = [at for at, size in enumerate(workload.domain.shape) if size == least]
    shared = np.array([_TRACE if any(marginal[at] == 0 for at in small) else 1.0 for marginal in listed])
    # Descents start from the closed form, from equal shares, and from shares that are small for tables with the
    # smallest attributes, since a plan can add these attributes to many tables.
    starts = [plain] if len(listed) == len(workload.marginals) else [plain, np.ones(len(listed)), shared]
    ends = [plain, *(_descended(errors, start / start.sum(), whole, free) for start in starts)]
    best = min(ends, key=error)
    best = best if error(best) < error(plain) * (1 - _EQUAL) else plain
    best = np.where(best > _NOTHING, best, 0)
    best = best / best.sum()
    used = (best > 0) | (free > 0)  # a total with a free share needs no other share
    return error(best), tuple(marginal for marginal, some in zip(listed, used, strict=True) if some), best[used]


def _cube_roots(errors: MarginalErrors) -> Floats:
    """Return a start of the search: a share for each marginal, proportional to the cube root of (its number of groups
    times the wanted weight of its space). A marginal of weight 0 gets a small share.
    """
    spaces = errors.spaces
    places = {space: at for at, space in enumerate(errors.names)}
    tops = np.zeros(len(spaces.marginals))
    for marginal, axes in enumerate(spaces.measured_axes):
        place = places.get(tuple((axis, level or 0) for axis, level in axes))
        if place is not None:
            tops[marginal] = (errors.wanted[place] * errors.sizes[marginal]) ** (1 / 3)
    tops = np.maximum(tops, _TRACE * tops.max())
    return np.asarray(tops / tops.sum())


def _descended(errors: MarginalErrors, start: Floats, whole: float, free: Floats) -> Floats:
    inside = start + _TRACE / len(start)
    scale = errors.error(whole * (inside / inside.sum() + free))

    def slope(roots: Floats) -> tuple[float, Floats]:
        squares = roots * roots
        total = squares.sum()
        parts = squares / total
        value, down = errors.slope(whole * (parts + free))
        down = down * whole
        return value / scale, (down - down @ parts) / total * 2 * roots / scale

    roots = lbfgs_descent(slope, np.sqrt(inside * len(start)), _DESCENT_STEPS)
    squares = roots * roots
    return np.asarray(squares / squares.sum())


def _larger(domain: Domain, wanted: Sequence[Marginal]) -> list[Marginal]:
    """Return the wanted tables with one or two further small attributes; [] if there would be too many."""
    shape = domain.shape
    small = [at for at, size in enumerate(shape) if 1 < size <= _SMALL]
    larger: dict[Marginal, None] = {}
    if len(wanted) * len(small) > _MOST_MERGED:
        return []
    for marginal in wanted:
        spare = [at for at in small if marginal[at] == len(domain.axes[at].levels)]
        for chosen in (*combinations(spare, 1), *combinations(spare, 2)):
            if prod(shape[at] for at in chosen) <= _SMALL:
                # Level 0, the finest, adds the attribute value by value.
                larger[tuple(0 if at in chosen else level for at, level in enumerate(marginal))] = None
        if len(larger) > _MOST_MERGED:
            return []
    return list(larger)

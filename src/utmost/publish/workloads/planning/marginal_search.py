r"""The search for the levels of many marginal tables: a closed form, a descent from it, larger tables, and signs.

A wanted table S that no other one holds is alone on its own space T = S: that term of the error is mu_S n_S v(e_S). At
small levels these terms are least, among levels that add up to so much, where

    e_S is proportional to (mu_S n_S)^(1/3),

and for many tables that is nearly all there is: within .02 % of what a descent finds for all tables of two, or three,
of Adult's fourteen attributes. Where tables are wanted that lie in others the descent matters (L-BFGS, from there).

Tables of one or two small attributes more than what is wanted may be measured instead: fewer tables share the level.
Of attributes of two values, the difference of the two says of a table's own space what both cells say, for half the
sums at the same charge (`rows=True`).
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb, prod

import numpy as np

from utmost.core.exact.arguments import instance
from utmost.core.exact.arrays import Floats
from utmost.core.exact.numbers import Number, natural
from utmost.errors import OutOfRange
from utmost.publish.workloads.measuring.marginal_spaces import MarginalErrors
from utmost.publish.workloads.measuring.unit_charge import Room, is_total
from utmost.publish.workloads.planning.row_search import descended
from utmost.publish.workloads.workload import Workload
from utmost.tables.axes.domain import Domain, Family
from utmost.tables.axes.hat_functions import DIFFERENCE

_SMALL = 14  # by so many cells at most a wanted table is made larger
_MOST_TABLES = _MOST_MERGED = _MOST_SIGNED = 20_000
_STEPS = 400
_NOTHING = 1e-7  # of the level, below which a family is not measured
_TRACE = 1e-3  # what a descent starts with where nothing is known to be of use: a level of 0 it would never leave
_EQUAL = 1e-4  # what a descent must gain over the closed form


def marginals(domain: Domain, *columns: int, weight: Number = 1) -> dict[Family, Number]:
    """Every table of so many axes, at their finest level, each with one weight: what `Workload` wants.

    Args:
        columns: Number of axes; of several numbers the tables of each.
        weight: Weight of each table.

    Raises:
        OutOfRange: for more axes than there are, and more than 20 000 tables.

    >>> domain = Domain(a=range(3), b=range(4), c=range(5))
    >>> Workload(domain, marginals(domain, 2))
    Workload(a b: 12 answers, weight 1; a c: 15 answers, weight 1; b c: 20 answers, weight 1)
    """
    instance(domain, Domain, "domain")
    tops = [len(axis.levels) for axis in domain.axes]
    counts = [natural(count, "columns", least=0) for count in dict.fromkeys(columns)]
    if any(count > len(tops) for count in counts):
        raise OutOfRange(f"a table can have at most {len(tops)} axes", came=max(counts), where="columns")
    if sum(comb(len(tops), count) for count in counts) > _MOST_TABLES:
        raise OutOfRange(f"there may be {_MOST_TABLES} tables", came="more", remedy="Want tables of fewer axes.")
    chosen = (of for count in counts for of in combinations(range(len(tops)), count))
    return {tuple(0 if at in of else top for at, top in enumerate(tops)): weight for of in chosen}


def marginal_shares(workload: Workload, level: float, room: Room, *, signs: bool = False) -> dict[Family, Fraction]:
    """Shares of little error for a workload of many marginal tables, at a level of share 1.

    Args:
        workload: over a domain of even levels.
        signs: whether differences of attributes of two values may be measured.

    >>> domain = Domain({f"x{i}": range(2 + i) for i in range(4)})
    >>> wanted = Workload(domain, {name: 1 for name in ("x0 x1", "x0 x2", "x1 x3")}, per_answer=True)
    >>> {domain.family_name(family): str(share) for family, share in marginal_shares(wanted, 1.0, Room(1)).items()}
    {'x0 x1': '2509/10000', 'x0 x2': '1653/5000', 'x1 x3': '837/2000'}
    """
    domain = workload.domain
    wanted = tuple(dict.fromkeys(part.family(domain) for part in workload.parts))
    sets = [wanted]
    lower = _lower(domain, wanted)
    larger = _larger(domain, wanted)
    if larger:
        sets.append((*wanted, *larger, *lower))
    if signs and 2 in domain.shape and len(lower) < _MOST_SIGNED:
        sets.append(tuple(_signed(domain, (*wanted, *lower))))
    plans = [_searched(workload, families, level, room) for families in sets]
    best = plans[0]
    for other in plans[1:]:
        best = other if other[0] < best[0] * (1 - _EQUAL) else best
    _, families, shares = best
    return room.shares(domain, dict(zip(families, _rounded(shares), strict=True)))


def _searched(
    workload: Workload, families: Sequence[Family], level: float, room: Room
) -> tuple[float, tuple[Family, ...], Floats]:
    """The least error that is found, and the parts of the level: of the closed form, or of descents from there, from
    equal parts, and from little for what has attributes of the fewest values, which many tables can share."""
    listed = tuple(sorted(set(families)))
    errors = MarginalErrors.of(workload, listed)
    whole = level * float(room.scale)
    free = room.free_of(is_total(workload.domain, family) for family in listed)

    def error(parts: Floats) -> float:
        return errors.error(whole * (parts + free))

    plain = _cube_roots(errors)
    least = min((size for size in workload.domain.shape if size > 1), default=1)
    small = [at for at, size in enumerate(workload.domain.shape) if size == least]
    shared = np.array([_TRACE if any(family[at] == 0 for at in small) else 1.0 for family in listed])
    starts = [plain] if len(listed) == len(workload.families) else [plain, np.ones(len(listed)), shared]
    ends = [plain, *(_descended(errors, start / start.sum(), whole, free) for start in starts)]
    best = min(ends, key=error)
    best = best if error(best) < error(plain) * (1 - _EQUAL) else plain
    best = np.where(best > _NOTHING, best, 0)
    best = best / best.sum()
    used = (best > 0) | (free > 0)  # a total that is free needs no part
    return error(best), tuple(family for family, some in zip(listed, used, strict=True) if some), best[used]


def _cube_roots(errors: MarginalErrors) -> Floats:
    """Parts proportional to the cube roots of mu n, of the largest space of each family; a little for those without."""
    spaces = errors.spaces
    places = {space: at for at, space in enumerate(errors.names)}
    tops = np.zeros(len(spaces.families))
    for family, axes in enumerate(spaces.measured_axes):
        place = places.get(tuple((axis, level or 0) for axis, level in axes))
        if place is not None:
            tops[family] = (errors.wanted[place] * errors.sizes[family]) ** (1 / 3)
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

    roots = descended(slope, np.sqrt(inside * len(start)), _STEPS)
    squares = roots * roots
    return np.asarray(squares / squares.sum())


def _rounded(parts: Floats) -> list[Fraction]:
    """Whole parts of a power of ten, that add up to 1: by largest remainders."""
    steps = 10 ** (3 + len(str(len(parts))))
    whole = np.floor(parts * steps).astype(np.int64)
    order = np.argsort(whole - parts * steps, kind="stable")
    whole[order[: steps - int(whole.sum())]] += 1
    return [Fraction(int(count), steps) for count in whole]


def _lower(domain: Domain, wanted: Sequence[Family]) -> list[Family]:
    """The tables of fewer columns inside the wanted tables; of each number up to as many as a search can hold."""
    lower: dict[Family, None] = {}
    tops = [len(axis.levels) for axis in domain.axes]
    for family in wanted:
        own = [at for at, level in enumerate(family) if level < tops[at]]
        for count in range(len(own)):
            for chosen in combinations(own, count):
                lower[tuple(family[at] if at in chosen else top for at, top in enumerate(tops))] = None
        if len(lower) > _MOST_SIGNED:
            break
    return list(lower)


def _larger(domain: Domain, wanted: Sequence[Family]) -> list[Family]:
    """The wanted tables with one or two small attributes more; none where these would be too many."""
    shape = domain.shape
    small = [at for at, size in enumerate(shape) if 1 < size <= _SMALL]
    larger: dict[Family, None] = {}
    if len(wanted) * len(small) > _MOST_MERGED:
        return []
    for family in wanted:
        spare = [at for at in small if family[at] == len(domain.axes[at].levels)]
        for chosen in (*combinations(spare, 1), *combinations(spare, 2)):
            if prod(shape[at] for at in chosen) <= _SMALL:
                # Level 0 is the finest: the attribute is added value by value.
                larger[tuple(0 if at in chosen else level for at, level in enumerate(family))] = None
        if len(larger) > _MOST_MERGED:
            return []
    return list(larger)


def _signed(domain: Domain, tables: Iterable[Family]) -> list[Family]:
    """Tables, each with differences of any of its attributes of two values; as many as a search can hold."""
    signed: dict[Family, None] = {}
    bits = [at for at, size in enumerate(domain.shape) if size == 2]
    for family in tables:
        own = [at for at in bits if family[at] == 0]
        for count in range(len(own) + 1):
            for chosen in combinations(own, count):
                signed[tuple(DIFFERENCE if at in chosen else level for at, level in enumerate(family))] = None
        if len(signed) > _MOST_SIGNED:
            break
    return list(signed)

"""Levels for several recipients: no coalition of recipients learns more than its member with the largest level."""

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise

from utmost.core.exact.arguments import label, mapping, wrong_kind
from utmost.core.exact.display import Display
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number, natural
from utmost.core.gradual.process import largest_ratio
from utmost.errors import BadTable, OutOfRange


@dataclass(frozen=True, slots=True, repr=False)
class Coalitions(Display):
    """The result of checking all coalitions of some recipients.

    Attributes:
        coalitions: Number of coalitions, 2^n - 1.
        distributions: Number of different joint distributions of the coalitions' noise, 2^k - 1 for k different levels.
        exact: Whether every loss was computed in rationals, and equals the largest level of its coalition.
        discrepancy: Largest relative difference between exp(loss) of a coalition and 1/alpha of its largest level; 0 if
            ``exact``.
    """

    coalitions: int
    distributions: int
    exact: bool
    discrepancy: float


def check_coalitions(levels: Mapping[Hashable, Number | Level], *, reach: int = 1) -> Coalitions:
    """Compute the privacy loss of every coalition of recipients, and compare it with the largest level of its members.

    Recipients with equal levels see the same response, so a coalition sees one response for each of its different
    levels. For each set of levels, the function enumerates the joint distribution of the noise and computes the largest
    likelihood ratio between two values that differ by one. By the Markov property this ratio is attained at any noise,
    so a small ``reach`` suffices.

    Args:
        levels: Mapping from each recipient to an epsilon or a `Level`, which holds for values that differ by 1.
        reach: Largest absolute noise that is enumerated at each level.

    Cost: (2 reach + 1)^k probabilities for the set of all k levels.

    Source: [koufogiannis2015], Section 4.2.

    >>> check_coalitions({"ann": level(alpha="1/2"), "bo": level(alpha="2/3"), "cy": level(alpha="2/3")})
    Coalitions(coalitions=7, distributions=3, exact=True, discrepancy=0.0)
    """
    read = {recipient: level(epsilon) for recipient, epsilon in mapping(levels, "levels").items()}
    reach = natural(reach, "reach", least=0)
    different = sorted(set(read.values()))
    sets = [some for size in range(1, len(different) + 1) for some in combinations(different, size)]
    exact, worst = True, 0.0
    for some in sets:
        ratio, top = largest_ratio(some, reach), max(some)
        if isinstance(ratio, Fraction):
            exact = exact and ratio == 1 / top.alpha_fraction()
            worst = max(worst, abs(float(ratio * top.alpha_fraction() - 1)))
        else:
            exact = False
            worst = max(worst, float(abs(ratio * float(top.alpha) - 1)))
    return Coalitions(2 ** len(read) - 1, len(sets), exact, worst)


Recipient = Hashable


def levels_by_distance(
    graph: object, owner: Recipient, epsilon: Callable[[int], Number | Level] = lambda d: Fraction(1, d)
) -> dict[Recipient, Level]:
    """Return a level for each member of a network: 1/d at the distance d from the owner, or another function of d.

    Args:
        graph: Edges as pairs, or an object with an ``edges`` attribute, such as a networkx graph; undirected.
        owner: Member whose value is shared. Neither the owner nor a member without a path to the owner gets a level.
        epsilon: Function that returns the level at distance d = 1, 2, ...

    Raises:
        BadTable: if the owner is not in the network, or an edge is not a pair.
        OutOfRange: if a more distant member would get a larger level.

    Source: [koufogiannis2015], equation (47).

    >>> levels_by_distance([("ann", "bo"), ("bo", "cy"), ("cy", "di")], owner="ann")
    {'bo': level(epsilon=1), 'cy': level(epsilon='1/2'), 'di': level(epsilon='1/3')}
    """
    neighbours: dict[Recipient, list[Recipient]] = {}
    edges = getattr(graph, "edges", graph)
    if isinstance(edges, type) or not isinstance(edges, Iterable):
        raise wrong_kind("graph", "a list of edges", graph)
    for at, edge in enumerate(edges):
        if not isinstance(edge, tuple | list) or len(edge) != 2 or not all(isinstance(end, Hashable) for end in edge):
            raise BadTable(
                "each edge of the network must be a pair of names", came=type(edge).__name__, where=f"edge {at + 1}"
            )
        for member, other in (edge, reversed(edge)):
            neighbours.setdefault(member, []).append(other)
    if label(owner, "owner") not in neighbours:
        remedy = "Spell the name of owner= as in the edges."
        raise BadTable("owner must be a member of the network", came=repr(owner), remedy=remedy)
    # Find the lengths of the shortest paths from the owner by breadth-first search.
    distances, waiting = {owner: 0}, deque([owner])
    while waiting:
        member = waiting.popleft()
        for other in neighbours[member]:
            if other not in distances:
                distances[other] = distances[member] + 1
                waiting.append(other)
    chosen = {d: level(epsilon(d)) for d in sorted(set(distances.values()) - {0})}
    ordered = list(chosen.values())
    if any(near < far for near, far in pairwise(ordered)):
        remedy = "Give larger distances no larger levels: by epsilon, or --at."
        raise OutOfRange(
            "the level of a member must not grow with the distance from the owner", came=chosen, remedy=remedy
        )
    return {member: chosen[d] for member, d in distances.items() if d}

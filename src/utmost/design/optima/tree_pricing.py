"""Find the cheapest extreme ray of a privacy type at given prices, by a simplex method on spanning trees.

An extreme ray v of K = {v >= 0 : v_i >= a_ij v_j for all i, j} has n - 1 tight rows that join its n places (secrets) to
a tree. An arc of the tree has a sink i and a source j with v_i = a_ij v_j. Let Y be the prices of the places, q their
weights, and r = <Y, v> / <q, v>. The surplus of the places, b = v (Y - r q), sums to 0, and the multiplier of an arc,
times v_i, is the flow along the arc from sink to source: the sum of b over the places on the sink's side of the arc. If
a flow is negative, scaling up the side of the sink until another row is tight gives a tree with a smaller r. If no flow
is negative, v is the ray of least ratio r, and the multipliers prove it.

A tree is stored as ``parent`` (n,), ``kind`` (n,) and its root: kind[i] is 1 if i is the sink of the arc to its parent,
and -1 if i is the source. With numba, the functions are compiled to machine code if that saves time
(`compile_if_it_pays`). Without numba, Python runs the same steps, with identical results. Arguments are named tuples of
arrays, which are fast in machine code and in Python.
"""

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import Floats
from utmost.core.exact.compilation import in_machine_code, is_compiled_already

F = TypeVar("F", bound=Callable[..., Any])
PlaceNumbers = NDArray[np.int32]
ArcKinds = NDArray[np.int8]

COMPILED = find_spec("numba") is not None
"""Whether numba is installed."""

# _LARGE: the cube of a number of places; with more places, one round takes seconds in Python. _FEW and _MANY: the
# numbers of steps (pivots times places, about 8 us each in Python) after which it saves time to load numba, and to
# compile.
_LARGE, _FEW, _MANY = 53**3, 60_000, 600_000

_SHORT = 0.1  # largest shortfall of a place, as a fraction of slack q v with its weight q and ray entry v
_ROUNDING = 1e-14  # relative rounding error of sums
_LIGHT = 1e-2  # least mass of a root, as a fraction of the mass of the heaviest place
_VISIBLE = 1e-17  # rounding may decide the sign of a smaller flow, which is a sum of numbers near 1
_ENTRY_POINTS = ("price_trees", "write_shortfalls")  # the functions that `Forest` calls; they call all others
_fast: list[Callable[..., Any]] = []
_worked, _has_looked = 0, False


def compiled_later(function: F) -> F:
    """Register a function that `compile_if_it_pays` may compile; return it unchanged."""
    _fast.append(function)
    return function


def compile_if_it_pays(places: int, worked: int = 0) -> None:
    """Replace the functions of this module by machine code, if that saves time for this many places, or if the machine
    code is in the cache on disk.

    ``worked`` is the number of pivots, times the number of places, since the last call. Machine code and Python give
    the same results, bit for bit.
    """
    global _worked, _has_looked
    _worked += worked
    pays = places**3 > _LARGE or _worked > _MANY
    if not COMPILED or raise_to is not _raise_at_once or not (pays or (_worked > _FEW and not _has_looked)):
        return
    compiled, _has_looked = {function.__name__: _compiled(function) for function in _fast}, True
    if pays or is_compiled_already(compiled["price_trees"]):
        globals().update(compiled, raise_to=_compiled(_raise_in_turn))


def _compiled(function: F) -> F:
    return in_machine_code(function, inside=function.__name__ not in _ENTRY_POINTS, error_model="numpy")


class Tree(NamedTuple):
    """A tree, and the arrays that `write_order` fills so that the tree can be traversed from its root."""

    parent: PlaceNumbers  # (n,) the parent of each place
    kind: ArcKinds  # (n,) 1 if the place is the sink of the arc to its parent, -1 if it is the source
    order: PlaceNumbers  # (n,) all places, each after its parent
    head: PlaceNumbers  # (n,) the first child of each place, or -1
    following: PlaceNumbers  # (n,) the next child of the same parent, or -1


class Priced(NamedTuple):
    """A ray v (n,), with the prices Y (n,) and the weights q (n,) of the places."""

    Y: Floats
    q: Floats
    v: Floats


class Trees(NamedTuple):
    """The arrays of `Forest`, with the same names."""

    factors: Floats
    weights: Floats
    parents: PlaceNumbers
    kinds: ArcKinds
    roots: PlaceNumbers
    rays: Floats
    ratios: Floats
    proven: Floats


@compiled_later
def write_order(tree: Tree, root: int) -> None:
    """Fill ``order``, ``head`` and ``following`` of a tree from its parents and its root."""
    parent, _, order, head, following = tree
    n = len(parent)
    for i in range(n):
        head[i] = -1
    for i in range(n):
        if i != root:
            following[i] = head[parent[i]]
            head[parent[i]] = i
    order[0] = root
    known, at = 1, 0
    while at < known:
        child = head[order[at]]
        at += 1
        while child >= 0:
            order[known] = child
            known += 1
            child = following[child]


@compiled_later
def write_ray(a: Floats, q: Floats, tree: Tree, v: Floats) -> None:
    """Write into ``v`` the ray for which every arc of the tree is tight and <q, v> = 1."""
    parent, kind, order, _, _ = tree
    v[order[0]] = 1.0
    total = q[order[0]]
    for e in range(1, len(parent)):
        i = order[e]
        p = parent[i]
        v[i] = a[i, p] * v[p] if kind[i] > 0 else v[p] / a[i, p]
        total += q[i] * v[i]
    for i in range(len(parent)):
        v[i] /= total


@compiled_later
def surplus_covers_deficits(left: Floats, may_lack: Floats, tree: Tree) -> bool:
    """Return whether flows from sinks to sources along the arcs can cover every deficit, up to ``may_lack`` (n,).

    ``left`` (n,) is the surplus b of each place (negative for a deficit). ``left`` is overwritten by the amount that
    each place passes to its parent: a sink passes its surplus, and a source its deficit.
    """
    # If a sink cannot cover the deficits of its sources, a shortfall is allowed first at the sources: their v is
    # larger, so their prices must be lowered by less.
    parent, kind, order, head, following = tree
    # Children come before parents, so a place has received all amounts from its subtree.
    for e in range(len(left) - 1, -1, -1):
        i = order[e]
        if left[i] < 0.0 and (e == 0 or kind[i] > 0):
            lack = -left[i]
            child = head[i]
            while child >= 0 and lack > 0.0:
                if kind[child] < 0 and left[child] < 0.0:
                    without = min(lack, -left[child], may_lack[child])
                    left[child] += without
                    lack -= without
                child = following[child]
            if lack > may_lack[i]:
                return False
            left[i] = 0.0
        if e > 0 and (kind[i] > 0 or left[i] < 0.0):
            left[parent[i]] += left[i]
        elif e > 0:
            left[i] = 0.0
    return True


@compiled_later
def is_proven(at: Priced, level: float, short: float, tree: Tree, left: Floats, lack: Floats) -> bool:
    """Return whether the tree proves <Y, u> >= (level - short) <q, u> for every possible column u of the type."""
    Y, q, v = at
    for i in range(len(Y)):
        left[i] = v[i] * (Y[i] - level * q[i])
        lack[i] = v[i] * short * q[i]
    return surplus_covers_deficits(left, lack, tree)


@compiled_later
def proven_level(at: Priced, r: float, slack: float, tree: Tree, left: Floats, lack: Floats) -> float:
    """Return a level that the tree proves: at most r - slack, and near the largest such level; -inf if the tree proves
    none.
    """
    short = _SHORT * slack
    good, bad = r - slack, r
    for step in range(80):
        if is_proven(at, good, short, tree, left, lack):
            break
        if step == 79:
            return -np.inf
        bad = good
        good = r - (r - good) * 4.0
    for _ in range(6 if good < r - slack else 0):
        middle = 0.5 * (good + bad)
        if is_proven(at, middle, short, tree, left, lack):
            good = middle
        else:
            bad = middle
    return good


@compiled_later
def most_negative_flow(at: Priced, r: float, tree: Tree, sub: Floats, mass: Floats, size: Floats) -> tuple[int, float]:
    """Return the place whose arc to its parent has the most negative flow (-1 for none), and the least flow."""
    # If every negative flow is below the accuracy of floats, choose the flow that is most negative relative to the mass
    # of the sink's side, because that side may be tiny, and may be scaled up considerably.
    (Y, q, v), (parent, kind, order, _, _) = at, tree
    for i in range(len(Y)):
        sub[i] = v[i] * (Y[i] - r * q[i])
        mass[i] = v[i] * q[i]
        size[i] = abs(sub[i])
    least, cut = -_VISIBLE, -1
    relative, tiny = 0.0, -1
    # Visit leaves first, so that the sum over a subtree is complete at its upper arc.
    for e in range(len(Y) - 1, 0, -1):
        i = order[e]
        flow = sub[i] * kind[i]
        if flow < least:
            least = flow
            cut = i
        # The flow is larger than the rounding error of its terms.
        if flow < -_ROUNDING * size[i]:
            side = mass[i] if kind[i] > 0 else 1.0 - mass[i]
            if flow < relative * side:
                relative = flow / max(side, 1e-300)  # the flow of a side without mass does not matter
                tiny = i
        sub[parent[i]] += sub[i]
        mass[parent[i]] += mass[i]
        size[parent[i]] += size[i]
    return cut if cut >= 0 else tiny, least


@compiled_later
def reroot(root: int, old: int, parent: PlaceNumbers, kind: ArcKinds) -> None:
    """Make ``root`` the root of the tree whose root is ``old``."""
    x, y, k = root, parent[root], kind[root]
    while x != old:
        above, its_kind = parent[y], kind[y]
        parent[y] = x
        kind[y] = -k
        x, y, k = y, above, its_kind


@compiled_later
def mark_sides(cut: int, tree: Tree, inside: NDArray[np.bool_], source: NDArray[np.bool_]) -> None:
    """Mark in ``inside`` the subtree below ``cut``; mark in ``source`` the sources of all other arcs, and the sink of
    the arc above ``cut``.
    """
    parent, kind, order, _, _ = tree
    for i in range(len(parent)):
        inside[i] = False
        source[i] = False
    for e in range(1, len(parent)):
        i = order[e]
        # Parents come before their children in this order.
        inside[i] = i == cut or inside[parent[i]]
        if i != cut:
            source[parent[i] if kind[i] > 0 else i] = True
    source[cut if kind[cut] > 0 else parent[cut]] = True


def _raise_in_turn(products: Floats, row: Floats, value: float) -> None:
    for l in range(len(row)):
        t = row[l] * value
        u = products[l]
        products[l] = t if t > u else u


def _raise_at_once(products: Floats, row: Floats, value: float) -> None:
    np.maximum(products, row * value, out=products)


# Computes products = max(products, value * row): entry by entry in machine code, with NumPy in Python.
raise_to = _raise_at_once


@compiled_later
def first_tight(
    a: Floats, v: Floats, up: bool, inside: NDArray[np.bool_], source: NDArray[np.bool_], products: Floats
) -> tuple[int, int]:
    """Return the row (sink, source) that is tight first if places with inside == up are scaled up; (-1, -1) if none."""
    # By the triangle inequality only the sources on the scaled side need to be tried: sinks on this side give smaller
    # products.
    n = len(v)
    for l in range(n):
        products[l] = 0.0
    for m in range(n):
        if source[m] and inside[m] == up:
            raise_to(products, a[m], v[m])
    largest, sink = 0.0, -1
    for l in range(n):
        if inside[l] != up and products[l] / v[l] > largest:
            largest = products[l] / v[l]
            sink = l
    giver, most = -1, 0.0
    for m in range(n):
        if sink >= 0 and source[m] and inside[m] == up and a[m, sink] * v[m] > most:
            most = a[m, sink] * v[m]
            giver = m
    return sink, giver


@compiled_later
def replace_arc(cut: int, sink: int, giver: int, parent: PlaceNumbers, kind: ArcKinds) -> None:
    """Replace the arc above ``cut`` by the arc (sink, giver). One end of the new arc becomes the root of the
    subtree.
    """
    up = kind[cut] > 0
    top = giver if up else sink
    reroot(top, cut, parent, kind)
    parent[top] = sink if up else giver
    kind[top] = -1 if up else 1


@compiled_later
def price_trees(trees: Trees, prices: Floats, which: PlaceNumbers, most: int, slack: float) -> int:
    """Pivot the tree of each action in ``which`` towards the least r = <Y, v> / <q, v>; return the number of pivots."""
    # Y is the row of ``prices`` for the action. A tree stops when it proves the level r - 1.1 slack, or after ``most``
    # pivots. Trees, ratios and proven levels are changed in place. A flow is computed as a sum over the places below
    # its arc. The root is a place with a large mass: the rounding error of a sum over a heavy subtree would exceed the
    # flow to a light one. Cost: O(n s) for each pivot with s sources. One long function compiles faster than several
    # that call each other.
    n, a, q, steps = len(trees.weights), trees.factors, trees.weights, 0
    head, following, order = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    left, lack, products = np.empty(n), np.empty(n), np.empty(n)
    inside, source = np.empty(n, np.bool_), np.empty(n, np.bool_)
    short = _SHORT * slack
    for e in range(len(which)):
        w = which[e]
        Y, parent, kind, root, v = prices[e], trees.parents[w], trees.kinds[w], trees.roots[w], trees.rays[w]
        tree, at, pivots = Tree(parent, kind, order, head, following), Priced(Y, q, v), 0
        while True:
            write_order(tree, root)
            write_ray(a, q, tree, v)
            heaviest, r = root, 0.0
            for i in range(n):
                r += Y[i] * v[i]
                if q[i] * v[i] > q[heaviest] * v[heaviest]:
                    heaviest = i
            if q[root] * v[root] < _LIGHT * q[heaviest] * v[heaviest]:
                reroot(heaviest, root, parent, kind)
                root = heaviest
                write_order(tree, root)
            cut, least = most_negative_flow(at, r, tree, left, lack, products)
            # The level r - slack adds at most ``slack`` to each flow, and shortfalls add at most ``short``. If a flow
            # is more negative, no proof is possible.
            is_done = least >= -2.0 * (slack + short) and is_proven(at, r - slack, short, tree, left, lack)
            if is_done or pivots >= most or cut < 0:
                break
            mark_sides(cut, tree, inside, source)
            sink, giver = first_tight(a, v, kind[cut] > 0, inside, source, products)
            if giver < 0:
                break
            replace_arc(cut, sink, giver, parent, kind)
            pivots += 1
        level = r - slack if is_done else proven_level(at, r, slack, tree, left, lack)
        trees.ratios[w], trees.proven[w], trees.roots[w] = r, level - short, root
        steps += pivots
    return steps


@compiled_later
def write_shortfalls(trees: Trees, prices: Floats, level: float, shortfalls: Floats, multipliers: Floats) -> None:
    """Increase ``shortfalls`` d (n,) until the trees prove <Y + d, u> >= level <q, u> for each row Y of ``prices``.

    The inequality is proven for all possible columns u of the type. If ``multipliers`` has the shape (k, n), it
    receives the multiplier of the arc above each place, and 0 for a root.
    """
    n, q = len(trees.weights), trees.weights
    head, following, order = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    left, anything, short, v = np.empty(n), np.full(n, np.inf), np.empty(n), np.empty(n)
    for w in range(len(prices)):
        tree = Tree(trees.parents[w], trees.kinds[w], order, head, following)
        write_order(tree, trees.roots[w])
        write_ray(trees.factors, q, tree, v)
        for i in range(n):
            left[i] = short[i] = v[i] * (prices[w, i] - level * q[i])
        surplus_covers_deficits(left, anything, tree)
        # From the surplus of a place, subtract its flows to sources, and add the flows from sinks.
        for e in range(1, n):
            i = order[e]
            flow = max(left[i] * tree.kind[i], 0.0)
            short[i] -= tree.kind[i] * flow
            short[tree.parent[i]] += tree.kind[i] * flow
            if len(multipliers) > 0:
                multipliers[w, i] = flow / v[i if tree.kind[i] > 0 else tree.parent[i]]
        for i in range(n):
            shortfalls[i] = max(shortfalls[i], -short[i] / v[i])

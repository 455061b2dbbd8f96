"""Build spaces of the nodes of a graph or a tree; distances are lengths of shortest paths."""

from collections.abc import Hashable, Iterable
from math import lcm
from typing import Any

import numpy as np

from utmost.core.exact.arrays import Array, as_array, fractions, is_exact
from utmost.core.exact.numbers import natural, refused_as
from utmost.design.spaces.space import Space, TableMetric, distance_table
from utmost.errors import NotAMetric, OutOfRange, quoted

EdgeEnds = list[tuple[int, int]]


def graph(edges: Any, weight: str | None = None) -> Space:
    """Return the space of the nodes of a connected graph; distances are lengths of shortest paths.

    Args:
        edges: Pairs (u, v), of length 1, or triples (u, v, length) with positive lengths (integers, Fractions and text
            stay exact); or an undirected networkx graph, whose edge attribute "weight" gives the length (1 if it is
            missing). If several edges join two nodes, the shortest edge is used.
        weight: Edge attribute of a networkx graph that contains the lengths ("length" in graphs of osmnx). Every edge
            must have the named attribute. Loops are ignored.

    Returns:
        A space whose labels are the nodes, in increasing order if they are 0, 1, ..., n-1, else in the order of their
        first appearance.

    Raises:
        NotAMetric: if the graph is not connected, if it is directed, or if it has a loop, an edge without positive
            length, or no edge.
        OutOfRange: if ``weight`` is given and the edges are a list.

    Cost: a few sweeps of O(n m) for n nodes and m edges.

    >>> star = graph([("hub", "a"), ("hub", "b"), ("hub", "c", "1/2")])
    >>> star.labels, star.length(1, 3)
    (('hub', 'a', 'b', 'c'), Fraction(3, 2))
    """
    nodes, ends, lengths = _read_edges(edges, weight)
    # A breadth-first search from the first node lists the edges in an order for which few sweeps suffice.
    touching: list[list[int]] = [[] for _ in nodes]
    for k, (u, v) in enumerate(ends):
        touching[u].append(k)
        touching[v].append(k)
    reached, found = {0: None}, dict[int, None]()
    for u in (frontier := [0]):
        for k in touching[u]:
            found.setdefault(k)
            for v in ends[k]:
                if v not in reached:
                    reached[v] = None
                    frontier.append(v)
    for k, node in enumerate(nodes):
        if k not in reached:
            raise NotAMetric(
                "a graph must be connected",
                came=f"no path from {nodes[0]!r} to {node!r}",
                remedy="Keep the nodes of one component, or add edges.",
            )
    order = list(found)
    table = _shortest_paths(len(nodes), [ends[k] for k in order], lengths[order])
    candidates = np.array(sorted({(min(e), max(e)) for e in ends}), dtype=np.intp)
    return Space(TableMetric.trusted(table, candidates), labels=nodes)


def _read_edges(edges: Any, weight: str | None) -> tuple[list[Hashable], EdgeEnds, Array]:
    """Return the nodes, the edges as pairs of node indices, and the lengths, all Fractions or all floats."""
    number: dict[Any, int] = {}
    if hasattr(edges, "is_directed"):
        if edges.is_directed():
            remedy = "Pass network.to_undirected(), or, for streets, call spaces.places(network, both_ways=True)."
            raise NotAMetric("distances are symmetric, so a graph must be undirected", came=edges, remedy=remedy)
        number = {node: k for k, node in enumerate(edges.nodes)}
        if weight is None:
            edges = list(edges.edges(data="weight", default=1))
        else:
            edges = [edge for edge in edges.edges(data=weight) if edge[0] != edge[1]]
            for u, v, length in edges:
                if length is None:
                    raise NotAMetric(
                        f"every edge must have the attribute {weight!r}",
                        came=f"none from {u!r} to {v!r}",
                        remedy="Add the attribute, or pass another weight.",
                    )
    elif weight is not None:
        remedy = "Leave out weight=, and write edges as (u, v, length)."
        raise OutOfRange("only a networkx graph has edge attributes", came=weight, where="weight", remedy=remedy)
    ends, lengths = [], []
    for edge in edge_list(edges):
        if not isinstance(edge, tuple | list) or len(edge) not in (2, 3):
            raise NotAMetric(
                "an edge must be a pair (u, v) or a triple (u, v, length)",
                came=quoted(edge),
                remedy='Pass a list of pairs and triples, such as [("a", "b"), ("b", "c", 2)].',
            )
        u, v, length = (*edge, 1)[:3]
        if not isinstance(u, Hashable) or not isinstance(v, Hashable):
            remedy = "Name the nodes by numbers, text or tuples."
            raise NotAMetric("a node must be hashable", came=type(u).__name__, remedy=remedy)
        if u == v:
            raise NotAMetric(
                "an edge must join two different nodes", came=f"a loop at {u!r}", remedy="Remove the loop."
            )
        ends.append((number.setdefault(u, len(number)), number.setdefault(v, len(number))))
        lengths.append(length)
    if not number:
        raise NotAMetric("a graph needs at least one edge", came="none", remedy="Pass pairs (u, v).")
    nodes = list(number)
    with refused_as(NotAMetric):
        array = as_array(lengths, "edge lengths")
    for k in np.flatnonzero(array <= 0)[:1]:
        first, second = (nodes[end] for end in ends[k])
        raise NotAMetric(
            f"the edge from {first!r} to {second!r} must have a positive length",
            came=str(array[k]),
            remedy="Correct the length, or remove the edge.",
        )
    if all(type(node) is int for node in nodes) and set(nodes) == set(range(len(nodes))):
        nodes, ends = sorted(nodes), [(nodes[u], nodes[v]) for u, v in ends]
    return nodes, ends, array


def edge_list(edges: Any) -> list[Any]:
    """Return the edges as a list; raise NotAMetric if ``edges`` cannot be iterated."""
    if not isinstance(edges, Iterable) or isinstance(edges, type | range) or getattr(edges, "ndim", 1) == 0:
        raise NotAMetric(
            "an edge must be a pair (u, v) or a triple (u, v, length)",
            came=type(edges).__name__,
            remedy='Pass a list of pairs and triples, such as [("a", "b"), ("b", "c", 2)].',
        )
    return list(edges)


def _shortest_paths(n: int, ends: EdgeEnds, lengths: Array) -> Array:
    # Every edge shortens the paths from its two ends, until no path gets shorter. Sweeping over the edges forward and
    # back takes one round for a tree, and few rounds for graphs that resemble a tree or a lattice.
    scale = lcm(*(length.denominator for length in lengths)) if is_exact(lengths) else 1
    steps = [int(length * scale) for length in lengths] if is_exact(lengths) else lengths.tolist()
    far = sum(steps) + 1
    number_kind = np.float64 if not is_exact(lengths) else np.int64 if far < 2**60 else object
    paths = np.full((n, n), far, dtype=number_kind)
    np.fill_diagonal(paths, 0)
    outward = list(zip(ends, steps, strict=True))
    before = None
    while before is None or (before != paths).any():
        before = paths.copy()
        for (u, v), step in [*reversed(outward), *outward]:
            np.minimum(paths[v], paths[u] + step, out=paths[v])
            np.minimum(paths[u], paths[v] + step, out=paths[u])
    if not is_exact(lengths):
        return distance_table(np.minimum(paths, paths.T))  # rounding may make the two directions of a path differ
    return paths if scale == 1 and number_kind is np.int64 else distance_table(np.asarray(fractions(paths) / scale))


# All distances are stored, so 10^5 nodes would need 80 GB.
_MOST_NODES = 100_000


def tree(edges: Any) -> Space:
    """Return the space of the nodes of a tree; the distance of two nodes is the length of the path between them.

    Args:
        edges: Edges as for `graph`: pairs (u, v), triples (u, v, length), or a networkx graph; or a dict from each node
            to its parent, with None for the root.

    Raises:
        NotAMetric: if edges close a cycle, or if `graph` raises it.

    >>> offices = tree({"head": None, "north": "head", "south": "head", "oslo": "north"})
    >>> offices.distances[offices.labels.index("oslo")].tolist()
    [2, 1, 3, 0]
    """
    if isinstance(edges, dict):
        roots = [node for node, parent in edges.items() if parent is None]
        if len(roots) != 1:
            remedy = "Give every node but one a parent."
            raise NotAMetric(
                "a tree must have one root, whose parent is None", came=f"{len(roots)} roots", remedy=remedy
            )
        for node, parent in edges.items():
            if parent is not None and parent not in edges:
                raise NotAMetric(
                    "every parent must be a node",
                    came=f"{parent!r}, the parent of {node!r}",
                    remedy="Add the parent to the dict, with its own parent or None.",
                )
        if len(edges) == 1:
            return Space([[0]], labels=list(edges))
        edges = [(parent, node) for node, parent in edges.items() if parent is not None]
    elif not hasattr(edges, "is_directed"):
        edges = edge_list(edges)
    space = graph(edges)
    count = edges.number_of_edges() if hasattr(edges, "is_directed") else len(edges)
    if count != space.size - 1:
        raise NotAMetric(
            f"a tree on {space.size} nodes must have {space.size - 1} edges",
            came=count,
            remedy="Use `graph` for a graph with cycles.",
        )
    return space


def balanced_tree(branching: int, depth: int) -> Space:
    """Return the tree that has ``depth`` >= 1 levels below the root, and ``branching`` children of every inner node.

    Node 0 is the root, and the children of node k are k b + 1, ..., k b + b for b = branching.

    >>> balanced_tree(2, 2).distances[3].tolist()
    [2, 1, 3, 0, 2, 4, 4]
    """
    b, levels = natural(branching, "branching", least=1), natural(depth, "depth", least=1)
    size, layer = 1, 1
    for _ in range(levels):
        layer *= b
        size += layer
        if size > _MOST_NODES:
            raise OutOfRange(
                f"a tree may have at most {_MOST_NODES} nodes",
                came="more",
                where="balanced_tree",
                remedy="Pass a smaller branching or depth.",
            )
    return graph([((k - 1) // b, k) for k in range(1, size)])

"""Trees: taxonomies, organisations, addresses."""

from collections.abc import Hashable
from typing import Any

from utmost.errors import NotAMetric, OutOfRange
from utmost.exact import checked, natural
from utmost.spaces.graph import edge_list, graph
from utmost.spaces.space import Space

# All distances are kept: at 10^5 nodes they fill 80 GB.
_MOST_NODES = 100_000


def tree(edges: Any) -> Space:
    """The nodes of a tree, with the length of the path between them.

    Args:
        edges: as for `graph`: pairs (u, v), triples (u, v, length), or a networkx graph; or a dict that names each
            node's parent, None for the root.

    Raises:
        NotAMetric: for edges that close a cycle, and see `graph`.

    >>> offices = tree({"head": None, "north": "head", "south": "head", "oslo": "north"})
    >>> offices.distances[offices.labels.index("oslo")].tolist()
    [2, 1, 3, 0]
    """
    if isinstance(edges, dict):
        edges = _branches(edges)
    elif not hasattr(edges, "is_directed"):
        edges = edge_list(edges)
    space = graph(edges)
    count = edges.number_of_edges() if hasattr(edges, "is_directed") else len(edges)
    if count != space.size - 1:
        raise NotAMetric(
            f"a tree on {space.size} nodes has {space.size - 1} edges",
            came=count,
            mend="Use `graph` for a graph with cycles.",
        )
    return space


@checked
def balanced_tree(branching: int, depth: int) -> Space:
    """The tree whose inner nodes all have ``branching`` children, ``depth`` >= 1 levels below the root.

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
            raise OutOfRange(f"a tree may have at most {_MOST_NODES} nodes", came="more", where="balanced_tree")
    return graph([((k - 1) // b, k) for k in range(1, size)])


def _branches(parents: dict[Hashable, Hashable]) -> list[tuple[Hashable, Hashable]]:
    roots = [node for node, parent in parents.items() if parent is None]
    if len(roots) != 1:
        raise NotAMetric("a tree has one root, whose parent is None", came=f"{len(roots)} roots")
    for node, parent in parents.items():
        if parent is not None and parent not in parents:
            raise NotAMetric("every parent must be a node", came=f"{parent!r}, the parent of {node!r}")
    return [(parent, node) for node, parent in parents.items() if parent is not None]

"""The shortest cycles that generate all cycles of a graph."""

from utmost.geometry.essential import Edges, neighbour_lists


def longest_basis_cycle(n: int, edges: Edges) -> int:
    """The length of the longest cycle in a minimum cycle basis; 0 for a tree.

    Horton's candidates (a shortest path to each end of an edge, and the edge) contain a minimum basis; candidates are
    taken by length and kept while independent over the field of two elements. Independence there implies independence
    over the rationals, so a sum of steps that vanishes on the basis vanishes on every cycle.

    Cost: O(n m) candidates for m edges, each reduced against at most m - n + 1 others.

    >>> longest_basis_cycle(4, [(0, 1), (1, 2), (2, 3), (0, 3)]), longest_basis_cycle(2, [(0, 1)])
    (4, 0)
    """
    wanted = len(edges) - n + 1
    index = {edge: k for k, edge in enumerate(edges)}
    index |= {(y, x): k for (x, y), k in index.items()}
    pivots: dict[int, int] = {}
    longest = 0
    for cycle in sorted(_candidates(n, edges, index), key=lambda c: c.bit_count()):
        if len(pivots) == wanted:
            break
        longest_if_kept, rest = cycle.bit_count(), cycle
        while rest and (pivot := pivots.get(rest.bit_length())) is not None:
            rest ^= pivot
        if rest:
            pivots[rest.bit_length()] = rest
            longest = longest_if_kept
    return longest


def _candidates(n: int, edges: Edges, index: dict[tuple[int, int], int]) -> set[int]:
    """Cycles as sets of edges: root to x, the edge (x, y), y back to root, with paths that share only the root."""
    neighbours = neighbour_lists(n, edges)
    found = set()
    for root in range(n):
        path = {root: 0}
        for x in (queue := [root]):
            for y in neighbours[x]:
                if y not in path:
                    path[y] = path[x] | 1 << index[x, y]
                    queue.append(y)
        found |= {path[x] ^ path[y] ^ 1 << index[x, y] for x, y in edges} - {0}
    return found

"""Complementary withholding: withhold further cells, so that no withheld cell is a sum or difference of shown ones.

All tables of a release by a plan are sums of one estimate of the cells, so they agree exactly: whoever reads a total
and all of its parts but one can compute the missing part. Let A be the matrix of the relations "a coarse cell is the
sum of finer ones" between published tables, with one column for each cell that is not shown. A withheld cell x_j
follows from the shown ones exactly if e_j lies in the row space of A, that is, if the reduced echelon form of A has the
row e_j.

Finding the fewest further cells is NP-hard (Kelly, Golden and Assad 1992). This module withholds the smallest shown
cell of a relation that determines a withheld cell, until no such relation is left. The choice is a function of the
noisy values, so a reader of the whole release finds the same cells. At the end the module proves that no withheld cell
follows by adding and subtracting shown ones. The module does not claim that the number of further cells is minimal.
Complementary withholding does not protect against the public rule, because the rule bounds each withheld cell: two
integers below 90 that add up to 178 must both be 89.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from flint import fmpz_mat
from numpy.typing import NDArray

from utmost.errors import Unsupported
from utmost.tables.axes.domain import Domain, Marginal, is_finer

Shown = Mapping[Marginal, NDArray[np.bool_]]
"""For each marginal, whether the cell of each group is shown."""

MOST_UNKNOWN = 1500
"""The largest allowed number of connected cells that are not shown: exact elimination takes cubic time."""


@dataclass(frozen=True, slots=True, eq=False)
class Relations:
    """The relations between the cells of some marginals: a coarse cell is the sum of the finer cells inside it."""

    first_cells: Mapping[Marginal, int]  # Number of each marginal's first cell; cells are numbered marginal by marginal
    totals: Sequence[int]  # For each relation, the number of its coarse cell
    parts: Sequence[NDArray[np.intp]]  # For each relation, the numbers of the cells that add up to its coarse cell

    @classmethod
    def of(cls, domain: Domain, marginals: Sequence[Marginal]) -> "Relations":
        """Find the relations between the cells of these marginals and of their coarsest common refinement."""
        finest = tuple(min(levels) for levels in zip(*marginals, strict=True))
        nodes = list(dict.fromkeys([*marginals, finest]))
        sizes = [int(np.prod(domain.group_shape(marginal))) for marginal in nodes]
        starts = [int(start) for start in np.cumsum([0, *sizes[:-1]])]
        first_cells = dict(zip(nodes, starts, strict=True))
        totals: list[int] = []
        parts: list[NDArray[np.intp]] = []
        for fine, coarse in permutations(nodes, 2):
            if is_finer(fine, coarse):
                along = [
                    axis.group_of(high)[axis.group_starts(low)]
                    for axis, low, high in zip(domain.axes, fine, coarse, strict=True)
                ]
                group = np.zeros(1, dtype=np.intp)
                if along:
                    group = np.ravel_multi_index(np.ix_(*along), domain.group_shape(coarse)).ravel()
                order = np.argsort(group, kind="stable")
                for number, cells in enumerate(np.split(order, np.flatnonzero(np.diff(group[order])) + 1)):
                    totals.append(first_cells[coarse] + number)
                    parts.append(cells + first_cells[fine])
        return cls(first_cells, totals, parts)


def complementary(
    domain: Domain, published: Shown, shown: Shown, sizes: Mapping[Marginal, NDArray[np.float64]]
) -> dict[Marginal, NDArray[np.bool_]]:
    """Return the cells that are still shown after complementary withholding; ``sizes`` are absolute noisy values."""
    relations = Relations.of(domain, list(published))
    count = max(relations.first_cells[marginal] + _size(domain, marginal) for marginal in relations.first_cells)
    known, secret, size = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool), np.zeros(count)
    for marginal, start in relations.first_cells.items():
        if marginal in published:
            cells = slice(start, start + _size(domain, marginal))
            known[cells] = shown[marginal]
            secret[cells] = published[marginal] & ~shown[marginal]
            size[cells] = sizes[marginal]
    # Withhold further cells until no secret cell follows from shown ones.
    members = [np.append(parts, total) for total, parts in zip(relations.totals, relations.parts, strict=True)]
    safe: set[bytes] = set()
    while True:
        while _protect_by_one(members, known, secret, size):
            pass
        for component in _components(members, known):
            if component.tobytes() not in safe:
                evidence = _shown_evidence(relations, members, component, known, secret)
                if evidence is not None:
                    _withhold(evidence, known, secret, size)
                    break
                safe.add(component.tobytes())
        else:
            break
    return {
        marginal: known[relations.first_cells[marginal] : relations.first_cells[marginal] + _size(domain, marginal)]
        for marginal in published
    }


def _size(domain: Domain, marginal: Marginal) -> int:
    return int(np.prod(domain.group_shape(marginal)))


def _protect_by_one(
    members: Sequence[NDArray[np.intp]], known: NDArray[np.bool_], secret: NDArray[np.bool_], size: NDArray[np.float64]
) -> bool:
    """Withhold one more cell of each relation whose only unknown cell is secret; return whether any was withheld."""
    before = int(known.sum())
    for cells in members:
        unknown = cells[~known[cells]]
        if len(unknown) == 1 and secret[unknown[0]]:
            _withhold(cells[known[cells]], known, secret, size)
    return int(known.sum()) < before


def _withhold(
    candidates: NDArray[np.intp], known: NDArray[np.bool_], secret: NDArray[np.bool_], size: NDArray[np.float64]
) -> None:
    # The complementary cell is the smallest candidate, and the first of those with equal noisy values.
    cell = candidates[np.lexsort((candidates, size[candidates]))[0]]
    known[cell], secret[cell] = False, True


def _components(members: Sequence[NDArray[np.intp]], known: NDArray[np.bool_]) -> list[NDArray[np.intp]]:
    """Return the cells that are not shown, split into the connected components of the relations."""
    parent = np.arange(len(known))

    def root(cell: int) -> int:
        while parent[cell] != cell:
            parent[cell] = parent[parent[cell]]
            cell = int(parent[cell])
        return cell

    for cells in members:
        unknown = cells[~known[cells]].tolist()
        for cell in unknown[1:]:
            parent[root(cell)] = root(unknown[0])
    sets: dict[int, list[int]] = {}
    for cell in np.flatnonzero(~known).tolist():
        sets.setdefault(root(cell), []).append(cell)
    return [np.array(cells, dtype=np.intp) for cells in sets.values()]


def _shown_evidence(
    relations: Relations,
    members: Sequence[NDArray[np.intp]],
    component: NDArray[np.intp],
    known: NDArray[np.bool_],
    secret: NDArray[np.bool_],
) -> NDArray[np.intp] | None:
    """Return the shown cells from which some secret cell of a component follows; None if none follows."""
    if not secret[component].any():
        return None
    if len(component) > MOST_UNKNOWN:
        raise Unsupported(
            f"at most {MOST_UNKNOWN} withheld cells may be connected by sums",
            came=len(component),
            where="complementary",
            remedy="Withhold fewer tables in one call, or also publish the finest of these tables.",
        )
    column = {int(cell): index for index, cell in enumerate(component)}
    rows = [number for number, cells in enumerate(members) if any(int(cell) in column for cell in cells[~known[cells]])]
    matrix = np.zeros((len(rows), len(column) + len(rows)), dtype=object)
    for row, number in enumerate(rows):
        for cell in members[number]:
            if int(cell) in column:
                matrix[row, column[int(cell)]] = -1 if cell == relations.totals[number] else 1
        matrix[row, len(column) + row] = 1
    if not rows:
        return None
    reduced = fmpz_mat(matrix.tolist()).rref()[0].tolist()
    for line in reduced:
        filled = [index for index in range(len(column)) if int(line[index])]
        if len(filled) == 1 and secret[component[filled[0]]]:
            # This combination of relations determines a secret cell; return its shown cells.
            weights: dict[int, int] = {}
            for number, factor in zip(rows, map(int, line[len(column) :]), strict=True):
                for cell in members[number].tolist() if factor else ():
                    weights[cell] = weights.get(cell, 0) + (-factor if cell == relations.totals[number] else factor)
            return np.array([cell for cell, weight in weights.items() if weight and known[cell]], dtype=np.intp)
    return None

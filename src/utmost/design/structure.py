"""The constraint matrix of a channel on counts, and the lemmas that make an optimal vertex a remap of G.

Source: [ghosh2009], section 5. Lemma 5.5, and with it 5.6 to 5.9 and 5.11, is proved there for every optimal vertex of
a consumer with full-support prior and strictly increasing loss. For other consumers some optimal vertex has the
pattern, and others may not (`docs/theory/ghosh.md`).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.channels import Channel, Remap
from utmost.errors import OutOfRange, PromiseBroken
from utmost.exact import Level, Number, checked, level

DOWN, UP, SLACK, ZERO = "down", "up", "slack", "zero"


@checked
def constraint_matrix(C: Channel, alpha: Number | Level, tolerance: float = 1e-9) -> NDArray[np.str_]:
    """Which privacy constraints are tight: an (n, m) array of "down", "up", "slack" and "zero" for n + 1 counts.

    Entry (i, r) is "down" when alpha x_ir = x_(i+1)r, "up" when x_ir = alpha x_(i+1)r, "zero" when both are 0.

    Args:
        C: (n+1, m), exact or float64.
        alpha: the level's alpha (or a `Level`).
        tolerance: float64 entries may miss a tight constraint by this factor; exact ones by nothing.

    Raises:
        PromiseBroken: when the channel does not keep the level.

    >>> from utmost.channels import geometric_channel
    >>> constraint_matrix(geometric_channel(2, alpha="1/2"), "1/2").tolist()
    [['down', 'up', 'up'], ['down', 'down', 'up']]
    """
    at = alpha if isinstance(alpha, Level) else level(alpha=alpha)
    a = at.alpha_fraction() if C.is_exact and at.is_rational else float(at.alpha)
    here, then = C.matrix[:-1], C.matrix[1:]
    off: Any = 0 if C.is_exact and at.is_rational else tolerance
    pattern = np.full(here.shape, SLACK, dtype="<U5")
    pattern[_equal(a * here, then, off)] = DOWN
    pattern[_equal(here, a * then, off)] = UP
    pattern[(here == 0) & (then == 0)] = ZERO
    broken = (pattern == SLACK) & ((a * here > then) | (a * then > here))
    for i, r in np.argwhere(broken)[:1]:
        raise PromiseBroken(f"column {r} must keep the level between counts {i} and {i + 1}", came=str(at))
    return pattern


def _equal(left: Any, right: Any, off: Any) -> Any:
    return (left == right) if off == 0 else abs(left - right) <= off * np.maximum(left, right)


@dataclass(frozen=True, slots=True)
class LemmaCheck:
    """Whether one lemma's conclusion holds for a mechanism; ``where`` says where it fails."""

    lemma: str
    says: str
    holds: bool
    where: str = ""


def check_lemmas(pattern: NDArray[np.str_]) -> tuple[LemmaCheck, ...]:
    """The conclusions of Lemmas 5.4 to 5.9 of [ghosh2009] for a constraint matrix.

    With k actions for n + 1 counts, the number z of zero columns is read as n + 1 less the columns in use.

    >>> from utmost.channels import geometric_channel
    >>> pattern = constraint_matrix(geometric_channel(5, alpha="1/2"), "1/2")
    >>> [(check.lemma, check.holds) for check in check_lemmas(pattern)]
    [('5.4', True), ('5.5', True), ('5.6', True), ('5.7', True), ('5.8', True), ('5.9', True)]
    """
    used = pattern[:, used_columns(pattern)]
    down, slack = (used == DOWN).sum(axis=1), (used == SLACK).sum(axis=1)
    s, z = int(slack.sum()), len(pattern) + 1 - used.shape[1]
    one_sided = [i for i, row in enumerate(used) if len(set(row)) == 1 and row[0] in (DOWN, UP)]
    disordered = [i for i, row in enumerate(used) if not _is_ordered(row)]
    stalled = [i for i in range(1, len(used)) if down[i] < down[i - 1] + (slack[i] == 0)]
    misplaced = [r for r, column in enumerate(_expected(used).T) if (column != used[:, r]).any()]
    return (
        _check("5.4", "no row is all down or all up", one_sided, "row"),
        _check("5.5", "each row is down..., at most one slack, up...", disordered, "row"),
        _check("5.6", "each row has more downs than the last, or as many and a slack", stalled, "row"),
        LemmaCheck("5.7", "there are at least as many slacks as zero columns", s >= z, "" if s >= z else f"{s} < {z}"),
        LemmaCheck("5.8", "there are as many slacks as zero columns", s == z, "" if s == z else f"{s} and {z}"),
        _check("5.9", "each column is up..., its slacks, down...", misplaced, "column in use"),
    )


@checked
def remap_of_vertex(C: Channel, alpha: Number | Level, tolerance: float = 1e-9) -> Remap:
    """The remap of G that gives a vertex with the pattern of Lemma 5.9: responses i + S_(i-1), ..., i + S_i become k_i.

    k_i is the i-th column in use and S_i the number of slacks in the columns k_0, ..., k_i.

    Raises:
        PromiseBroken: when the constraint matrix has another pattern.

    Source: [ghosh2009], Lemma 5.11.
    """
    pattern = constraint_matrix(C, alpha, tolerance)
    for check in check_lemmas(pattern)[3:] if len(pattern) else ():
        if not check.holds:
            raise PromiseBroken(f"Lemma {check.lemma} must hold: {check.says}", came=check.where)
    columns = used_columns(pattern) if len(pattern) else np.flatnonzero(C.matrix[0])
    widths = 1 + (pattern[:, columns] == SLACK).sum(axis=0)
    return Remap(np.repeat(columns, widths), C.shape[1])


def used_columns(pattern: NDArray[np.str_]) -> NDArray[np.intp]:
    """The columns that are not all zero."""
    if not isinstance(pattern, np.ndarray) or not set(pattern.ravel().tolist()) <= {DOWN, SLACK, UP, ZERO}:
        words = ", ".join(sorted((DOWN, SLACK, UP, ZERO)))
        raise OutOfRange(f"a constraint matrix is an array of {words}", came=type(pattern).__name__)
    if pattern.ndim != 2:
        raise OutOfRange("a constraint matrix has two dimensions", came=f"shape {pattern.shape}")
    return np.flatnonzero((pattern != ZERO).any(axis=0))


def _is_ordered(row: NDArray[np.str_]) -> bool:
    """down..., at most one slack, up..."""
    order = {DOWN: 0, SLACK: 1, UP: 2}
    ranks = [order[entry] for entry in row.tolist()]
    return ranks == sorted(ranks) and ranks.count(1) <= 1


def _expected(used: NDArray[np.str_]) -> NDArray[np.str_]:
    """The pattern of Lemma 5.9 with the same slacks in each column."""
    pattern = np.full(used.shape, DOWN, dtype="<U5")
    start = 0
    for i, slacks in enumerate((used == SLACK).sum(axis=0).tolist()):
        pattern[: start + i, i] = UP
        pattern[start + i : start + i + slacks, i] = SLACK
        start += slacks
    return pattern


def _check(lemma: str, says: str, failing: list[int], what: str) -> LemmaCheck:
    return LemmaCheck(lemma, says, not failing, "" if not failing else f"{what} {failing[0]}")

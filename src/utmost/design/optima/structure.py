"""Decide whether a channel on counts is a remap of the geometric mechanism G, and whether an optimum is unique.

**The constraint matrix of a channel on counts shows which privacy constraints are tight; by lemmas of [ghosh2009], its
pattern makes an optimal vertex a remap of G.**

Source: [ghosh2009], section 5, where Lemma 5.5, and with it 5.6 to 5.9 and 5.11, is proved for every optimal vertex of
a consumer with full-support prior and strictly increasing loss. For other consumers, some optimal vertex has the
pattern of these lemmas, and other optimal vertices may not have it (`proofs/theory/ghosh.md`).

**Which channels on counts are remaps of the geometric mechanism: X = G Y with Y row-stochastic.**

Y = G^{-1} X, and G^{-1} is tridiagonal, so Y >= 0 is a condition on three neighbouring entries of a column:

    (1 + alpha^2) x_i - alpha (x_{i-1} + x_{i+1}) >= 0 inside,   x_0 >= alpha x_1 and x_n >= alpha x_{n-1} at the ends.

The rows of Y always sum to 1.

Source: [gupte2010], Theorem 2; the vertices of footnote 4 of [ghosh2009] are not remaps of G.

**Uniqueness of a consumer's optimal channel.**

If the remapped geometric mechanism on counts is optimal, its dual mu is unique, and a private column v can be column r
of an optimal channel if and only if sum_x (p_x l(x, r) - mu_x) v_x = 0. Let f be the flows that `exact_flows` gives for
action r. Then for x >= 1, v_x is alpha v_(x-1) if f_x > 0, and v_(x-1) / alpha if f_x < 0; the ratio of v_x and v_(x-1)
is free if f_x = 0; and v = 0 unless f_0 = 0. So the possible columns r span a space whose dimension is 1 plus the
number of x >= 1 with f_x = 0; if f_0 is not 0, the dimension is 0. The dimension of the polytope of optimal channels is
the sum over all actions r of the dimensions of the possible columns r, minus n + 1 for the row sums. The optimum is
unique if and only if this polytope has the dimension 0.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance, integer, real
from utmost.core.exact.arrays import Array, frozen, is_exact, objects
from utmost.core.exact.display import Display
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number
from utmost.core.programs.exact_optima import solve_exactly
from utmost.core.programs.linear_program import LinearProgram
from utmost.design.channels.channel import Channel, Remap
from utmost.design.channels.on_counts import GeometricMatrix
from utmost.design.optima.checker_on_counts import exact_flows, integer_rows
from utmost.design.optima.closed_form import exact_design
from utmost.design.optima.consumer_program import user_program
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.design.spaces.consumer import Consumer
from utmost.design.spaces.families import LineMetric
from utmost.errors import OutOfRange, PromiseBroken, Unsupported

DOWN, UP, SLACK, ZERO = "down", "up", "slack", "zero"


def constraint_matrix(channel: Channel, alpha: Number | Level, tolerance: float = 1e-9) -> NDArray[np.str_]:
    """Return which privacy constraints are tight, for n + 1 counts: an (n, m) array of "down", "up", "slack" and
    "zero".

    Entry (i, r) is "down" if alpha x_ir = x_(i+1)r, "up" if x_ir = alpha x_(i+1)r, "zero" if both entries are 0, and
    otherwise "slack".

    Args:
        channel: Channel (n+1, m), exact or float64.
        alpha: Alpha of the level, or a `Level`.
        tolerance: Largest relative difference at which a privacy constraint on float64 entries counts as tight.

    Raises:
        PromiseBroken: if the channel does not satisfy the level.

    >>> from utmost.channels import geometric_channel
    >>> constraint_matrix(geometric_channel(3, alpha="1/2"), "1/2").tolist()
    [['down', 'up', 'up'], ['down', 'down', 'up']]
    """
    instance(channel, Channel, "channel")
    tolerance = real(tolerance, "tolerance")
    at = alpha if isinstance(alpha, Level) else level(alpha=alpha)
    a = at.alpha_fraction() if channel.is_exact and at.is_rational else float(at.alpha)
    here, then = channel.matrix[:-1], channel.matrix[1:]
    off: Any = 0 if channel.is_exact and at.is_rational else tolerance
    pattern = np.full(here.shape, SLACK, dtype="<U5")
    pattern[_equal(a * here, then, off)] = DOWN
    pattern[_equal(here, a * then, off)] = UP
    # Write "zero" last, because two zeros also satisfy the equations of "up" and "down".
    pattern[(here == 0) & (then == 0)] = ZERO
    broken = (pattern == SLACK) & ((a * here > then) | (a * then > here))
    for i, r in np.argwhere(broken)[:1]:
        raise PromiseBroken(
            f"column {r} must satisfy the level between counts {i} and {i + 1}",
            came=str(at),
            remedy="Pass the alpha of the channel, or a larger epsilon.",
        )
    return pattern


def _equal(left: Any, right: Any, off: Any) -> Any:
    return (left == right) if off == 0 else abs(left - right) <= off * np.maximum(left, right)


@dataclass(frozen=True, slots=True, repr=False)
class LemmaCheck(Display):
    """Whether the conclusion of a lemma holds for a mechanism."""

    lemma: str  # number of the lemma, such as "5.4"
    says: str  # the conclusion of the lemma
    holds: bool
    where: str = ""  # row, column or numbers for which the conclusion fails; empty if it holds


def check_lemmas(of: Channel | NDArray[np.str_], alpha: Number | Level | None = None) -> tuple[LemmaCheck, ...]:
    """Check the conclusions of Lemmas 5.4 to 5.9 of [ghosh2009] for a channel, or for its constraint matrix.

    Args:
        of: (n+1, m) channel; or (n, m) constraint matrix, which `constraint_matrix` returns.
        alpha: Alpha of the level, or a `Level`. Pass alpha with a channel only.

    Raises:
        OutOfRange: if a channel is passed without alpha, if a constraint matrix is passed with alpha, or if a
            constraint matrix contains anything but "down", "up", "slack" and "zero".
        PromiseBroken: if the channel does not satisfy the level.

    Lemmas 5.7 and 5.8 take n + 1 minus the number of nonzero columns as the number of zero columns.

    >>> from utmost.channels import geometric_channel
    >>> [(check.lemma, check.holds) for check in check_lemmas(geometric_channel(6, alpha="1/2"), "1/2")]
    [('5.4', True), ('5.5', True), ('5.6', True), ('5.7', True), ('5.8', True), ('5.9', True)]
    """
    if isinstance(of, Channel) and alpha is not None:
        pattern = constraint_matrix(of, alpha)
    elif isinstance(of, Channel) or alpha is not None:
        came = "a channel alone" if alpha is None else f"{type(of).__name__} with alpha"
        remedy = 'Pass check_lemmas(channel, "1/2"), or check_lemmas(constraint_matrix(channel, "1/2")).'
        raise OutOfRange(
            "alpha must be passed with a channel, and left out with a constraint matrix", came=came, remedy=remedy
        )
    else:
        pattern = of
    used = pattern[:, used_columns(pattern)]
    down, slack = (used == DOWN).sum(axis=1), (used == SLACK).sum(axis=1)
    s, z = int(slack.sum()), len(pattern) + 1 - used.shape[1]
    one_sided = [i for i, row in enumerate(used) if len(set(row)) == 1 and row[0] in (DOWN, UP)]
    ranks = np.select([used == DOWN, used == SLACK, used == UP], [0, 1, 2])
    disordered = [i for i, row in enumerate(ranks) if (np.diff(row) < 0).any() or slack[i] > 1]
    stalled = [i for i in range(1, len(used)) if down[i] < down[i - 1] + (slack[i] == 0)]
    # The pattern of Lemma 5.9 with the given number of slacks in each column.
    expected, start = np.full(used.shape, DOWN, dtype="<U5"), 0
    for r, slacks in enumerate((used == SLACK).sum(axis=0).tolist()):
        expected[: start + r, r] = UP
        expected[start + r : start + r + slacks, r] = SLACK
        start += slacks
    misplaced = np.flatnonzero((expected != used).any(axis=0)).tolist()
    return (
        _lemma_check("5.4", "no row is all down or all up", one_sided, "row"),
        _lemma_check("5.5", "each row is down..., at most one slack, up...", disordered, "row"),
        _lemma_check("5.6", "each row has more downs than the last, or as many and a slack", stalled, "row"),
        LemmaCheck("5.7", "there are at least as many slacks as zero columns", s >= z, "" if s >= z else f"{s} < {z}"),
        LemmaCheck("5.8", "there are as many slacks as zero columns", s == z, "" if s == z else f"{s} and {z}"),
        _lemma_check("5.9", "each column is up..., its slacks, down...", misplaced, "column in use"),
    )


def remap_of_vertex(channel: Channel, alpha: Number | Level, tolerance: float = 1e-9) -> Remap:
    """Return the remap Y of the geometric mechanism G with G Y = ``channel``; ``channel`` must have the pattern of
    Lemma 5.9.

    Let k_i be the i-th nonzero column and S_i the number of slacks in the columns k_0, ..., k_i. The remap turns the
    responses i + S_(i-1), ..., i + S_i into the action k_i.

    Raises:
        PromiseBroken: if the constraint matrix has another pattern.

    Source: [ghosh2009], Lemma 5.11.
    """
    instance(channel, Channel, "channel")
    tolerance = real(tolerance, "tolerance")
    pattern = constraint_matrix(channel, alpha, tolerance)
    for check in check_lemmas(pattern)[3:] if len(pattern) else ():
        if not check.holds:
            raise PromiseBroken(f"Lemma {check.lemma} must hold: {check.says}", came=check.where)
    columns = used_columns(pattern) if len(pattern) else np.flatnonzero(channel.matrix[0])
    widths = 1 + (pattern[:, columns] == SLACK).sum(axis=0)
    return Remap(np.repeat(columns, widths), channel.shape[1])


def used_columns(pattern: NDArray[np.str_]) -> NDArray[np.intp]:
    """Return the indices of the columns of a constraint matrix that are not all "zero"."""
    if not isinstance(pattern, np.ndarray) or not set(pattern.ravel().tolist()) <= {DOWN, SLACK, UP, ZERO}:
        words = ", ".join(sorted((DOWN, SLACK, UP, ZERO)))
        remedy = "Pass the result of constraint_matrix(channel, alpha)."
        raise OutOfRange(f"the pattern must be an array of {words}", came=type(pattern).__name__, remedy=remedy)
    if pattern.ndim != 2:
        raise OutOfRange("the pattern must have two dimensions", came=f"shape {pattern.shape}")
    return np.flatnonzero((pattern != ZERO).any(axis=0))


def _lemma_check(lemma: str, says: str, failing: list[int], what: str) -> LemmaCheck:
    return LemmaCheck(lemma, says, not failing, "" if not failing else f"{what} {failing[0]}")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Derivation(Display):
    """The solution Y of X = G Y for a channel X and the geometric mechanism G, and whether Y is row-stochastic."""

    factor: Array  # (n+1, m) Y = G^{-1} X, with entries of any sign
    # (i, r) of the most negative entry of Y, where x_(i-1)r, x_ir and x_(i+1)r violate the three-term condition; or
    # None.
    offence: tuple[int, int] | None

    @property
    def is_derivable(self) -> bool:
        return self.offence is None

    @property
    def remap(self) -> Channel:
        """Y as a randomised remap; raises PromiseBroken if Y has a negative entry, so that X is no remap of G."""
        if self.offence is not None:
            i, r = self.offence
            came = f"Y[{i}, {r}] = {self.factor[i, r]}"
            raise PromiseBroken(
                f"the channel must be a remap of the geometric mechanism; column {r} contradicts this around count {i}",
                came=came,
            )
        return Channel(self.factor if is_exact(self.factor) else np.maximum(self.factor, 0.0))


def derivation(channel: Channel, alpha: Number | Level, tolerance: float = 1e-9) -> Derivation:
    """Return the solution Y of X = G Y for a channel X and the geometric mechanism G; exact if X and alpha are exact.

    Args:
        channel: Channel X, (n+1, m).
        alpha: Alpha of the level, or a `Level`.
        tolerance: Largest accepted distance of a negative entry of a float Y from 0; exact entries must be nonnegative.

    Cost: O(n m).

    >>> rows = [["0", "1/3", "2/3"], ["0", "2/3", "1/3"], ["0", "1/3", "2/3"]]
    >>> found = derivation(Channel(rows), "1/2")
    >>> found.factor.tolist()[1], found.offence
    ([Fraction(0, 1), Fraction(2, 1), Fraction(-1, 1)], (1, 2))
    """
    instance(channel, Channel, "channel")
    tolerance = real(tolerance, "tolerance")
    at = alpha if isinstance(alpha, Level) else level(alpha=alpha)
    # G^-1 is tridiagonal, so no system has to be solved.
    factor = GeometricMatrix(channel.shape[0], at).inverse_product(channel.matrix)
    i, r = divmod(int(np.argmin(factor)), factor.shape[1])
    least: Any = 0 if is_exact(factor) else -tolerance
    return Derivation(frozen(np.array(factor)), None if factor[i, r] >= least else (i, r))


def between_levels(size: int, lower: Level, higher: Level) -> Channel:
    """Return the channel K with G(lower) = G(higher) K. The channel K tightens an answer of the geometric mechanism to
    a smaller epsilon.

    Args:
        size: Number of counts.
        lower: Level with the smaller epsilon.
        higher: Level with the larger epsilon.

    Raises:
        OutOfRange: if ``lower`` has the larger epsilon, because K would then have negative entries.

    Source: [gupte2010], Lemma 3.

    >>> between_levels(3, level(alpha="1/2"), level(alpha="1/4")).matrix[1].tolist()
    [Fraction(7, 27), Fraction(13, 27), Fraction(7, 27)]
    """
    size = integer(size, "size")
    instance(lower, Level, "lower")
    instance(higher, Level, "higher")
    if higher < lower:
        remedy = "Exchange the two levels."
        came = f"{lower} and {higher}"
        raise OutOfRange("lower= must not have a larger epsilon than higher=", came=came, remedy=remedy)
    target = GeometricMatrix(size, lower).matrix()
    factor = GeometricMatrix(size, higher).inverse_product(target)
    return Channel(factor if is_exact(factor) else np.maximum(factor, 0.0))


@dataclass(frozen=True, slots=True, repr=False)
class Uniqueness(Display):
    """Whether the optimal channel of a consumer is unique, and the numbers that prove it."""

    is_unique: bool
    variables: int  # the number of entries of a channel
    freedom: int | None = None  # dimension of the set of optimal channels; None if a linear program decided
    # Number of constraints, row sums included, that every optimal channel satisfies with equality; None if a linear
    # program decided.
    tight: int | None = None


def uniqueness(ptype: PrivacyType, consumer: Consumer) -> Uniqueness:
    """Decide exactly whether the optimal channel of a consumer is unique; floats are converted to rationals.

    Raises:
        Unsupported: if alpha is irrational.

    Source: [ghosh2009], Theorem 6.1 (a uniform prior and the binary loss have G as their only optimum).

    >>> from utmost.spaces import counts

    >>> from utmost.design.spaces import losses, priors
    >>> uniqueness(PrivacyType(counts(3), alpha="1/2"), Consumer(priors.uniform(4), losses.binary))
    Uniqueness(is_unique=True, variables=16, freedom=0, tight=16)
    """
    instance(ptype, PrivacyType, "ptype")
    instance(consumer, Consumer, "consumer")
    if not ptype.level.is_rational:
        remedy = 'Give a rational alpha, such as alpha="1/2".'
        raise Unsupported("uniqueness needs a rational alpha", came=str(ptype.level), remedy=remedy)
    if isinstance(ptype.space.metric, LineMetric):
        design = exact_design(ptype.level, consumer)
        flows = np.array(list(exact_flows(ptype.level, integer_rows(consumer), design.dual)), dtype=object)
        if (flows[-1] >= 0).all():
            n, k = len(flows) - 1, flows.shape[1]
            open_columns, zeros = flows[-1] == 0, (flows[:-1] == 0).sum(axis=0)
            freedom = int((1 + zeros)[open_columns].sum()) - (n + 1)
            tight = int(np.where(open_columns, n - zeros, 2 * n).sum()) + n + 1
            return Uniqueness(freedom == 0, (n + 1) * k, freedom, tight)
    return Uniqueness(_is_only_vertex(ptype, consumer), consumer.secrets * consumer.actions)


def _is_only_vertex(ptype: PrivacyType, consumer: Consumer) -> bool:
    """Return whether all constraints that are tight at an optimal vertex are tight at every optimal channel."""
    # A vertex is the only channel at which all constraints that are tight at the vertex are tight. So no other channel
    # is optimal if and only if the sum of the slacks of these constraints is 0 for every optimal channel.
    program = user_program(ptype, consumer)
    solution = solve_exactly(program)
    m, n = program.shape
    rows = np.repeat(np.arange(m), np.diff(program.starts))
    slack_rows = (program.product(solution.primal) == program.lower) & (program.lower != program.upper)
    gain = [Fraction(int(x == 0)) for x in solution.primal]
    for i, j, value in zip(rows.tolist(), program.columns.tolist(), program.values.tolist(), strict=True):
        gain[j] += value if slack_rows[i] else 0
    cost = [*program.cost.tolist()]
    held = LinearProgram.of_triplets(
        objects([-g for g in gain]),
        np.concatenate([rows, np.full(n, m)]),
        np.concatenate([program.columns, np.arange(n)]),
        np.concatenate([program.values, objects(cost)]),
        np.concatenate([program.lower, objects([-math.inf])]),
        np.concatenate([program.upper, objects([solution.value])]),
    )
    return bool(solve_exactly(held).value == 0)

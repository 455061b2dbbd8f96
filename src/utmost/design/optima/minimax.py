"""Find the private channel with the least worst-case expected loss over the possible secrets, without a prior.

The least worst-case loss equals the maximum, over priors on the possible secrets, of the least expected loss for the
prior. So a worst prior with its certificate proves a lower bound, and the channel proves an upper bound. On counts with
a monotone loss the channel is a randomised remap of the geometric mechanism (for some consumers no deterministic remap
is optimal), and the linear program needs no privacy constraints.

Source: [gupte2010].
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost.core.exact.arguments import instance, integer, optional, sequence_of, truth
from utmost.core.exact.arrays import Array, as_rationals, objects
from utmost.core.exact.display import Display
from utmost.core.exact.intervals import round_up
from utmost.core.exact.levels import level
from utmost.core.exact.memory import fitting_memory
from utmost.core.exact.numbers import exact_integer
from utmost.core.exact.progress_bar import progress_bar
from utmost.core.programs.exact_optima import solve_exactly
from utmost.core.programs.highs import solve
from utmost.core.programs.linear_program import LinearProgram
from utmost.design.channels.channel import Channel
from utmost.design.channels.on_counts import GeometricMatrix
from utmost.design.optima.checker import alpha_above, check_private
from utmost.design.optima.closed_form import theorem_for
from utmost.design.optima.consumer_program import user_program
from utmost.design.optima.evidence import Certificate
from utmost.design.optima.nearly_private import private_matrix
from utmost.design.optima.optimum import optimal_mechanism
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.design.spaces import priors
from utmost.design.spaces.consumer import Consumer
from utmost.design.spaces.families import LineMetric
from utmost.errors import OutOfRange, PromiseBroken

# Largest product of the numbers of secrets, actions and possible secrets for which an exact vertex takes one or two
# seconds, for a rational and for an irrational level. With remaps, the product may be ten times as large.
_MOST_RATIONAL, _MOST_IRRATIONAL, _REMAPS_ARE_QUICKER = 20_000, 1_000, 10


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MinimaxOptimum(Display):
    """A channel with the least worst-case expected loss, with a proof."""

    _shown = ("loss", "ptype", "remap")

    ptype: PrivacyType
    possible: tuple[int, ...]  # the secrets that the consumer considers possible
    matrix: Array  # (secrets, actions) Fractions, exactly private
    # On counts, the row-stochastic Y with matrix = G Y; None if channels or floats were the variables of the program.
    remap: Channel | None
    loss: Fraction | float  # largest expected loss over the possible secrets: exact, or rounded up
    certificate: Certificate  # for the worst prior; its lower bound holds for every private channel

    @property
    def channel(self) -> Channel:
        return Channel(self.matrix)

    @property
    def method(self) -> str:
        """Always "program": a linear program over channels, or, on counts, over remaps of the geometric mechanism."""
        return "program"

    @property
    def prior(self) -> Array:
        """A worst prior, which is zero outside the possible secrets."""
        return self.certificate.consumer.prior

    @property
    def lower(self) -> Fraction | float:
        """A lower bound of the worst-case loss of every private channel."""
        return self.certificate.lower

    @property
    def gap(self) -> Fraction | float:
        """``loss - lower``, 0 for an exact optimum."""
        return self.loss - self.lower

    def verify(self) -> bool:
        """Check that the channel is private, that its worst loss is at most `loss`, and that `prior` proves `lower`."""
        own = self.certificate.ptype
        if own.level != self.ptype.level or not own.space.same_as(self.ptype.space):
            return False
        try:
            check_private(self.ptype, self.matrix)
        except PromiseBroken:
            return False
        worst = worst_loss(self.matrix, self.certificate.consumer.loss, self.possible)
        outside = [x for x in range(len(self.prior)) if x not in self.possible]
        return bool(worst <= self.loss and not self.prior[outside].any() and self.certificate.verify())


def worst_loss(matrix: Array, loss: Array, possible: Sequence[int]) -> Fraction:
    """Return the largest sum_r X[x, r] l(x, r) over the possible secrets x, exactly, with X = ``matrix``."""
    return max(
        sum((Fraction(c) * Fraction(l) for c, l in zip(matrix[x], loss[x].tolist(), strict=True)), Fraction(0))
        for x in possible
    )


@progress_bar("Designing for the worst prior")
@fitting_memory("minimax_mechanism")
def minimax_mechanism(
    ptype: PrivacyType, loss: object, possible: Sequence[int] | None = None, *, exactly: bool | None = None
) -> MinimaxOptimum:
    """Return the private channel with the least worst-case expected loss over the possible secrets.

    Args:
        ptype: Space and level.
        loss: Named loss, function, or (secrets, actions) matrix.
        possible: Indices of the possible secrets; by default all secrets.
        exactly: If True, the mechanism is a vertex of the linear program, computed in rationals. If False, the
            mechanism is the float solution of HiGHS, repaired to be exactly private, with a proven gap. By default True
            if the exact vertex takes at most about a second.

    Raises:
        OutOfRange: if no secret is possible, or if a possible secret is outside the space or repeated.
        SolverFailed: if the solver finds no optimum.

    Cost: that of a linear program; an exact vertex costs about 20 times as much, and more at irrational levels.

    Source: [gupte2010], section 3 (the program), and theorem 3 (the randomised remap of G).

    >>> from utmost.spaces import counts

    >>> from utmost.design.spaces import losses
    >>> found = minimax_mechanism(PrivacyType(counts(3), alpha="1/2"), losses.binary)
    >>> found.loss, found.verify()
    (Fraction(5, 9), True)
    """
    instance(ptype, PrivacyType, "ptype")
    if possible is not None:
        sequence_of(possible, integer, "possible")
    exactly = optional(exactly, truth, "exactly")
    consumer = Consumer(priors.uniform(ptype.space.size), loss)
    size = ptype.space.size
    secrets = tuple(range(size)) if possible is None else tuple(exact_integer(x, "a possible secret") for x in possible)
    if not secrets or len(set(secrets)) != len(secrets) or not all(0 <= x < size for x in secrets):
        required = f"possible secrets must be at least one, distinct, and in 0..{size - 1}"
        raise OutOfRange(required, came=possible)
    rational = consumer.is_exact and ptype.level.is_rational
    remapped = isinstance(ptype.space.metric, LineMetric) and theorem_for(consumer) is not None
    if exactly is None:
        most = (_MOST_RATIONAL if rational else _MOST_IRRATIONAL) * (_REMAPS_ARE_QUICKER if remapped else 1)
        exactly = consumer.secrets * consumer.actions * len(secrets) <= most
    if not exactly:
        return _in_floats(ptype, consumer, secrets, remapped)
    n, k = consumer.secrets, consumer.actions
    remap: Channel | None = None
    if remapped:
        # Minimise t over remaps Y with sum_r (G Y)_ir l(i, r) <= t for possible i. An irrational level is replaced by a
        # rational one with a slightly smaller epsilon.
        at = ptype.level
        if not at.is_rational:
            at = level(alpha=alpha_above(ptype, 0, 1) if size > 1 else "1/2")
        G = GeometricMatrix(n, at).matrix()
        solution = solve_exactly(_remap_program(G, as_rationals(consumer.loss), secrets))
        Y, weights = solution.primal[:-1].reshape(n, k), solution.duals[n:]
        matrix, remap = G @ Y, Channel(Y)
    else:
        # Minimise t over private channels with sum_r x_ir l(i, r) <= t for possible i.
        program = _channel_program(ptype, consumer, secrets)
        solution = solve_exactly(program)
        matrix, weights = solution.primal[:-1].reshape(n, k), solution.duals[program.shape[0] - len(secrets) :]
    belief = np.full(ptype.space.size, Fraction(0), dtype=object)
    belief[list(secrets)] = weights
    certificate = optimal_mechanism(
        ptype, Consumer(belief if rational else (belief / belief.sum()).astype(np.float64), loss)
    ).certificate
    assert isinstance(certificate, Certificate), "without constraints"
    worst = worst_loss(matrix, certificate.consumer.loss, secrets)
    return MinimaxOptimum(ptype, secrets, matrix, remap, worst if rational else round_up(worst), certificate)


def _in_floats(ptype: PrivacyType, consumer: Consumer, secrets: tuple[int, ...], remapped: bool) -> MinimaxOptimum:
    """Return the optimum from a float solution, with the channel repaired and the worst prior taken from the duals."""
    if remapped:
        G = GeometricMatrix(consumer.secrets, ptype.level).matrix().astype(np.float64)
        program, first = _remap_program(G, np.asarray(consumer.loss, np.float64), secrets), consumer.secrets
    else:
        program = _channel_program(ptype, consumer, secrets)
        G, first = np.eye(consumer.secrets), program.shape[0] - len(secrets)
    solution = solve(program)
    Y = np.maximum(solution.primal[:-1].reshape(consumer.secrets, consumer.actions), 0.0)
    matrix = private_matrix(ptype, G @ (Y / Y.sum(axis=1)[:, None]))
    belief = np.zeros(consumer.secrets)
    belief[list(secrets)] = np.maximum(solution.duals[first:].astype(np.float64), 0.0)
    worst = Consumer(belief / belief.sum(), consumer.loss)
    certificate = optimal_mechanism(ptype, worst, exactly=False).certificate
    assert isinstance(certificate, Certificate), "without constraints"
    most = worst_loss(matrix, worst.loss, secrets)
    return MinimaxOptimum(ptype, secrets, matrix, None, round_up(most), certificate)


def _remap_program(G: Array, loss: Array, secrets: tuple[int, ...]) -> LinearProgram:
    """Return the program that minimises, over remaps Y of G, the largest expected loss of G Y at a possible secret."""
    n, k = loss.shape
    units = np.ones(n * k, dtype=loss.dtype) if loss.dtype != object else objects([Fraction(1)] * (n * k))
    entries = [(np.repeat(np.arange(n), k), np.arange(n * k), units)]
    for number, i in enumerate(secrets):
        paid = np.append(-np.outer(G[i], loss[i]).ravel(), units[:1])
        entries.append((np.full(n * k + 1, n + number), np.arange(n * k + 1), paid))
    return _least_largest_loss(n * k, entries, n, len(secrets))


def _channel_program(ptype: PrivacyType, consumer: Consumer, secrets: tuple[int, ...]) -> LinearProgram:
    """Return the program over channels: the rows of `user_program`, and a row for the loss at each possible secret."""
    base, k = user_program(ptype, consumer), consumer.actions
    m, size = base.shape
    loss = as_rationals(consumer.loss)
    entries = [(np.repeat(np.arange(m), np.diff(base.starts)), base.columns, base.values)]
    for number, i in enumerate(secrets):
        columns = np.append(np.arange(i * k, i * k + k), size)
        entries.append((np.full(k + 1, m + number), columns, np.append(-loss[i], [Fraction(1)])))
    return _least_largest_loss(size, entries, 0, len(secrets), base)


def _least_largest_loss(
    size: int, entries: list[tuple[Array, Array, Array]], sums: int, tops: int, base: LinearProgram | None = None
) -> LinearProgram:
    """Return the program of ``size`` + 1 variables that minimises the last variable, which has no lower bound."""
    units, zeros = [Fraction(1)] * sums, [Fraction(0)] * tops
    lower = objects([*(base.lower.tolist() if base else units), *zeros])
    upper = objects([*(base.upper.tolist() if base else units), *[math.inf] * tops])
    cost = objects([*[Fraction(0)] * size, Fraction(1)])
    least = objects([*[Fraction(0)] * size, -math.inf])
    i, j, coefficients = (np.concatenate(part) for part in zip(*entries, strict=True))
    return LinearProgram.of_triplets(cost, i, j, coefficients, lower, upper, column_lower=least)

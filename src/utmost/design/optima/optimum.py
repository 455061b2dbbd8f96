"""Find the private channel with the least expected loss for one consumer, exactly or within a proven gap."""

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from utmost.core.exact.arguments import instance, one_of, optional, real, sequence_of, text, truth
from utmost.core.exact.arrays import Array, PickledByFields
from utmost.core.exact.display import Display
from utmost.core.exact.memory import fitting_memory
from utmost.core.exact.numbers import Number
from utmost.core.exact.progress_bar import progress_bar
from utmost.core.programs.exact_optima import exact_vertex, solve_exactly
from utmost.core.programs.highs import InfeasibleProgram, solve, solve_by_rows
from utmost.design.channels.channel import Channel, Remap, stochastic
from utmost.design.channels.channel_draws import NamedMechanism
from utmost.design.channels.on_counts import GeometricMatrix
from utmost.design.optima.attacks import Attack, attack_beside
from utmost.design.optima.checker import alphas_above, alphas_below, edge_slacks
from utmost.design.optima.closed_form import exact_design, float_design, theorem_for
from utmost.design.optima.column_generation import certificate_of_rays
from utmost.design.optima.constrained import (
    ConstrainedCertificate,
    Constraint,
    constrained_certificate,
    read_constraints,
)
from utmost.design.optima.consumer_program import rows_of_neighbours, split_duals, user_program
from utmost.design.optima.evidence import Certificate
from utmost.design.optima.nearly_private import feasible_dual, private_matrix
from utmost.design.optima.search_for_rays import GapProgress
from utmost.design.privacy_types.policy_types import PolicyType
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.design.spaces.consumer import Consumer
from utmost.design.spaces.families import LineMetric
from utmost.errors import NotMonotone, OutOfRange, PromiseBroken, SolverFailed, Unsupported, WrongKind

DesignMethod = Literal["auto", "theorem", "program", "columns"]
# If it needs more operations on digits than this, an exact design takes minutes, and is computed only on request.
_MOST_DIGIT_OPERATIONS = 5e9
_MOST_EXACT_VARIABLES = 2_000
_MOST_EXACT_AT_ANY_LEVEL = 144
_FEW_PIVOTS = 2  # number of exact pivots, each of which takes up to a second

# The value of epsilon d at which alpha^d = 2^-60. For smaller powers, the last basis of HiGHS may be far from optimal.
_LARGEST_SCALE = 42.0
_NEGLIGIBLE = 1e-250
_MOST_ROUNDED = 1 << 22
# a smaller gap, relative to the worst loss, is due to float rounding, and an exact vertex does not remove it
_FLOATS_OWN = 1e-12
# for a smaller gap, relative to the loss, no exact vertex is computed, since that may take minutes
_NEAR_ENOUGH = 1e-7


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Optimum(Display, PickledByFields):
    """An optimal channel for a consumer, its loss, and a proof that no private channel is better by more than the gap.

    Attributes:
        certificate: Channel, dual and bounds of the loss; ``certificate.verify()`` checks them again.
        method: "closed form" (the geometric mechanism, remapped), "program", "program with constraints" or
            "column generation".
    """

    _shown = ("loss", "gap", "method")

    certificate: Certificate | ConstrainedCertificate
    method: str

    def __post_init__(self) -> None:
        instance(self.certificate, (Certificate, ConstrainedCertificate), "certificate")
        text(self.method, "method")

    @property
    def loss(self) -> Fraction | float:
        """The expected loss of the channel: exact, or a float rounded up."""
        return self.certificate.upper

    @property
    def lower(self) -> Fraction | float:
        """A lower bound of the loss of every private channel: ``loss`` for an exact design, else a float rounded down.

        If the loss is below about 1e-12 of the worst loss, this bound may be 0; this happens mostly for programs with
        more than 144 variables.
        """
        return self.certificate.lower

    @property
    def gap(self) -> Fraction | float:
        """``loss - lower``, in the unit of the loss. The number is not a relative gap."""
        return self.certificate.gap

    @property
    def is_exact(self) -> bool:
        """Whether the loss is exactly the optimum."""
        return bool(self.gap == 0)

    @property
    def theorem(self) -> str | None:
        """Name of the theorem that gives the optimum; None if a linear program gave the optimum."""
        return self.certificate.theorem

    @property
    def remap(self) -> Remap | None:
        """The optimal remap of the geometric mechanism; None if a program found the channel."""
        return self.certificate.remap

    @property
    def channel(self) -> Channel:
        """The optimal channel (secrets, actions); secrets have the labels of the space as names. Cost: O(n k)."""
        matrix, remap = self.certificate.matrix, self.remap
        if remap is not None:
            n = self.certificate.consumer.secrets - 1
            return Channel(GeometricMatrix(n + 1, self.certificate.ptype.level).matrix()) @ remap
        assert matrix is not None
        names = self.certificate.ptype.space.names
        answers = names if names is not None and matrix.shape[1] == len(names) else None
        return Channel(matrix if self.certificate.consumer.is_exact else matrix.astype(np.float64), names, answers)

    @property
    def rounded(self) -> "Optimum":
        """The design with probabilities rounded to at most 61 bits over one denominator; the level holds exactly for
        them.

        Use the rounded design to draw from a table of integers, for example on a phone: a level with irrational alpha
        has no such table, and exact vertices have denominators of thousands of bits. The rounded design has its own
        certificate of privacy and loss.

        Raises:
            Unsupported: if the design has constraints, which rounding might violate, or more than 2^22 probabilities.

        Cost: O(edges k) float operations, and exact operations where floats do not decide.

        >>> from utmost.spaces import counts

        >>> from utmost.design.spaces import losses, priors
        >>> found = optimal_mechanism(PrivacyType(counts(3), epsilon=1), Consumer(priors.uniform(4), losses.absolute))
        >>> found.rounded.channel.is_exact, 0 <= found.rounded.loss - found.lower < 1e-12
        (True, True)
        """
        proof = self.certificate
        if not isinstance(proof, Certificate):
            raise Unsupported(
                "only a design without constraints can be rounded",
                came=self.method,
                where="rounded",
                remedy="Draw from the exact design, or leave out constraints=.",
            )
        if proof.consumer.secrets * proof.consumer.actions > _MOST_ROUNDED:
            raise Unsupported(
                "only a design of at most 2^22 probabilities can be rounded",
                came="more",
                where="rounded",
                remedy="Use fewer secrets or actions.",
            )
        matrix = private_matrix(proof.ptype, self.channel.to_floats().matrix)
        rounded = Certificate(proof.ptype, proof.consumer, proof.dual, matrix=matrix, multipliers=proof.multipliers)
        return Optimum(rounded, self.method)

    def attack(self, prior: object = None, loss: object = None) -> Attack:
        """Return how much one answer reveals to an attacker, and how much usual mechanisms at the same level reveal.

        Args:
            prior: Prior of the attacker; by default the prior of the consumer.
            loss: Loss of the attacker's guess; by default the loss of the consumer.

        Cost: O(n k^2), because the matrix is computed.

        >>> from utmost.spaces import counts

        >>> from utmost.design.spaces import losses, priors
        >>> found = optimal_mechanism(PrivacyType(counts(3), alpha="1/2"), Consumer(priors.uniform(4), losses.absolute))
        >>> facts = found.attack()
        >>> str(facts.prior_vulnerability), str(facts.vulnerability), [other.mechanism for other in facts.others]
        ('1/4', '1/2', ['geometric noise', 'exponential mechanism'])
        """
        certificate = self.certificate
        channel = self.channel if certificate.matrix is None else stochastic(certificate.matrix)
        return attack_beside(channel, certificate.ptype, certificate.consumer, prior=prior, loss=loss)

    def draw(
        self,
        secrets: Any,
        shape: int | tuple[int, ...] = (),
        *,
        randomness: Any = None,
        method: Literal["constant", "table"] | None = None,
    ) -> Any:
        """Draw an answer for each secret exactly from the optimal mechanism; see `Channel.draw`.

        Pass secrets as indices, or as labels of the space. If you pass labels, and there are as many actions as
        secrets, answers are labels too. On counts, geometric noise is drawn exactly, for rational and irrational
        levels, then clamped and remapped.

        >>> from utmost.spaces import grid

        >>> from utmost.design.spaces import losses, priors
        >>> places = grid(2, 2)
        >>> consumer = Consumer(priors.uniform(4), losses.distance(places))
        >>> found = optimal_mechanism(PrivacyType(places, epsilon=1), consumer)
        >>> found.draw((0, 1)) in places.labels, found.draw([0, 3], shape=10).shape
        (True, (10, 2))
        """
        return self._drawing().draw(secrets, shape, randomness, method)

    def _drawing(self) -> NamedMechanism:
        """Return the mechanism with the labels of secrets, and of answers if there is one action for each secret."""
        certificate, labels = self.certificate, self.certificate.ptype.space.labels
        answers = labels if certificate.consumer.actions == len(labels) else None
        return NamedMechanism(_drawn_from(certificate), labels, answers, certificate.remap)


@lru_cache(maxsize=8)
def _drawn_from(certificate: Certificate | ConstrainedCertificate) -> Channel | GeometricMatrix:
    """Return the channel that draws outcomes; the certificate's `remap`, if any, turns outcomes into answers."""
    if certificate.remap is not None:
        return GeometricMatrix(certificate.ptype.space.size, certificate.ptype.level)
    assert certificate.matrix is not None, "a design has a remap or a matrix"
    return stochastic(certificate.matrix)


@progress_bar("Designing")
@fitting_memory("optimal_mechanism")
def optimal_mechanism(
    ptype: PrivacyType,
    consumer: Consumer,
    *,
    method: DesignMethod = "auto",
    exactly: bool | None = None,
    constraints: Sequence[Constraint | str] = (),
    gap: Number = "1e-7",
    progress: GapProgress | None = None,
) -> Optimum:
    """Return the channel of a type with the least expected loss for a consumer who uses the channel's outcomes as
    actions.

    The channel is exactly optimal, or optimal up to the gap between ``loss`` and ``lower`` that its certificate proves.

    On counts, the geometric mechanism with the consumer's Bayes remap is tried first. The remapped geometric mechanism
    is optimal for every monotone loss, and for every unimodal loss with ordered modes (`hypotheses`). For any other
    loss, a dual shows whether the remapped geometric mechanism is optimal. If it is not optimal, or the space is not
    one of counts, the linear program of the consumer is solved.

    Args:
        ptype: Privacy type: space and level.
        consumer: Prior over the secrets of the space, and a loss.
        method: "auto"; "theorem" to refuse losses to which the theorem does not apply; "program" to solve the linear
            program for any loss; "columns" to approximate the optimum by column generation. Large programs on spaces
            other than counts use column generation by default.
        exactly: If True, all numbers are rationals; if False, they are floats, with a proven gap. By default rationals
            if prior, loss and alpha are rational and the work takes seconds (n up to some hundreds).
        constraints: Further constraints of the channel, see `Constraint`. With constraints, the result is an exact
            vertex of the program with these constraints, and the certificate contains their multipliers.
        gap: Largest relative distance of the loss from the optimum, for column generation. With a gap of 1/100, a
            search over a thousand or more places takes only a fraction of the time. The result states the gap that was
            reached.
        progress: Function that column generation calls after each round with the number of rounds and the relative gap
            so far. If ``progress`` is passed, a keyboard interrupt ends the search, and the best mechanism so far is
            returned.

    Raises:
        OutOfRange: if the prior does not have one entry for each secret, or the gap is not positive.
        WrongKind: if ``ptype`` is the type of a policy; call `policy_mechanism` for it.
        NotMonotone: if the method is "theorem" and the theorem does not apply to the loss.
        Unsupported: if ``exactly`` is True, and prior or loss have floats or alpha is irrational.
        SolverFailed: if the solver finds no optimum.

    Cost: O(n k) for the closed form with k actions: 10 001 counts take seconds, and no matrix is computed.

    Source: [ghosh2009], Theorem 3.1 and program (2) to (6).

    >>> from utmost.spaces import counts

    >>> from utmost.design.spaces import losses, priors
    >>> found = optimal_mechanism(PrivacyType(counts(3), alpha="1/2"), Consumer(priors.uniform(4), losses.binary))
    >>> found.loss, found.remap.actions.tolist(), found.certificate.verify()
    (Fraction(1, 2), [0, 1, 2, 3], True)
    """
    if isinstance(ptype, PolicyType):
        remedy = "Call utmost.optima.policy_mechanism(ptype, consumer)."
        required = "ptype must be a PrivacyType"
        raise WrongKind(required, came="PolicyType", where="optimal_mechanism", remedy=remedy)
    instance(ptype, PrivacyType, "ptype")
    instance(consumer, Consumer, "consumer")
    one_of(method, DesignMethod, "method")
    exactly = optional(exactly, truth, "exactly")
    sequence_of(constraints, text, "constraints")
    if consumer.secrets != ptype.space.size:
        raise OutOfRange(
            f"the prior must have {ptype.space.size} entries, one for each secret",
            came=consumer.secrets,
            remedy="Pass a consumer on the secrets of this space.",
        )
    relative_gap = real(gap, "gap")
    if not relative_gap > 0:
        raise OutOfRange("the gap must be positive", came=gap, remedy='Pass gap="1/100".')
    rational = consumer.is_exact and ptype.level.is_rational
    read_conditions = read_constraints(constraints, ptype.space, consumer.actions)
    if read_conditions and method not in ("auto", "program"):
        remedy = 'Pass method="program", or leave out method=.'
        raise OutOfRange('constraints need the method "program"', came=f"method={method!r}", remedy=remedy)
    if exactly and method == "columns":
        remedy = 'Leave out exactly=, or pass method="program".'
        raise OutOfRange("column generation gives no exact optimum", came="exactly=True", remedy=remedy)
    if exactly and not rational:
        remedy = 'Give alpha="1/2", and prior and loss as Fractions; or leave out exactly=.'
        came = str(ptype.level) if consumer.is_exact else "a float prior or loss"
        raise Unsupported("an exact design needs a rational prior, loss and alpha", came=came, remedy=remedy)
    if read_conditions:
        return Optimum(constrained_certificate(ptype, consumer, read_conditions), "program with constraints")
    is_line = isinstance(ptype.space.metric, LineMetric)
    theorem = theorem_for(consumer) if is_line and method in ("auto", "theorem") else None
    if method == "theorem" and theorem is None:
        remedy = 'Pass method="auto", which solves a linear program.'
        required = "the theorem needs counts and a loss that is unimodal with ordered modes"
        raise NotMonotone(required, came=consumer.rule or "another loss", remedy=remedy)
    if is_line and method in ("auto", "theorem"):
        wanted = exactly
        if exactly is None and rational:
            # The work of an exact design is the number of products, times the number of bits of alpha^n and of the
            # denominator of the prior.
            n, bits = consumer.secrets, ptype.level.alpha_fraction().denominator.bit_length()
            common = math.lcm(*{p.denominator for p in consumer.prior.tolist()}).bit_length()
            wanted = float(n) * consumer.actions * (n * bits + common) <= _MOST_DIGIT_OPERATIONS
        certificate = _closed_form(ptype, consumer, bool(wanted), theorem is not None)
        if certificate is not None:
            return Optimum(certificate if theorem is None else certificate.with_theorem(*theorem), "closed form")
    if method == "columns" or (method == "auto" and not exactly and generates_columns(ptype, consumer)):
        certificate = certificate_of_rays(ptype, consumer, gap=relative_gap, progress=progress)
        return Optimum(certificate, "column generation")
    is_small = _is_small(ptype, consumer)
    if not exactly and not (is_small and rational and _has_rational_factors(ptype)):
        with suppress(SolverFailed):
            near = _program(ptype, consumer, False)
            worst = float(consumer.prior @ consumer.loss.max(axis=1))
            if near.gap > _NEAR_ENOUGH * near.upper and _is_few(consumer):
                # The loss is far below the rounding errors of floats, but the last basis of HiGHS is nearly always
                # optimal.
                with suppress(SolverFailed, InfeasibleProgram):
                    return Optimum(_program(ptype, consumer, True, pivots=_FEW_PIVOTS), "program")
            if not is_small or near.gap <= max(_FLOATS_OWN * worst, _NEAR_ENOUGH * near.upper):
                return Optimum(near, "program")
    # Floats were not wanted, not near enough, or failed. The program is now rational; for a large type it is again in
    # floats, and raises if it fails.
    return Optimum(_program(ptype, consumer, exactly or is_small), "program")


def _closed_form(ptype: PrivacyType, consumer: Consumer, exactly: bool, is_sure: bool) -> Certificate | None:
    """Return the certificate of the remapped geometric mechanism; None if the mechanism may not be optimal."""
    design = (exact_design if exactly else float_design)(ptype.level, consumer)
    remap = Remap(design.actions, consumer.actions, design.ties)
    duals: Iterable[Array] = [design.dual]
    if not exactly:
        # A float dual is lowered by growing multiples of its rounding errors, until it is certainly feasible. For alpha
        # near 1, lowering widens the gap considerably, so the unchanged dual is tried first.
        mu = np.where(design.dual < _NEGLIGIBLE, 0.0, design.dual)
        is_tried = ptype.level.epsilon_float < 1e-2 or len(mu) < 1_000
        steps = ([0.0] if is_tried else []) + [2.0**-50 * 8**k for k in range(1, 14)]
        duals = (mu - step * design.error for step in steps)
    for dual in duals:
        try:
            certificate = Certificate(ptype, consumer, dual, remap=remap)
        except PromiseBroken:
            continue
        # A gap above 1e-9 is not due to rounding: the mechanism is not optimal, and the caller solves the program.
        return certificate if exactly or is_sure or certificate.gap <= 1e-9 * certificate.upper else None
    if is_sure:
        raise PromiseBroken(
            "the dual of the theorem must be feasible", came="a dual that is not feasible", where="optimal_mechanism"
        )
    return None


def _program(ptype: PrivacyType, consumer: Consumer, exactly: bool, pivots: int | None = None) -> Certificate:
    """Return the certificate of an exact vertex of the consumer's linear program, or of a repaired float solution."""
    program = user_program(ptype, consumer, exactly=exactly)
    if pivots is not None:
        solution = exact_vertex(program, solve(program).basis, pivots)
    else:
        solution = solve_exactly(program) if exactly else solve_by_rows(program, rows_of_neighbours(ptype, consumer))
    shape = (consumer.secrets, consumer.actions)
    dual, multipliers = split_duals(solution.duals, len(ptype.space.edges), consumer.actions)
    rational = exactly and consumer.is_exact and _has_rational_factors(ptype)
    entries = solution.primal.reshape(shape)
    matrix = entries if exactly else private_matrix(ptype, entries)
    if rational:
        is_line = isinstance(ptype.space.metric, LineMetric)
        return Certificate(ptype, consumer, dual, matrix=matrix, multipliers=None if is_line else multipliers)
    # a float bound may be wrong by 1e-16 of the worst loss, so compute it in rationals
    if exactly and _is_few(consumer):
        multipliers = multipliers * (multipliers > 0)
        slack = edge_slacks(ptype, consumer, dual, multipliers, in_rationals=True).min(axis=1)
        return Certificate(ptype, consumer, dual + slack * (slack < 0), matrix=matrix, multipliers=multipliers)
    mu, nonnegative = feasible_dual(ptype, consumer, dual.astype(np.float64), multipliers.astype(np.float64))
    return Certificate(ptype, consumer, mu, matrix=matrix, multipliers=nonnegative)


def _has_rational_factors(ptype: PrivacyType) -> bool:
    """Return whether alpha^d is rational along every edge; on a Euclidean grid some powers are irrational."""
    if not ptype.level.is_rational:
        return False
    edges = ptype.space.edges
    return bool((alphas_below(ptype, edges) == alphas_above(ptype, edges)).all())


def _is_small(ptype: PrivacyType, consumer: Consumer) -> bool:
    """Return whether the exact simplex method takes only seconds: there are few variables, and no alpha^d is tiny."""
    farthest = ptype.space.size - 1 if isinstance(ptype.space.metric, LineMetric) else ptype.space.distances.max()
    scale = float(farthest) * ptype.level.epsilon_float
    return consumer.secrets * consumer.actions <= _MOST_EXACT_VARIABLES and scale <= _LARGEST_SCALE


def _is_few(consumer: Consumer) -> bool:
    """Return whether an exact vertex, computed from a nearly optimal basis, takes only seconds at any level."""
    return consumer.secrets * consumer.actions <= _MOST_EXACT_AT_ANY_LEVEL


_MOST_SIMPLEX_ROWS = 50_000
"""A linear program of more rows is solved by column generation: in seconds, where the simplex method takes minutes."""


def generates_columns(ptype: PrivacyType, consumer: Consumer) -> bool:
    """Return whether column generation is the default method, because the simplex method would take minutes."""
    if is_reached_exactly(ptype, consumer):
        return False
    return 2 * len(ptype.space.edges) * consumer.actions > _MOST_SIMPLEX_ROWS


def is_reached_exactly(ptype: PrivacyType, consumer: Consumer) -> bool:
    """Return whether an exact optimum takes only seconds: in closed form on counts, or by a small program."""
    if isinstance(ptype.space.metric, LineMetric):
        return True
    return _is_small(ptype, consumer) and consumer.is_exact and _has_rational_factors(ptype)

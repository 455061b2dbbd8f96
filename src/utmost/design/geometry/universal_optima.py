"""Decide whether a mechanism has the least expected loss for every prior, and return certificates."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from utmost.core.exact.arguments import instance
from utmost.core.exact.arrays import Array, as_integers, frozen
from utmost.core.exact.display import Display
from utmost.core.exact.progress_bar import progress_bar, report_progress
from utmost.core.programs.field_tableau import FieldTableau
from utmost.core.programs.integer_tableau import IntegerTableau
from utmost.core.programs.tableau import Solution
from utmost.design.channels.channel import Channel
from utmost.design.geometry.best_action_cells import (
    Complex,
    Conflict,
    Dominance,
    PriorVector,
    exact_expected_loss,
    exact_loss,
    exact_prior,
    least_losses,
    over_one_denominator,
)
from utmost.design.geometry.decomposition import RationalCone
from utmost.design.geometry.log_domain import Distances, LogPowers
from utmost.design.geometry.power_channels import AnyChannel, PowerChannel, exact_weights, member
from utmost.design.geometry.power_numbers import images_decide, replace_by_quotients
from utmost.design.geometry.vertex_search import vertices
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.errors import OutOfRange, PromiseBroken, SolverFailed, Unsupported

Proof = TypeVar("Proof", Dominance, Conflict)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UniversalityVerdict(Display):
    """Whether a mechanism has, for every prior, the least expected loss of any mechanism of its type, for a given loss
    l. In a condition, the object is true if `holds`.
    """

    holds: bool
    prior: Array | None  # if not `holds`: a prior for which `better` has a smaller expected loss
    better: AnyChannel | None
    certificate: Dominance | None  # the proof, if `holds`

    def __bool__(self) -> bool:
        return self.holds


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ExistenceVerdict(Display):
    """Whether one mechanism of a type has, for every prior, the least expected loss of any mechanism of the type. In a
    condition, the object is true if `exists`.
    """

    exists: bool
    mechanism: AnyChannel  # optimal for every prior if `exists`, else the mechanism with the least regret
    # largest excess of the loss of `mechanism` over the least loss, over all priors; 0 if and only if `exists`
    regret: Any
    priors: tuple[Array, ...]  # priors that have no common optimal mechanism
    certificate: Dominance  # proof that no prior gives `mechanism` a larger regret
    conflict: Conflict | None  # proof that every mechanism has at least this regret, if it is positive

    def __bool__(self) -> bool:
        return self.exists


@dataclass(frozen=True, slots=True, eq=False)
class LeastLoss:
    """The linear program for the least expected loss f(pi) of a privacy type at a prior pi. The variables of the
    program are the coefficients of the vertices.
    """

    # For M = sum_v lambda_v v, U(pi, M) = sum_v lambda_v min_w sum_x pi_x v(x) l(x, w), and the best mechanism for a
    # prior is a linear program in lambda with one row for each secret.
    ptype: PrivacyType
    columns: Array  # (n, N) Fractions, the vertices of the type
    loss: Array  # (n, k) Fractions
    scaled: Array  # (n, N) integers: the columns times their scales
    scales: tuple[int, ...]  # (N,)
    # A feasible basis of the program, from which the search starts.
    start: IntegerTableau | FieldTableau

    @classmethod
    def of(cls, ptype: PrivacyType, loss: object) -> "LeastLoss":
        """Return the program for a privacy type and an exact loss."""
        listed = vertices(ptype)
        columns, table = exact_weights(listed), exact_loss(loss, ptype.space.size)
        if not listed.is_exact:
            ones = np.full(len(columns), 1, dtype=object)
            # Irrational powers have no common denominator, so the tableau contains numbers of a `PowerField`.
            start = FieldTableau.feasible(columns, ones)
            return cls(ptype, columns, table, columns, (1,) * columns.shape[1], start)
        pairs = [as_integers(column) for column in columns.T]
        scaled = np.array([integers for integers, _ in pairs], dtype=object).T
        right = np.full(len(columns), 1, dtype=object)
        scales = tuple(scale for _, scale in pairs)
        return cls(ptype, columns, table, scaled, scales, IntegerTableau.feasible(scaled, right))

    def prices(self, prior: Array) -> Array:
        """Return min_w sum_x pi_x v(x) l(x, w) for every vertex v, (N,)."""
        return least_losses(self.columns, self.loss, prior)

    def scaled_prices(self, prior: PriorVector) -> Array:
        """Return `prices`, each multiplied by the factor that makes its vertex integer, shape (N,): the costs of the
        integer program.
        """
        return np.asarray(self.prices(exact_prior(prior)) * np.array(self.scales, dtype=object))

    def at(self, priors: tuple[PriorVector, ...]) -> Iterator[tuple[PriorVector, Solution]]:
        """Yield, for each prior, the prior and the solution: the least loss, the best coefficients of the vertices, and
        the dual.
        """
        # Each search starts from the previous solution, which is near if the priors are similar.
        at = self.start
        for prior in priors:
            costs, denominator = over_one_denominator(self.scaled_prices(prior))
            solution, at = at.minimise(costs)
            amounts = tuple(x * scale for x, scale in zip(solution.x, self.scales, strict=True))
            dual = tuple(z / denominator for z in solution.dual)
            yield prior, Solution(solution.value / denominator, amounts, dual)

    def channel(self, amounts: tuple[Any, ...]) -> AnyChannel:
        """Return the mechanism whose columns are the vertices multiplied by ``amounts``."""
        used = [k for k, amount in enumerate(amounts) if amount]
        matrix = self.columns[:, used] * np.array([amounts[k] for k in used], dtype=object)
        replace_by_quotients(matrix.flat)
        return Channel(matrix) if isinstance(self.start, IntegerTableau) else PowerChannel(matrix)


def universality(ptype: PrivacyType, loss: object, channel: Channel | PowerChannel) -> UniversalityVerdict:
    """Decide whether a channel of the type is l-optimal in the type for every prior.

    The loss g of the channel and the least loss f of the type are concave in the prior, and g is linear on each cell of
    priors with the same best actions, so f - g is concave on a cell. Hence f = g everywhere if and only if f = g at
    every vertex of every cell, where f is the value of a linear program.

    Args:
        ptype: Privacy type with any level and distances; irrational alpha^d are kept exactly (see `PowerNumber`).
        loss: Named loss or an (n, k) matrix, exact.
        channel: Channel (n, m) of the type, with Fractions, or a `PowerChannel` (see `exact_mechanism`).

    Raises:
        Unsupported: if the loss or the channel has floats.
        PromiseBroken: if the channel is not of the type.
        Undecided: if numbers are too close to each other, and no theorem decides whether they are equal.

    Source: [fernandes2022], definition 3. Cost: exponential in n in the worst case (it is coNP-hard to decide whether a
    polytope given by inequalities lies in one given by vertices).

    >>> from utmost.channels import geometric_channel
    >>> from utmost.spaces import counts
    >>> from utmost.design.spaces import losses
    >>> ptype = PrivacyType(counts(2), alpha="1/2")
    >>> bool(universality(ptype, losses.binary, geometric_channel(3, alpha="1/2")))
    True
    """
    instance(ptype, PrivacyType, "ptype")
    instance(channel, (Channel, PowerChannel), "channel")
    least = LeastLoss.of(ptype, loss)
    if isinstance(least.start, IntegerTableau) and isinstance(channel, Channel):
        RationalCone.of(ptype, channel)  # refuses a channel that is not of the type
        judged: AnyChannel = channel
    else:
        judged = member(ptype, channel)
    with images_decide():
        certificate, worst = _dominance(least, judged, Fraction(0))
    if certificate is not None:
        return UniversalityVerdict(True, None, None, _proved(certificate, least))
    assert worst is not None
    with images_decide():
        _, solution = next(least.at((worst,)))
    better = least.channel(solution.x)
    prior = exact_prior(worst)
    losses = [exact_expected_loss(c.matrix, least.loss, prior) for c in (better, judged)]
    if not losses[0] < losses[1]:
        raise SolverFailed("the mechanism found must have a smaller loss than the channel", came=losses[0])
    return UniversalityVerdict(False, prior, better, None)


def _proved(proof: Proof, least: LeastLoss) -> Proof:
    """Return ``proof``, verified exactly if the search for the proof compared irrational numbers modulo a prime."""
    if isinstance(least.start, FieldTableau) and not proof.verify():
        raise SolverFailed("the certificate must verify", came=type(proof).__name__)
    return proof


@progress_bar("Searching for one mechanism for every prior")
def universal_mechanism(ptype: PrivacyType, loss: object) -> ExistenceVerdict:
    """Decide whether a mechanism of the type is l-optimal for every prior; if not, find the least regret.

    The regret of a mechanism M is the largest excess of its expected loss U(pi, M) over the least expected loss f(pi),
    over all priors pi. The least regret is the value of a linear program over coefficients of the vertices of the type,
    with one row for each of finitely many priors. The search adds as a row the prior at which the current mechanism has
    its largest regret, and solves the program again, until no regret exceeds the value of the program.

    If some alpha^d is irrational, as on Euclidean grids, mechanisms are of class `PowerChannel` and numbers of class
    `PowerNumber`: exact rational functions of powers of alpha, compared by balls of increasing precision.

    Raises:
        Unsupported: if the loss has floats, or if powers alpha^d are irrational and distances have many digits.
        Undecided: if numbers are too close to each other, and no theorem decides whether they are equal.

    Cost: exponential in the number of secrets; irrational numbers take about 100 times as long as rationals.

    Source: [fernandes2022]; its theorems 8, 10, 11, 12 and corollary 13 decide instances of this question.

    >>> from utmost.spaces import discrete

    >>> from utmost.design.spaces import losses
    >>> verdict = universal_mechanism(PrivacyType(discrete(3), alpha="1/2"), losses.binary)
    >>> bool(verdict), verdict.regret, verdict.certificate.verify(), verdict.conflict.verify()
    (False, Fraction(1, 24), True, True)
    """
    instance(ptype, PrivacyType, "ptype")
    least = LeastLoss.of(ptype, loss)
    known: dict[PriorVector, Any] = {}
    worst: PriorVector | None = (1,) * len(least.columns)
    proof: Dominance | None = None
    with images_decide():
        while proof is None:
            assert worst is not None
            if worst in known:
                raise PromiseBroken("the solution of the program must satisfy the rows of all its priors", came=worst)
            replace_by_quotients(worst)
            known |= {prior: solution.value for prior, solution in least.at((worst,))}
            # This regret is a lower bound, because the program contains only some priors. The cells of its mechanism
            # show whether the regret is larger at another prior.
            regret, amounts, weights, multipliers = _least_regret_program(least, known)
            proof, worst = _dominance(least, least.channel(amounts), regret)
        # If the regret is positive, the priors with positive weights prove that no mechanism has a smaller regret.
        exists = not regret
        against = () if exists else tuple(prior for prior in known if weights[prior])
        best = {prior: least.channel(solution.x) for prior, solution in least.at(against)}
    certificate = _proved(proof, least)
    if exists:
        return ExistenceVerdict(True, proof.channel, proof.slack, (), certificate, None)
    conflict = Conflict(
        ptype,
        least.loss,
        tuple(exact_prior(prior) for prior in against),
        tuple(weights[prior] for prior in against),
        tuple(best[prior] for prior in against),
        multipliers,
        regret,
    )
    return ExistenceVerdict(False, proof.channel, proof.slack, conflict.priors, certificate, _proved(conflict, least))


def _dominance(least: LeastLoss, channel: AnyChannel, slack: Any) -> tuple[Dominance | None, PriorVector | None]:
    """Return a proof that the channel's regret is at most ``slack`` at every prior, or else the worst prior."""
    cells = Complex.of(channel.matrix, least.loss)
    duals, worst, largest = {}, None, slack
    count = len(cells.priors)
    for done, (prior, solution) in enumerate(least.at(cells.priors), 1):
        report_progress(done, count, f"{count} priors")
        duals[prior] = solution.dual
        regret = exact_expected_loss(channel.matrix, least.loss, exact_prior(prior)) - solution.value
        if regret > largest:
            worst, largest = prior, regret
    return (Dominance(least.ptype, least.loss, channel, slack, cells, duals), None) if worst is None else (None, worst)


def _least_regret_program(
    least: LeastLoss, known: dict[PriorVector, Any]
) -> tuple[Any, tuple[Any, ...], dict[PriorVector, Any], tuple[Any, ...]]:
    """Return the least regret at the priors ``known``, the coefficients lambda, and the duals of priors and secrets."""
    # Minimise t subject to lambda >= 0, V lambda = 1 and sum_v lambda_v u_v(pi) - t <= f(pi) for every known prior.
    n, count = least.columns.shape
    rows, right, factors = [], [], []
    for k, (prior, value) in enumerate(known.items()):
        slacks = [Fraction(int(j == k)) for j in range(len(known))]
        row, denominator = over_one_denominator([*least.scaled_prices(prior), Fraction(-1), *slacks, value])
        rows.append(row[:-1])
        right.append(row[-1])
        factors.append(denominator)
    top = np.concatenate([least.scaled, np.zeros((n, 1 + len(known)), dtype=object)], axis=1)
    matrix = np.concatenate([top, np.array(rows, dtype=object)])
    cost = np.zeros(matrix.shape[1], dtype=object)
    cost[count] = 1
    start = type(least.start).feasible(matrix, np.array([1] * n + right, dtype=object))
    solution, _ = start.minimise(cost)
    amounts = tuple(x * scale for x, scale in zip(solution.x[:count], least.scales, strict=True))
    # Rows were multiplied by these factors to become integers, so their duals are multiplied by them, too.
    weights = {prior: -z * f for prior, z, f in zip(known, solution.dual[n:], factors, strict=True)}
    return solution.value, amounts, weights, solution.dual[:n]


def distinguishing_mechanism(ptype: PrivacyType) -> tuple[Channel, Array]:
    """Return a mechanism and a nontrivial loss for which the mechanism is optimal at every prior.

    The mechanism distinguishes the two closest secrets x, z as much as their distance allows, and treats every other
    secret like z. Restricted to {x, z}, the mechanism is the only kernel of the type on {x, z}, so it is optimal for
    every loss that depends only on whether the secret is x or z. The loss is monotone in every metric, and has the
    actions x and z: loss[s, 0] = [s != x] and loss[s, 1] = [s != z].

    Raises:
        OutOfRange: if there are fewer than two secrets.
        Unsupported: if alpha^d is irrational for the least distance d.

    Source: [fernandes2022], theorem 10, with another loss: the loss of the paper is 0 except at x and z, so it is not
    monotone.

    >>> from utmost.spaces import discrete
    >>> channel, loss = distinguishing_mechanism(PrivacyType(discrete(3), alpha="1/2"))
    >>> [str(p) for p in channel.matrix[:, 0]], loss[:, 0].tolist()
    (['2/3', '1/3', '1/3'], [Fraction(0, 1), Fraction(1, 1), Fraction(1, 1)])
    """
    instance(ptype, PrivacyType, "ptype")
    n = ptype.space.size
    if n < 2:
        raise OutOfRange("the type must have at least two secrets", came=n, where="distinguishing_mechanism")
    distances = Distances.of(ptype.space)
    table, powers = distances.integers(), LogPowers.of(ptype.level, distances)
    pairs = [(x, z) for x in range(n) for z in range(x + 1, n)]
    x, z = min(pairs, key=lambda pair: table[pair])
    exponent = tuple(int(c) for c in distances.coefficients[x, z])
    if not powers.is_rational:
        remedy = "Give a rational alpha, and integer distances."
        raise Unsupported("alpha^d must be rational for the least distance d", came=str(ptype.level), remedy=remedy)
    a = powers.fraction(exponent)
    rows = [[1 / (1 + a), a / (1 + a)] if s == x else [a / (1 + a), 1 / (1 + a)] for s in range(n)]
    loss = [[Fraction(int(s != x)), Fraction(int(s != z))] for s in range(n)]
    return Channel(np.array(rows, dtype=object)), frozen(np.array(loss, dtype=object))

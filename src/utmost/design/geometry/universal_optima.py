"""Is one mechanism the best for every prior? Verdicts with certificates."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from utmost.core.exact.arguments import instance
from utmost.core.exact.arrays import Array, as_integers, frozen
from utmost.core.exact.display import Display
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
from utmost.design.geometry.power_numbers import images_decide, worked_out
from utmost.design.geometry.vertex_search import vertices
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.errors import OutOfRange, PromiseBroken, SolverFailed, Unsupported

Proof = TypeVar("Proof", Dominance, Conflict)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UniversalityVerdict(Display):
    """Whether a mechanism is l-optimal for every prior; true or false in a condition.

    Attributes:
        holds: Verdict.
        prior: Prior for which another mechanism is better, or None.
        better: Mechanism with a smaller loss at that prior, or None.
        certificate: Proof where it holds; else None, since ``prior`` and ``better`` refute it.
    """

    holds: bool
    prior: Array | None
    better: AnyChannel | None
    certificate: Dominance | None

    def __bool__(self) -> bool:
        return self.holds


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ExistenceVerdict(Display):
    """Whether some mechanism of a type is l-optimal for every prior; true or false in a condition.

    Attributes:
        exists: Verdict.
        mechanism: Universally optimal if there is one, else one whose largest regret is the least.
        regret: Regret of ``mechanism``: max over priors of its loss minus the least possible loss; 0 exactly if
            ``exists``.
        priors: Priors whose optima conflict, where none exists; else empty.
        certificate: Proof that no prior gives ``mechanism`` a larger regret.
        conflict: Proof that every mechanism has at least that regret, where it is positive; else None.
    """

    exists: bool
    mechanism: AnyChannel
    regret: Any
    priors: tuple[Array, ...]
    certificate: Dominance
    conflict: Conflict | None

    def __bool__(self) -> bool:
        return self.exists


@dataclass(frozen=True, slots=True, eq=False)
class LeastLoss:
    """The least expected loss f(pi) over a privacy type: vertices have prices, a mechanism is a bundle with row sums 1.

    U(pi, M) = sum_v lambda_v min_w sum_x pi_x v(x) l(x, w) for M = sum_v lambda_v v, and the best mechanism for a
    prior is a linear program in lambda with one row for each secret.

    Attributes:
        ptype: Privacy type.
        columns: (n, N) Fractions, the vertices of the type.
        loss: (n, k) Fractions.
        scaled: (n, N) integers: columns, each times its scale.
        scales: (N,).
        start: First mechanism, as a basis.
    """

    ptype: PrivacyType
    columns: Array
    loss: Array
    scaled: Array
    scales: tuple[int, ...]
    start: IntegerTableau | FieldTableau

    @classmethod
    def of(cls, ptype: PrivacyType, loss: object) -> "LeastLoss":
        """The least of a type and a loss.

        Raises:
            Unsupported: where the loss is float64.
        """
        listed = vertices(ptype)
        columns, table = exact_weights(listed), exact_loss(loss, ptype.space.size)
        if not listed.is_exact:
            ones = np.full(len(columns), 1, dtype=object)
            # Powers that are no rationals have no common denominator: their tableau is over the field itself.
            start = FieldTableau.feasible(columns, ones)
            return cls(ptype, columns, table, columns, (1,) * columns.shape[1], start)
        pairs = [as_integers(column) for column in columns.T]
        scaled = np.array([integers for integers, _ in pairs], dtype=object).T
        right = np.full(len(columns), 1, dtype=object)
        scales = tuple(scale for _, scale in pairs)
        return cls(ptype, columns, table, scaled, scales, IntegerTableau.feasible(scaled, right))

    def prices(self, prior: Array) -> Array:
        """min_w sum_x pi_x v(x) l(x, w) for every vertex v; (N,)."""
        return least_losses(self.columns, self.loss, prior)

    def scaled_prices(self, prior: PriorVector) -> Array:
        """The prices of the scaled vertices at a prior."""
        return np.asarray(self.prices(exact_prior(prior)) * np.array(self.scales, dtype=object))

    def at(self, priors: tuple[PriorVector, ...]) -> Iterator[tuple[PriorVector, Solution]]:
        """The best bundle for each prior, and the dual that proves it; each search starts where the last one ended."""
        at = self.start
        for prior in priors:
            costs, denominator = over_one_denominator(self.scaled_prices(prior))
            solution, at = at.minimise(costs)
            bundle = tuple(x * scale for x, scale in zip(solution.x, self.scales, strict=True))
            dual = tuple(z / denominator for z in solution.dual)
            yield prior, Solution(solution.value / denominator, bundle, dual)

    def channel(self, bundle: tuple[Any, ...]) -> AnyChannel:
        """The mechanism of a bundle: its columns are the vertices bought, in their amounts."""
        bought = [k for k, amount in enumerate(bundle) if amount]
        matrix = self.columns[:, bought] * np.array([bundle[k] for k in bought], dtype=object)
        worked_out(matrix.flat)
        return Channel(matrix) if isinstance(self.start, IntegerTableau) else PowerChannel(matrix)


def universality(ptype: PrivacyType, loss: object, channel: Channel | PowerChannel) -> UniversalityVerdict:
    """Whether a channel of the type is l-optimal among all of them for every prior.

    Both the channel's loss g and the least possible loss f are concave in the prior, and g is linear on each cell of
    priors with the same best actions, so f - g is concave there: f >= g everywhere exactly if f = g at every vertex of
    every cell, and there f is one linear program.

    Args:
        ptype: Privacy type with any level and distances; irrational alpha^d are kept exactly (see `PowerNumber`).
        loss: Named loss or an (n, k) matrix, exact.
        channel: (n, m) of Fractions, or a `PowerChannel` (see `exact_mechanism`); a member of the type.

    Raises:
        Unsupported: for floats.
        PromiseBroken: for a channel outside the type.
        Undecided: where numbers are too near to each other, and no theorem tells them apart.

    Source: [fernandes2022], definition 3. Cost: exponential in n at worst (containment of polytopes given this way is
    coNP-hard).

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
    judged = _exact_member(ptype, channel, least)
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
        raise SolverFailed("the mechanism found must be better", came=losses[0])
    return UniversalityVerdict(False, prior, better, None)


def _proved(proof: Proof, least: LeastLoss) -> Proof:
    """A certificate that was found by images, checked again without them."""
    if isinstance(least.start, FieldTableau) and not proof.verify():
        raise SolverFailed("what was found must be proved", came=type(proof).__name__)
    return proof


def _exact_member(ptype: PrivacyType, channel: AnyChannel, least: LeastLoss) -> AnyChannel:
    """The channel in the numbers of the type, once it is known to be of it."""
    if isinstance(least.start, IntegerTableau) and isinstance(channel, Channel):
        RationalCone.of(ptype, channel)
        return channel
    return member(ptype, channel)


def universal_mechanism(ptype: PrivacyType, loss: object) -> ExistenceVerdict:
    """Whether any mechanism of the type is l-optimal for every prior; if not, the least regret and who conflicts.

    min over mechanisms of max over priors of U(pi, M) - f(pi): a linear program over vertices with one row for each of
    finitely many priors. Rows are added as they are violated, by the worst prior among the vertices of the cells
    of the mechanism at hand, until none is.

    Where some alpha^d is irrational, as on Euclidean grids, the mechanisms are `PowerChannel` and the numbers
    `PowerNumber`: rational functions of powers of alpha, exact, and compared by balls of rising precision.

    Raises:
        Unsupported: for floats.
        Undecided: where numbers are too near to each other, and no theorem tells them apart.

    Cost: exponential in the number of secrets; irrational numbers cost about 100 times as much as rationals.

    Source: [fernandes2022], theorems 8, 10, 11, 12 and corollary 13 are instances.

    >>> from utmost.spaces import discrete

    >>> from utmost.design.spaces import losses
    >>> verdict = universal_mechanism(PrivacyType(discrete(3), alpha="1/2"), losses.binary)
    >>> bool(verdict), verdict.regret, verdict.certificate.verify(), verdict.conflict.verify()
    (False, Fraction(1, 24), True, True)
    """
    instance(ptype, PrivacyType, "ptype")
    least = LeastLoss.of(ptype, loss)
    with images_decide():
        proof, conflict = _least_regret(least)
    certificate = _proved(proof, least)
    if conflict is None:
        return ExistenceVerdict(True, proof.channel, proof.slack, (), certificate, None)
    return ExistenceVerdict(False, proof.channel, proof.slack, conflict.priors, certificate, _proved(conflict, least))


def _least_regret(least: LeastLoss) -> tuple[Dominance, Conflict | None]:
    """A mechanism of the least regret, with the proof that it has no more and, if that is not 0, that none has less."""
    n = len(least.columns)
    known: dict[PriorVector, Any] = {}
    worst: PriorVector | None = (1,) * n
    while True:
        assert worst is not None
        worked_out(worst)
        known |= {prior: solution.value for prior, solution in least.at((worst,))}
        # A bound from below, since it minds some priors only; the cells of its mechanism say whether one is worse.
        regret, bundle, weights, multipliers = _least_regret_program(least, known)
        certificate, worst = _dominance(least, least.channel(bundle), regret)
        if certificate is not None:
            break
        if worst in known:
            raise PromiseBroken("a prior of the program cannot be violated", came=worst)
    if not regret:
        return certificate, None
    against = [prior for prior in known if weights[prior]]
    best = {prior: least.channel(solution.x) for prior, solution in least.at(tuple(against))}
    return certificate, Conflict(
        least.ptype,
        least.loss,
        tuple(exact_prior(prior) for prior in against),
        tuple(weights[prior] for prior in against),
        tuple(best[prior] for prior in against),
        multipliers,
        regret,
    )


def _dominance(least: LeastLoss, channel: AnyChannel, slack: Any) -> tuple[Dominance | None, PriorVector | None]:
    """The proof that no prior gives the channel a regret above ``slack``, or the prior with the largest one."""
    cells = Complex.of(channel.matrix, least.loss)
    duals, worst, largest = {}, None, slack
    for prior, solution in least.at(cells.priors):
        duals[prior] = solution.dual
        regret = exact_expected_loss(channel.matrix, least.loss, exact_prior(prior)) - solution.value
        if regret > largest:
            worst, largest = prior, regret
    return (Dominance(least.ptype, least.loss, channel, slack, cells, duals), None) if worst is None else (None, worst)


def _least_regret_program(
    least: LeastLoss, known: dict[PriorVector, Any]
) -> tuple[Any, tuple[Any, ...], dict[PriorVector, Any], tuple[Any, ...]]:
    """min t with lambda >= 0, V lambda = 1 and sum_v lambda_v u_v(pi) - t <= f(pi) for every known prior.

    Returns:
        t, lambda, the dual weight of each prior, and the multipliers of the rows of V.
    """
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
    bundle = tuple(x * scale for x, scale in zip(solution.x[:count], least.scales, strict=True))
    # Rows were made whole by these factors, and their duals are divided by them.
    weights = {prior: -z * f for prior, z, f in zip(known, solution.dual[n:], factors, strict=True)}
    return solution.value, bundle, weights, solution.dual[:n]


def distinguishing_mechanism(ptype: PrivacyType) -> tuple[Channel, Array]:
    """A mechanism and a loss, not trivial and monotone in every metric, such that it is universally optimal for it.

    The two closest secrets x, z are distinguished as well as their distance allows; every other secret behaves as z
    does. On {x, z} this is the one kernel of the type there, so it is optimal for every loss that regards only x and z.
    The loss has the actions x and z and l(w, s) = [w != s]: up to a function of the secret it regards only x and z.

    Raises:
        OutOfRange: for fewer than two secrets.
        Unsupported: where alpha to the least distance is irrational.

    Source: [fernandes2022], theorem 10, with the loss of the paper (0 beyond x and z, not monotone) replaced.

    >>> from utmost.spaces import discrete
    >>> channel, loss = distinguishing_mechanism(PrivacyType(discrete(3), alpha="1/2"))
    >>> [str(p) for p in channel.matrix[:, 0]], loss[:, 0].tolist()
    (['2/3', '1/3', '1/3'], [Fraction(0, 1), Fraction(1, 1), Fraction(1, 1)])
    """
    instance(ptype, PrivacyType, "ptype")
    n = ptype.space.size
    if n < 2:
        raise OutOfRange("a type must have at least two secrets", came=n, where="distinguishing_mechanism")
    distances = Distances.of(ptype.space)
    table, powers = distances.integers(), LogPowers.of(ptype.level, distances)
    pairs = [(x, z) for x in range(n) for z in range(x + 1, n)]
    x, z = min(pairs, key=lambda pair: table[pair])
    exponent = tuple(int(c) for c in distances.coefficients[x, z])
    if not powers.is_rational:
        raise Unsupported("alpha to the least distance must be rational", came=str(ptype.level))
    a = powers.fraction(exponent)
    rows = [[1 / (1 + a), a / (1 + a)] if s == x else [a / (1 + a), 1 / (1 + a)] for s in range(n)]
    loss = [[Fraction(int(s != x)), Fraction(int(s != z))] for s in range(n)]
    return Channel(np.array(rows, dtype=object)), frozen(np.array(loss, dtype=object))

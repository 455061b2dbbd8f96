"""Is one mechanism the best for every prior? Verdicts with certificates."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost.channels import Channel
from utmost.errors import OutOfRange, PromiseBroken, Unsupported
from utmost.exact import Array, checked, frozen
from utmost.geometry.best_action_cells import Complex, LeastLoss, Prior, exact_prior, least_losses
from utmost.geometry.decomposition import RationalCone
from utmost.geometry.log_domain import Distances, LogPowers
from utmost.privacy import PrivacyType
from utmost.programs.whole_numbers import WholeTableau, whole


@dataclass(frozen=True, slots=True, eq=False)
class Dominance:
    """No mechanism of the type is better than M by more than ``slack``, for any prior.

    At every vertex pi of the cells, z with z . v <= min_w sum_x pi_x v(x) l(x, w) for all vertices v of the type shows
    that no mechanism loses less than sum(z); M loses at most slack more. On a cell M's loss is linear, since one
    action for each outcome is the best at all its vertices, and the least loss is concave: the bound holds all over it.

    Attributes:
        vertices: (n, N) all vertices of the type. loss: (n, k). channel: M. slack: nonnegative.
        cells: cells that fill the simplex of priors.
        duals: z for each of their vertices.
    """

    vertices: Array
    loss: Array
    channel: Channel
    slack: Fraction
    cells: Complex
    duals: dict[Prior, tuple[Fraction, ...]]

    def verify(self) -> bool:
        """Whether every claim holds."""
        return (
            self.cells.fills_the_simplex()
            and all(self._is_linear_on(cell.rays) for cell in self.cells.cells)
            and all(self._holds_at(prior) for prior in self.cells.priors)
        )

    def _is_linear_on(self, rays: tuple[Prior, ...]) -> bool:
        for column in self.channel.matrix.T:
            losses = (np.array(rays, dtype=object) * column) @ self.loss
            if not (losses == losses.min(axis=1)[:, None]).all(axis=0).any():
                return False
        return True

    def _holds_at(self, prior: Prior) -> bool:
        pi, z = exact_prior(prior), np.array(self.duals[prior], dtype=object)
        feasible = (z @ self.vertices <= least_losses(self.vertices, self.loss, pi)).all()
        return bool(feasible and exact_expected_loss(self.channel.matrix, self.loss, pi) <= z.sum() + self.slack)


@dataclass(frozen=True, slots=True, eq=False)
class Conflict:
    """Every mechanism of the type has a regret of at least ``regret`` for one of the priors.

    For mechanism k the loss at prior k is known; with weights mu and a z such that z . v <= sum_k mu_k u_v(prior k) for
    all vertices v, every mechanism's mean loss is at least sum(z): by regret more than the mean of the known ones.

    Attributes:
        vertices: (n, N) all vertices of the type. loss: (n, k).
        priors: the conflicting priors. weights: positive, summing to 1. mechanisms: a good one for each prior.
        multipliers: z. regret: positive.
    """

    vertices: Array
    loss: Array
    priors: tuple[Array, ...]
    weights: tuple[Fraction, ...]
    mechanisms: tuple[Channel, ...]
    multipliers: tuple[Fraction, ...]
    regret: Fraction

    def verify(self) -> bool:
        """Whether every claim holds; that the mechanisms belong to the type is for `PrivacyType.contains`."""
        z = np.array(self.multipliers, dtype=object)
        mean = sum(
            w * least_losses(self.vertices, self.loss, pi) for w, pi in zip(self.weights, self.priors, strict=True)
        )
        known = sum(
            w * exact_expected_loss(m.matrix, self.loss, pi)
            for w, m, pi in zip(self.weights, self.mechanisms, self.priors, strict=True)
        )
        is_mean = min(self.weights) > 0 and sum(self.weights) == 1
        return bool(is_mean and (z @ self.vertices <= mean).all() and z.sum() - known == self.regret > 0)


def exact_expected_loss(columns: Array, loss: Array, prior: Array) -> Fraction:
    """sum_y min_w sum_x pi_x C[x, y] l(x, w)."""
    return Fraction(least_losses(columns, loss, prior).sum())


@dataclass(frozen=True, slots=True, eq=False)
class UniversalityVerdict:
    """Whether a mechanism is l-optimal for every prior; true or false in a condition.

    Attributes:
        holds: the verdict.
        prior: a prior for which another mechanism is better, or None.
        better: that mechanism, or None.
        certificate: where it holds, the proof; else None, since prior and better are one.
    """

    holds: bool
    prior: Array | None
    better: Channel | None
    certificate: Dominance | None

    def __bool__(self) -> bool:
        return self.holds


@dataclass(frozen=True, slots=True, eq=False)
class ExistenceVerdict:
    """Whether some mechanism of a type is l-optimal for every prior; true or false in a condition.

    Attributes:
        exists: the verdict.
        mechanism: universally optimal if there is one, else one whose largest regret is the least.
        regret: that regret: max over priors of its loss minus the least possible loss; 0 exactly if ``exists``.
        priors: where none exists, priors whose optima conflict; else empty.
        certificate: that no prior gives ``mechanism`` a larger regret.
        conflict: that every mechanism has at least that regret, where it is positive; else None.
    """

    exists: bool
    mechanism: Channel
    regret: Fraction
    priors: tuple[Array, ...]
    certificate: Dominance
    conflict: Conflict | None

    def __bool__(self) -> bool:
        return self.exists


@checked
def universality(ptype: PrivacyType, loss: object, channel: Channel) -> UniversalityVerdict:
    """Whether a channel of the type is l-optimal among all of them for every prior.

    Both the channel's loss g and the least possible loss f are concave in the prior, and g is linear on each cell of
    priors with the same best actions, so f - g is concave there: f >= g everywhere exactly if f = g at every vertex of
    every cell, and there f is one linear program.

    Args:
        ptype: a type with rational alpha^d.
        loss: a named loss or an (n, k) matrix, exact.
        channel: (n, m) of Fractions, a member of the type.

    Raises:
        Unsupported: for floats, and where some alpha^d is irrational. PromiseBroken: for a channel outside the type.

    Source: [fernandes2022], definition 3. Cost: exponential in n at worst (containment of polytopes given this way is
    coNP-hard).

    >>> from utmost.channels import geometric_channel
    >>> from utmost.spaces import counts, losses
    >>> ptype = PrivacyType(counts(2), alpha="1/2")
    >>> bool(universality(ptype, losses.binary, geometric_channel(2, alpha="1/2")))
    True
    """
    RationalCone.of(ptype, channel)
    least = LeastLoss.of(ptype, loss)
    certificate, worst = _dominance(least, channel, Fraction(0))
    if certificate is not None:
        return UniversalityVerdict(True, None, None, certificate)
    assert worst is not None
    _, found = next(least.at((worst,)))
    return UniversalityVerdict(False, exact_prior(worst), least.channel(found.x), None)


@checked
def universal_mechanism(ptype: PrivacyType, loss: object) -> ExistenceVerdict:
    """Whether any mechanism of the type is l-optimal for every prior; if not, the least regret and who conflicts.

    min over mechanisms of max over priors of U(pi, M) - f(pi): a linear program over vertices with one row for each of
    finitely many priors. Rows are added as they are violated, by the worst prior among the vertices of the cells
    of the mechanism at hand, until none is.

    Raises:
        Unsupported: for floats, and where some alpha^d is irrational.

    Source: [fernandes2022], theorems 8, 10, 11, 12 and corollary 13 are instances.

    >>> from utmost.spaces import discrete, losses
    >>> verdict = universal_mechanism(PrivacyType(discrete(3), alpha="1/2"), losses.binary)
    >>> bool(verdict), verdict.regret, verdict.certificate.verify(), verdict.conflict.verify()
    (False, Fraction(1, 24), True, True)
    """
    least = LeastLoss.of(ptype, loss)
    n = len(least.columns)
    known: dict[Prior, Fraction] = {}
    worst: Prior | None = (1,) * n
    while True:
        assert worst is not None
        known |= {prior: found.value for prior, found in least.at((worst,))}
        regret, bundle, weights, multipliers = _master(least, known)
        channel = least.channel(bundle)
        certificate, worst = _dominance(least, channel, regret)
        if certificate is not None:
            break
        if worst in known:
            raise PromiseBroken("a prior of the program cannot be violated", came=worst)
    if not regret:
        return ExistenceVerdict(True, channel, regret, (), certificate, None)
    against = [prior for prior in known if weights[prior]]
    best = {prior: least.channel(found.x) for prior, found in least.at(tuple(against))}
    conflict = Conflict(
        least.columns,
        least.loss,
        tuple(exact_prior(prior) for prior in against),
        tuple(weights[prior] for prior in against),
        tuple(best[prior] for prior in against),
        multipliers,
        regret,
    )
    return ExistenceVerdict(False, channel, regret, conflict.priors, certificate, conflict)


def _dominance(least: LeastLoss, channel: Channel, slack: Fraction) -> tuple[Dominance | None, Prior | None]:
    """The proof that no prior gives the channel a regret above ``slack``, or the prior with the largest one."""
    cells = Complex.of(channel.matrix, least.loss)
    duals, worst, largest = {}, None, slack
    for prior, found in least.at(cells.priors):
        duals[prior] = found.dual
        regret = exact_expected_loss(channel.matrix, least.loss, exact_prior(prior)) - found.value
        if regret > largest:
            worst, largest = prior, regret
    return (
        (Dominance(least.columns, least.loss, channel, slack, cells, duals), None) if worst is None else (None, worst)
    )


def _master(
    least: LeastLoss, known: dict[Prior, Fraction]
) -> tuple[Fraction, tuple[Fraction, ...], dict[Prior, Fraction], tuple[Fraction, ...]]:
    """min t with lambda >= 0, V lambda = 1 and sum_v lambda_v u_v(pi) - t <= f(pi) for every known prior.

    Returns:
        t, lambda, the dual weight of each prior, and the multipliers of the rows of V.
    """
    n, count = least.columns.shape
    rows, right, factors = [], [], []
    for k, (prior, value) in enumerate(known.items()):
        slacks = [Fraction(int(j == k)) for j in range(len(known))]
        row, denominator = whole([*least.scaled_prices(prior), Fraction(-1), *slacks, value])
        rows.append(row[:-1])
        right.append(row[-1])
        factors.append(denominator)
    top = np.concatenate([least.scaled, np.zeros((n, 1 + len(known)), dtype=object)], axis=1)
    matrix = np.concatenate([top, np.array(rows, dtype=object)])
    cost = np.zeros(matrix.shape[1], dtype=object)
    cost[count] = 1
    start = WholeTableau.feasible(matrix, np.array([1] * n + right, dtype=object))
    found, _ = start.minimise(cost)
    bundle = tuple(x * scale for x, scale in zip(found.x[:count], least.scales, strict=True))
    weights = {prior: -z * f for prior, z, f in zip(known, found.dual[n:], factors, strict=True)}
    return found.value, bundle, weights, found.dual[:n]


@checked
def distinguishing_mechanism(ptype: PrivacyType) -> tuple[Channel, Array]:
    """A mechanism and a loss, not trivial and monotone in every metric, such that it is universally optimal for it.

    The two closest secrets x, z are told apart as well as their distance allows; every other secret behaves as z does.
    On {x, z} this is the one kernel of the type there, so it is optimal for every loss that regards only x and z. The
    loss has the actions x and z and l(w, s) = [w != s]: up to a function of the secret it regards only x and z.

    Raises:
        OutOfRange: for fewer than two secrets. Unsupported: where alpha to the least distance is irrational.

    Source: [fernandes2022], theorem 10, with the loss of the paper (0 beyond x and z, not monotone) replaced.

    >>> from utmost.spaces import discrete
    >>> channel, loss = distinguishing_mechanism(PrivacyType(discrete(3), alpha="1/2"))
    >>> [str(p) for p in channel.matrix[:, 0]], loss[:, 0].tolist()
    (['2/3', '1/3', '1/3'], [Fraction(0, 1), Fraction(1, 1), Fraction(1, 1)])
    """
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

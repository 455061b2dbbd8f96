"""Is one mechanism the best for every prior? Verdicts with certificates."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost.channels import Channel
from utmost.errors import PromiseBroken
from utmost.exact import Array, checked
from utmost.geometry.cells import Complex, Prior, as_prior
from utmost.geometry.certificates import Conflict, Dominance, expected_loss
from utmost.geometry.decomposition import RationalCone
from utmost.geometry.least_loss import LeastLoss
from utmost.privacy import PrivacyType
from utmost.programs.whole import Tableau, whole


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
def is_universally_optimal(channel: Channel, loss: object, ptype: PrivacyType) -> UniversalityVerdict:
    """Whether a channel of the type is l-optimal among all of them for every prior.

    Both the channel's loss g and the least possible loss f are concave in the prior, and g is linear on each cell of
    priors with the same best actions, so f - g is concave there: f >= g everywhere exactly if f = g at every vertex of
    every cell, and there f is one linear program.

    Args:
        channel: (n, m) of Fractions, a member of the type.
        loss: a named loss or an (n, k) matrix, exact.
        ptype: a type with rational alpha^d.

    Raises:
        Unsupported: for floats, and where some alpha^d is irrational. PromiseBroken: for a channel outside the type.

    Source: [fernandes2022], definition 3. Cost: exponential in n at worst (containment of polytopes given this way is
    coNP-hard).

    >>> from utmost.channels import geometric_channel
    >>> from utmost.spaces import counts, losses
    >>> ptype = PrivacyType(counts(2), alpha="1/2")
    >>> bool(is_universally_optimal(geometric_channel(2, alpha="1/2"), losses.binary, ptype))
    True
    """
    RationalCone.of(channel, ptype)
    least = LeastLoss.of(ptype, loss)
    certificate, worst = _dominance(least, channel, Fraction(0))
    if certificate is not None:
        return UniversalityVerdict(True, None, None, certificate)
    assert worst is not None
    _, found = next(least.at((worst,)))
    return UniversalityVerdict(False, as_prior(worst), least.channel(found.x), None)


@checked
def universal_mechanism(loss: object, ptype: PrivacyType) -> ExistenceVerdict:
    """Whether any mechanism of the type is l-optimal for every prior; if not, the least regret and who conflicts.

    min over mechanisms of max over priors of U(pi, M) - f(pi): a linear program over vertices with one row for each of
    finitely many priors. Rows are added as they are violated, by the worst prior among the vertices of the cells
    of the mechanism at hand, until none is.

    Raises:
        Unsupported: for floats, and where some alpha^d is irrational.

    Source: [fernandes2022], theorems 8, 10, 11, 12 and corollary 13 are instances.

    >>> from utmost.spaces import discrete, losses
    >>> verdict = universal_mechanism(losses.binary, PrivacyType(discrete(3), alpha="1/2"))
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
        tuple(as_prior(prior) for prior in against),
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
        regret = expected_loss(channel.matrix, least.loss, as_prior(prior)) - found.value
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
    start = Tableau.feasible(matrix, np.array([1] * n + right, dtype=object))
    found, _ = start.minimise(cost)
    bundle = tuple(x * scale for x, scale in zip(found.x[:count], least.scales, strict=True))
    weights = {prior: -z * f for prior, z, f in zip(known, found.dual[n:], factors, strict=True)}
    return found.value, bundle, weights, found.dual[:n]

"""Compute how well an attacker guesses a secret, without and with an outcome of a mechanism, and compare with usual
mechanisms.

Epsilon bounds how much any outcome can change any belief; it does not say how well someone who knows the prior guesses
a secret. The numbers of an `Attack` describe one prior and the attacker's best strategy for it (`utmost.leakage`), and
are no guarantee, because they differ for other priors.
"""

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from utmost.core.exact.arguments import instance, text
from utmost.core.exact.arrays import Array, as_array, is_exact, same_numbers, to_floats
from utmost.core.exact.display import Display
from utmost.design.channels.calibrated import exponential_mechanism
from utmost.design.channels.channel import Channel, stochastic
from utmost.design.channels.on_counts import GeometricMatrix
from utmost.design.channels.on_spaces import planar_geometric_channel
from utmost.design.leakage.hypers import as_prior
from utmost.design.leakage.measures import bayes_vulnerability, l_uncertainty
from utmost.design.optima.best_actions import bayes_remap
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.design.spaces.consumer import Consumer
from utmost.design.spaces.families import EuclideanGridMetric, LineMetric, ManhattanGridMetric
from utmost.errors import OutOfRange, Unsupported

# Up to this many products, which take some tenths of a second, an attack is computed exactly.
_MOST_EXACT = 250_000
# For more secrets than this, it takes seconds to compute the exponential mechanism.
_MOST_COSTS = 100
# Relative error, in units of 2^-52, of exp at numbers of size up to 745. A sum of n nonnegative terms adds n units.
_ERRORS_OF_POWERS = 1024


@dataclass(frozen=True, slots=True, repr=False)
class Odds(Display):
    """The largest factor by which an outcome changes the odds of one secret against all others."""

    secret: int
    outcome: int
    before: Fraction | float  # probability of the secret before the outcome
    after: Fraction | float  # probability after the outcome, rounded up
    factor: Fraction | float  # ratio of the odds p / (1 - p), rounded up; infinity if the outcome proves the secret


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Attack(Display):
    """How well an attacker with a given prior guesses the secret, without and with one outcome of a mechanism."""

    # Numbers are Fractions if prior, loss and mechanism are exact and small. Otherwise they are floats: probabilities
    # of a correct guess and losses of the intended reader are rounded up, and losses of the attacker are rounded down.
    mechanism: str
    prior_vulnerability: Fraction | float  # probability of a correct guess without the outcome
    vulnerability: Fraction | float  # probability of a correct guess with the outcome: sum_y max_x p_x C[x, y]
    prior_error: Fraction | float  # expected loss of the best guess without the outcome
    error: Fraction | float  # expected loss of the best guess with the outcome, the expected inference error
    loss: Fraction | float  # expected loss of the intended reader
    odds: Odds | None  # worst change of the odds of a secret; None for a single secret
    others: tuple["Attack", ...] = ()  # usual mechanisms at the same level, remapped for the same reader

    @property
    def leakage(self) -> Fraction | float:
        """The factor by which the outcome multiplies the chance of a correct guess (multiplicative Bayes leakage)."""
        ratio = self.vulnerability / self.prior_vulnerability
        return ratio if isinstance(ratio, Fraction) else math.nextafter(ratio, math.inf)


def attack(
    channel: Channel, consumer: Consumer, *, prior: object = None, loss: object = None, mechanism: str = "mechanism"
) -> Attack:
    """Return how well an attacker guesses the secret without and with one outcome of a channel.

    Args:
        channel: Channel (n, m); the consumer's best remap is applied to its outcomes.
        consumer: Intended reader, whose loss is the cost of the mechanism.
        prior: Prior of the attacker; by default the prior of the consumer.
        loss: Loss of the attacker's guess, see `l_uncertainty`; by default the loss of the consumer.
        mechanism: Name of the mechanism.

    Raises:
        OutOfRange: if channel, consumer and prior have different numbers of secrets.

    Cost: O(n m k) for k actions.

    Source: [fernandes2022], (3) to (6); the expected inference error is that of [shokri2011].

    >>> from utmost.channels import randomized_response
    >>> from utmost.design.spaces import losses, priors
    >>> found = attack(randomized_response(2, alpha="1/3"), Consumer(priors.from_counts([3, 2]), losses.binary))
    >>> [str(x) for x in (found.prior_vulnerability, found.vulnerability, found.error, found.odds.factor)]
    ['3/5', '3/4', '1/4', '3']
    """
    instance(channel, Channel, "channel")
    instance(consumer, Consumer, "consumer")
    mechanism = text(mechanism, "mechanism")
    belief = as_prior(consumer if prior is None else prior)
    if not (channel.shape[0] == len(belief) == consumer.secrets):
        raise OutOfRange(f"channel and prior must have {consumer.secrets} secrets", came=channel.shape, where="attack")
    n, m = channel.shape
    known = bayes_vulnerability.prior(belief)  # the largest entry of the prior, without rounding
    if n * m * consumer.actions > _MOST_EXACT:
        channel, consumer, belief = channel.to_floats(), consumer.to_floats(), as_array(to_floats(belief))
    by = l_uncertainty(consumer if loss is None else loss)
    matrix, weights = same_numbers(channel.matrix, belief)
    slack = (n + m + _ERRORS_OF_POWERS) * 2.0**-52  # 2^-52 for each term of a sum, plus the error of powers
    loses = l_uncertainty(consumer).posterior(channel, consumer)
    is_free = loses == 0 and np.count_nonzero(consumer.prior) == 1  # then the loss 0 is exact: no product underflowed
    return Attack(
        mechanism,
        known,
        _rounded_up(bayes_vulnerability.posterior(channel, belief), slack, most=1.0),
        _rounded_down(by.prior(belief), slack),
        _rounded_down(by.posterior(channel, belief), slack),
        loses if is_free else _rounded_up(loses, slack),
        _worst_odds(matrix, weights, slack),
    )


def attack_beside(mechanism: Channel, ptype: PrivacyType, consumer: Consumer, *, prior: object, loss: object) -> Attack:
    """Return the attack on an optimal mechanism; its field ``others`` has the attacks on the `usual_mechanisms` of the
    type.
    """
    knowledge = {"prior": prior, "loss": loss}
    others = tuple(
        attack(channel @ bayes_remap(channel, consumer), consumer, mechanism=name, **knowledge)
        for name, channel in usual_mechanisms(ptype, floats=ptype.space.size**3 > _MOST_EXACT).items()
    )
    return replace(attack(mechanism, consumer, mechanism="optimal", **knowledge), others=others)


def usual_mechanisms(ptype: PrivacyType, floats: bool = False) -> dict[str, Channel]:
    """Return a dict from names to mechanisms: those that are usually used on the space of a type, at the level of the
    type.

    - Counts: clamped geometric noise.
    - A grid with Euclidean distances and an epsilon of at least 1/1000: planar noise, `planar_geometric_channel`. The
      noise z has P(z) = c alpha^|z| at the points z of the infinite lattice, and the result is moved to the nearest
      point of the grid. P is proportional to the planar Laplace density at the lattice points.
    - A grid with Manhattan distances: geometric noise on both axes.
    - Every space of at most 100 secrets: the exponential mechanism with the distance as cost.

    Args:
        ptype: Privacy type: space and level.
        floats: Whether to compute in float64.

    >>> from utmost.spaces import counts
    >>> sorted(usual_mechanisms(PrivacyType(counts(3), alpha="1/2")))
    ['exponential mechanism', 'geometric noise']
    """
    instance(ptype, PrivacyType, "ptype")
    space, at = ptype.space, ptype.level
    metric, mechanisms = space.metric, {}
    if space.size == 1:
        return {}
    if isinstance(metric, LineMetric):
        mechanisms["geometric noise"] = stochastic(GeometricMatrix(space.size, at).matrix(floats))
    if isinstance(metric, EuclideanGridMetric):
        with suppress(Unsupported):
            mechanisms["planar noise"] = planar_geometric_channel(metric.rows, metric.cols, at)
    if isinstance(metric, ManhattanGridMetric):
        down, across = (GeometricMatrix(size, at).matrix(floats) for size in (metric.rows, metric.cols))
        mechanisms["geometric noise on both axes"] = stochastic(np.kron(down, across))
    if space.size <= _MOST_COSTS:
        mechanisms["exponential mechanism"] = exponential_mechanism(space.distances, at, space=space)
    return mechanisms


def _worst_odds(matrix: Array, prior: Array, slack: float) -> Odds | None:
    """Return the secret x and outcome y with the largest C[x, y] (1 - p_x) / (sum over z != x of p_z C[z, y])."""
    others, rest = _all_but_one(prior[:, None]), _all_but_one(np.asarray(prior[:, None] * matrix))
    possible = (matrix > 0) & (prior > 0)[:, None] & (others > 0)
    if not possible.any():
        return None
    # An outcome that is possible for only one secret proves that secret.
    some, certain = possible & (rest > 0), possible & (rest == 0)
    factor = np.zeros(matrix.shape, matrix.dtype)
    with np.errstate(over="ignore"):
        factor[some] = matrix[some] * np.broadcast_to(others, matrix.shape)[some] / rest[some]
    x, y = divmod(int((certain if certain.any() else factor).argmax()), matrix.shape[1])
    own = prior[x] * matrix[x, y]
    before, after = (p if isinstance(p, Fraction) else float(p) for p in (prior[x], own / (own + rest[x, y])))
    worst = math.inf if certain.any() else _rounded_up(factor[x, y], slack)
    return Odds(x, y, before, _rounded_up(after, slack, most=1.0), worst)


def _all_but_one(columns: Array) -> Array:
    """Return, for each entry, the sum of all other entries of its column; in floats without cancellation."""
    if is_exact(columns):
        return np.asarray(columns.sum(axis=0) - columns)
    before, after = np.zeros(columns.shape), np.zeros(columns.shape)
    before[1:] = columns[:-1].cumsum(axis=0)
    after[:-1] = columns[:0:-1].cumsum(axis=0)[::-1]
    return np.asarray(before + after)


def _rounded_up(value: Any, slack: float, most: float = math.inf) -> Fraction | float:
    if isinstance(value, Fraction):
        return value
    return min(math.nextafter(float(value) * (1 + slack), math.inf), most)


def _rounded_down(value: Any, slack: float) -> Fraction | float:
    return value if isinstance(value, Fraction) else max(math.nextafter(float(value) * (1 - slack), -math.inf), 0.0)

"""The information of a mechanism for an attacker: guesses before and after, compared with the usual mechanisms.

Epsilon bounds what any outcome can add to any belief; it does not say how well a secret is guessed by someone who
already knows how often each occurs. These numbers do, for one belief: they are no promise, and another belief gives
others. Whoever guesses is as clever as can be: the numbers are those of the best strategy (`utmost.leakage`).
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
from utmost.design.optima.reading import bayes_remap
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.design.spaces.consumer import Consumer
from utmost.design.spaces.families import EuclideanGridMetric, LineMetric, ManhattanGridMetric
from utmost.errors import OutOfRange, Unsupported

# Up to so many products exact numbers take some tenths of a second.
_MOST_EXACT = 250_000
# Beyond so many secrets the exponential mechanism takes seconds to form.
_MOST_COSTS = 100
# Relative errors of sums of n terms that are not negative, and of exp of numbers up to 745, in units of 2^-52.
_ERRORS_OF_POWERS = 1024


@dataclass(frozen=True, slots=True, repr=False)
class Odds(Display):
    """The largest factor by which an outcome moves the odds of one secret against all others together.

    Attributes:
        secret, outcome: Place of the odds, by number.
        before: Probability of the secret before the outcome.
        after: Probability after the outcome, rounded up.
        factor: After / (1 - after) over before / (1 - before), rounded up; infinity where the outcome proves it.
    """

    secret: int
    outcome: int
    before: Fraction | float
    after: Fraction | float
    factor: Fraction | float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Attack(Display):
    """The information of one outcome of a mechanism for someone with a belief about the secret.

    Fractions where belief, loss and mechanism are exact and small; else floats, which err on the safe side: chances to
    guess and losses of the reader are rounded up, errors of the attacker down.

    Attributes:
        mechanism: Name of the mechanism.
        prior_vulnerability: Chance to guess the secret in one try without the outcome.
        vulnerability: The same with the outcome: sum_y max_x p_x C[x, y].
        prior_error: Expected loss of the best guess without the outcome, "how far off" it is.
        error: The same with the outcome: the expected inference error.
        loss: Expected loss of the intended reader.
        odds: Worst change of the odds of one secret; None where nothing can change, as for a single secret.
        others: Usual mechanisms at the same level, remapped for the same reader.
    """

    mechanism: str
    prior_vulnerability: Fraction | float
    vulnerability: Fraction | float
    prior_error: Fraction | float
    error: Fraction | float
    loss: Fraction | float
    odds: Odds | None
    others: tuple["Attack", ...] = ()

    @property
    def leakage(self) -> Fraction | float:
        """The factor by which the outcome raises the chance to guess the secret: the multiplicative Bayes leakage."""
        ratio = self.vulnerability / self.prior_vulnerability
        return ratio if isinstance(ratio, Fraction) else math.nextafter(ratio, math.inf)


def attack(
    channel: Channel, consumer: Consumer, *, prior: object = None, loss: object = None, mechanism: str = "mechanism"
) -> Attack:
    """The information of one outcome of a channel for an attacker, by the measures of `utmost.leakage`.

    Args:
        channel: (n, m), whose outcomes the consumer takes as its answers after its own best remap.
        consumer: Reader: its loss is what the mechanism costs.
        prior: (n,) what the attacker believes; the reader's prior if left out.
        loss: Loss of the attacker's guess, see `l_uncertainty`; the reader's loss by default.
        mechanism: Name of the mechanism.

    Raises:
        OutOfRange: for another number of secrets.

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
    known = bayes_vulnerability.prior(belief)  # the largest of the numbers given: no rounding comes in
    if n * m * consumer.actions > _MOST_EXACT:
        channel, consumer, belief = channel.to_floats(), consumer.to_floats(), as_array(to_floats(belief))
    by = l_uncertainty(consumer if loss is None else loss)
    matrix, weights = same_numbers(channel.matrix, belief)
    slack = (n + m + _ERRORS_OF_POWERS) * 2.0**-52  # a unit for each term of a sum, and for what powers were off before
    return Attack(
        mechanism,
        known,
        _rounded_up(bayes_vulnerability.posterior(channel, belief), slack, most=1.0),
        _rounded_down(by.prior(belief), slack),
        _rounded_down(by.posterior(channel, belief), slack),
        _rounded_up(l_uncertainty(consumer).posterior(channel, consumer), slack),
        _worst_odds(matrix, weights, slack),
    )


def attack_beside(
    mechanism: Channel, ptype: PrivacyType, consumer: Consumer, *, prior: object = None, loss: object = None
) -> Attack:
    """The attack on an optimal mechanism with those on the usual mechanisms of its type beside it."""
    knowledge = {"prior": prior, "loss": loss}
    others = tuple(
        attack(channel @ bayes_remap(channel, consumer), consumer, mechanism=name, **knowledge)
        for name, channel in usual_mechanisms(ptype, floats=ptype.space.size**3 > _MOST_EXACT).items()
    )
    return replace(attack(mechanism, consumer, mechanism="optimal", **knowledge), others=others)


def usual_mechanisms(ptype: PrivacyType, floats: bool = False) -> dict[str, Channel]:
    """The mechanisms that are usually taken on a space, at the level of the type, by what they are called.

    On counts geometric noise, clamped. On a grid with Euclidean distances planar noise, P(z) = c alpha^|z| at the
    points z of the whole lattice, moved to the nearest place (`planar_geometric_channel`; epsilon of at least 1/1000):
    the planar Laplace density at the points and normalised over them, so that no cell is integrated over, and no tail
    cut off. On a grid with Manhattan distances geometric noise on both axes. On every space of up to 100 secrets the
    exponential mechanism with the distance as its cost.

    Args:
        ptype: Space and level.
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
    """The largest C[x, y] (1 - p_x) / sum_z p_z C[z, y], z other than x: all terms are positive, and none cancels."""
    others, rest = _all_but_one(prior[:, None]), _all_but_one(np.asarray(prior[:, None] * matrix))
    possible = (matrix > 0) & (prior > 0)[:, None] & (others > 0)
    if not possible.any():
        return None
    # An outcome that no other secret gives proves this one.
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
    """The sum of the other entries in each entry's column, from sums before and after it, so that nothing cancels."""
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

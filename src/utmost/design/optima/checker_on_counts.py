"""Check a certificate on counts: the bound that its dual proves, and the loss of a remapped geometric mechanism.

A private column is a vector v >= 0 with alpha v_x <= v_{x+1} and alpha v_{x+1} <= v_x. Suppose that for every action r,
sum_x (p_x l(x, r) - mu_x) v_x >= 0 for all private columns v. Summing over the columns of a private channel X shows
that X loses at least sum_x mu_x. For given weights w, let f_0 be the least sum_x w_x v_x over private columns v with
v_0 = 1. A recursion from n down to 0 gives f_0:

    f_n = w_n,    f_x = w_x + min(alpha f_{x+1}, f_{x+1} / alpha).

So the condition for action r is f_0 >= 0 for w_x = p_x l(x, r) - mu_x. Exact input is checked in integers. For floats
or an irrational alpha, each computed f_x is a proven lower bound, because more than the rounding error is subtracted
after every operation.

Source: linear programming duality; the program is (2) to (6) of [ghosh2009], with corrected ranges.
"""

import math
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from flint import fmpz

from utmost.core.exact.arrays import Array, objects
from utmost.core.exact.intervals import Interval, round_down, round_up
from utmost.core.exact.levels import Level
from utmost.design.spaces.consumer import Consumer
from utmost.errors import PromiseBroken, Unsupported


@dataclass(frozen=True, slots=True, eq=False)
class LossRows:
    """The numbers p_i l(i, r) times ``denominator``, by row or column: floats (denominator 1) or Python integers."""

    prior: Array  # (n,) the prior, as integers or as floats
    loss_row: Callable[[int], Array]  # returns l(i, .), (k,), as integers or as floats
    loss_column: Callable[[int], Array]  # returns l(., r), (n,), as integers or as floats
    actions: int
    denominator: int

    @property
    def secrets(self) -> int:
        return len(self.prior)

    def row(self, i: int) -> Array:
        """Return p_i l(i, r) times ``denominator`` for all r."""
        return np.asarray(self.prior[i] * self.loss_row(i))

    def column(self, r: int) -> Array:
        """Return p_i l(i, r) times ``denominator`` for all i."""
        return self.prior * self.loss_column(r)


def float_rows(consumer: Consumer) -> LossRows:
    """Return the losses of a consumer in float64, with each prior entry and each loss rounded to the nearest float."""
    # A loss that depends on i - r only needs O(n) memory; other named losses are evaluated row by row.
    return _rows(consumer, lambda numbers: numbers.astype(np.float64), consumer.prior.astype(np.float64), 1)


def integer_rows(consumer: Consumer) -> LossRows:
    """Return the losses of a consumer as integers over one denominator; floats are converted to rationals exactly."""
    prior_scale = lcm(*(Fraction(p).denominator for p in consumer.prior.flat))
    values = _by_difference(consumer) if _is_of_difference(consumer) else consumer.loss
    loss_scale = lcm(*{Fraction(x).denominator for x in values.flat})
    prior = _scaled(consumer.prior, prior_scale)
    return _rows(consumer, lambda numbers: _scaled(numbers, loss_scale), prior, prior_scale * loss_scale)


def _rows(consumer: Consumer, convert: Callable[[Array], Array], prior: Array, denominator: int) -> LossRows:
    n, k = consumer.secrets, consumer.actions
    if _is_of_difference(consumer):
        by_difference = convert(_by_difference(consumer))
        return LossRows(
            prior,
            lambda i: by_difference[n - 1 - i : n - 1 - i + k],
            lambda r: by_difference[r : r + n][::-1],
            k,
            denominator,
        )
    if consumer.table is None and not consumer.is_exact:
        return LossRows(
            prior,
            lambda i: convert(consumer.loss_block(slice(i, i + 1), slice(None))[0]),
            lambda r: convert(consumer.loss_block(slice(None), slice(r, r + 1))[:, 0]),
            k,
            denominator,
        )
    table = convert(consumer.loss)
    return LossRows(prior, lambda i: table[i], lambda r: table[:, r], k, denominator)


def _is_of_difference(consumer: Consumer) -> bool:
    return consumer.rule is not None and consumer.rule.of_difference


def _by_difference(consumer: Consumer) -> Array:
    """Return l(i, i + d) for d = -(n-1), ..., k-1."""
    assert consumer.rule is not None, "only a named loss is a function of the difference"
    return np.asarray(consumer.rule.rule(0, np.arange(1 - consumer.secrets, consumer.actions)))


def _scaled(numbers: Array, scale: int) -> Array:
    values = (Fraction(x) for x in numbers.ravel().tolist())
    return objects((fmpz(x.numerator * (scale // x.denominator)) for x in values), numbers.shape)


# A step has at most seven roundings, each of at most half a unit (2^-53) of loss + |mu| + |carried|.
_ROUNDING = 2.0**-49
_UNDERFLOW = 1e-300
_SMALLEST_ALPHA = 1e-250
# Bits of the interval around alpha; results are rounded to 53 bits.
_BITS = 160


def dual_bound(level: Level, consumer: Consumer, dual: Array, exactly: bool) -> Fraction | float:
    """Return the lower bound that ``dual`` (n+1,) proves for the loss of every private channel on counts, in O(n k)."""
    # ``exactly`` computes in rationals (exact consumer, rational alpha, Fractions in ``dual``); otherwise the result is
    # a float, rounded down.
    slack = exact_slacks(level, integer_rows(consumer), dual) if exactly else float_slacks(level, consumer, dual)
    for r in np.flatnonzero(~(slack >= 0))[:1]:
        raise PromiseBroken(f"the dual must be feasible for action {r}", came=f"a slack of {float(slack[r])}")
    return sum(dual.tolist(), Fraction(0)) if exactly else round_down(sum(map(Fraction, dual.tolist()), Fraction(0)))


def exact_slacks(level: Level, rows: LossRows, dual: Array) -> Array:
    """Return f_0 for every action, multiplied by one positive factor that makes all of them integers."""
    # Only f_0 is stored: all f would be n + 1 rows of long integers.
    (f,) = deque(exact_flows(level, rows, dual), maxlen=1)
    return f


def exact_flows(level: Level, rows: LossRows, dual: Array) -> Iterator[Array]:
    """Yield f_n, ..., f_0, each for all actions, as integers: f_x is multiplied by D (s t)^(n-x), where alpha = s/t and
    D is a common denominator of the losses and of mu.
    """
    alpha, n = level.alpha_fraction(), rows.secrets - 1
    s: Any = fmpz(alpha.numerator)
    t: Any = fmpz(alpha.denominator)
    scale = math.lcm(rows.denominator, *(mu.denominator for mu in dual))
    # All numbers are brought over one denominator, so they are integers from here on.
    prices = objects(fmpz(mu.numerator * (scale // mu.denominator)) for mu in dual)
    f, power, step = 0 * rows.row(n), fmpz(1), fmpz(scale // rows.denominator)
    for x in range(n, -1, -1):
        f = (rows.row(x) * step - prices[x]) * power + f * np.where(f >= 0, s * s, t * t)
        power *= s * t
        yield f


def float_slacks(level: Level, consumer: Consumer, dual: Array) -> Array:
    """Return proven lower bounds of f_0 for every action (-inf or NaN if floats overflow)."""
    rows, mu = float_rows(consumer), dual.astype(np.float64)
    below, _ = alpha_bounds(level)
    low, inverse = round_down(below), round_up(1 / below)
    f = np.zeros(rows.actions)
    with np.errstate(over="ignore", invalid="ignore"):
        for x in range(rows.secrets - 1, -1, -1):
            # The new f is a lower bound of loss - mu + min(alpha f, f / alpha).
            loss, carried = rows.row(x), np.minimum(f, 0.0) * inverse + np.maximum(f, 0.0) * low
            size = (loss + abs(mu[x])) + abs(carried)
            f = ((loss - mu[x]) + carried) - (_ROUNDING * size + _UNDERFLOW)
            # The sum is nonnegative if both terms are certainly nonnegative.
            if mu[x] <= 0:
                f = np.where(carried >= 0, np.maximum(f, 0.0), f)
    return f


def remap_loss(level: Level, consumer: Consumer, actions: Array, exactly: bool) -> Fraction | float:
    """Return the expected loss of the geometric mechanism followed by a remap: exact, or a float rounded up. Cost:
    O(n^2).
    """
    n = consumer.secrets - 1
    if not exactly and (actions == actions[0]).all():  # the action does not depend on the response
        column = consumer.loss_block(slice(None), actions[:1])[:, 0].tolist()
        pairs = zip(consumer.prior.tolist(), column, strict=True)
        return round_up(sum((Fraction(p) * Fraction(lost) for p, lost in pairs), Fraction(0)))
    rows = integer_rows(consumer) if exactly else float_rows(consumer)
    if exactly:
        alpha = level.alpha_fraction()
        s, t = alpha.numerator, alpha.denominator
        scaled = objects(fmpz(s**k * t ** (n - k)) for k in range(n + 1))
        at_ends, between = (t, t - s) if n else (t + s, 0)
        loss = 0
        for y, action in enumerate(actions.tolist()):
            score = int((rows.column(action) * scaled[abs(np.arange(n + 1) - y)]).sum())
            loss += (at_ends if y in (0, n) else between) * score
        return Fraction(loss, (t + s) * t**n * rows.denominator)
    below, above = alpha_bounds(level)
    # Upper bounds of alpha^0, ..., alpha^n: the error of a product is at most half a unit in the last place, so the
    # next float is above.
    powers, top = np.ones(n + 1), round_up(above)
    for k in range(1, n + 1):
        powers[k] = math.nextafter(powers[k - 1] * top, math.inf)
    mirrored = np.concatenate([powers[:0:-1], powers])
    ends, inside = (1 / (1 + below), (1 - below) / (1 + below)) if n else (Fraction(1), Fraction(0))
    # Compute upper bounds of sums of products of three nonnegative floats. Each is a sum of sums, both of ``size``
    # terms.
    size, scores = math.isqrt(n + 1) + 1, list[float]()
    starts = np.arange(0, n + 1, size)
    for y, action in enumerate(actions.tolist()):
        terms = rows.column(action) * mirrored[n - y : 2 * n + 1 - y]
        scores.append(float(np.add.reduceat(terms, starts).sum()) * (1 + (2 * size + 8) * 2.0**-52) + _UNDERFLOW)
    total = ends * (Fraction(scores[0]) + (Fraction(scores[n]) if n else 0)) + inside * Fraction(math.fsum(scores[1:n]))
    # The inner sum, each prior entry and each loss are rounded at most once: less than four half-units for each term.
    return round_up(total * (1 + Fraction(4, 2**53)))


def alpha_bounds(level: Level) -> tuple[Fraction, Fraction]:
    """Return rational lower and upper bounds of alpha, which are equal if alpha is rational. A tiny irrational alpha
    raises an error.
    """
    if level.is_rational:
        alpha = level.alpha_fraction()
        return alpha, alpha
    if float(level.alpha) < _SMALLEST_ALPHA:
        remedy = "Give the level as a rational alpha: all is then computed exactly."
        raise Unsupported(f"alpha must be at least {_SMALLEST_ALPHA} for floats", came=str(level), remedy=remedy)
    around: Interval = level.alpha_interval(_BITS + math.ceil(1.5 * level.epsilon_float))
    return around.lower, around.upper

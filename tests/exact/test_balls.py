"""Balls of floats contain what they say, against Arb at 200 bits; the stated bounds hold with room to spare."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb, fmpq

# The stated error of each elementary function, on which exact draws rest; no answer shows it.
# The bounds of each elementary function are compared with its true errors: what uses balls shows them no more.
from utmost.core.exact import balls
from utmost.core.exact.balls import EXP_ERROR, EXP_SLOPE, LOG_ERROR, ROUNDING, TURN_ERROR, Balls
from utmost.core.exact.intervals import working_precision

RNG = np.random.default_rng(13)


def worst(computed, points, function, allowed):
    """The largest |computed - function(x)| / allowed(x, value), over floats taken for what they are."""
    largest = 0.0
    with working_precision(200):
        for x, y in zip(points.tolist(), computed.tolist(), strict=True):
            true = function(arb(x))
            error = abs(arb(y) - true)
            largest = max(largest, float((error / allowed(arb(x), true)).upper()))
    return largest


def uniforms(count):
    spread = 2.0 ** -RNG.uniform(0, 53, count)
    near_one = 1 - 2.0 ** -RNG.uniform(1, 53, count)
    edges = np.array([0.5, np.sqrt(0.5), np.nextafter(np.sqrt(0.5), 1), 2**-0.5 - 2**-53, 2.0**-53, 1 - 2.0**-53])
    return np.concatenate([RNG.uniform(size=count), spread, near_one, edges])


def test_the_logarithm_errs_by_less_than_its_bound():
    """|_log(x) - log x| <= 16 u |log x|; more than twice as much room as is needed."""
    x = uniforms(4000)
    x = x[(x > 0) & (x < 1)]
    assert worst(balls._log(x), x, lambda t: t.log(), lambda t, y: abs(y) * LOG_ERROR) < 0.5


def test_cosine_and_sine_err_by_less_than_their_bound():
    """Within 8 u of cos(pi x) and sin(pi x), x in [0, 2], at quarter turns too."""
    x = np.concatenate([2 * uniforms(2500), np.arange(17) / 8, np.nextafter(np.arange(1, 16) / 8, 0)])
    sine, cosine = Balls.of(x).sin_cos_pi()
    assert worst(cosine.middle, x, lambda t: t.cos_pi(), lambda t, y: TURN_ERROR) < 0.5
    assert worst(sine.middle, x, lambda t: t.sin_pi(), lambda t, y: TURN_ERROR) < 0.5


def test_the_exponential_errs_by_less_than_its_bound():
    """Within (16 + 8 |x|) u of itself, from -700 to 0."""
    x = -np.concatenate([RNG.uniform(0, 2, 3000), RNG.uniform(0, 40, 2000), RNG.uniform(0, 699, 500), [0.0, 1e-300]])
    bound = lambda t, y: y * (EXP_ERROR + EXP_SLOPE * abs(t))  # noqa: E731
    assert worst(balls._exp(x), x, lambda t: t.exp(), bound) < 0.5


def within(ball, true):
    """Whether each ball contains the number of Arb."""
    with working_precision(300):
        return all(
            abs(arb(float(m)) - t) <= arb(float(r)) for m, r, t in zip(ball.middle, ball.radius, true, strict=True)
        )


def arbs(numbers):
    return [arb(fmpq(x.numerator, x.denominator)) for x in numbers]


@pytest.mark.parametrize("name", ["+", "-", "*", "/", "sqrt", "log", "exp", "cos_pi", "formula"])
def test_every_operation_contains_the_result_for_every_number_in_the_balls(name):
    """Numbers anywhere in balls, at their very ends too: the result lies in the ball of the result."""
    size = 400
    a, b = (RNG.uniform(0.01, 1, size) * 10.0 ** RNG.integers(-3, 1, size) for _ in range(2))
    ra, rb = (x * 10.0 ** -RNG.uniform(2, 17, size) for x in (a, b))
    ends = RNG.choice([-1, 1, 0], size), RNG.choice([-1, 1, 0], size)
    x, y = (
        [Fraction(m) + int(s) * Fraction(r) for m, r, s in zip(mid, rad, sign, strict=True)]
        for mid, rad, sign in ((a, ra, ends[0]), (b, rb, ends[1]))
    )
    one, two = Balls(a, ra), Balls(b, rb)
    with working_precision(300):
        X, Y = arbs(x), arbs(y)
        found, true = {
            "+": lambda: (one + two, [p + q for p, q in zip(X, Y, strict=True)]),
            "-": lambda: (one - two, [p - q for p, q in zip(X, Y, strict=True)]),
            "*": lambda: (one * two, [p * q for p, q in zip(X, Y, strict=True)]),
            "/": lambda: (one / two, [p / q for p, q in zip(X, Y, strict=True)]),
            "sqrt": lambda: (one.sqrt(), [p.sqrt() for p in X]),
            "log": lambda: (one.log(), [p.log() for p in X]),
            "exp": lambda: ((-one).exp(), [(-p).exp() for p in X]),
            "cos_pi": lambda: (one.cos_pi(), [p.cos_pi() for p in X]),
            "formula": lambda: (
                (2 * (one * -two.log()).sqrt() / 3 - 1) * one,
                [(2 * (p * -q.log()).sqrt() / 3 - 1) * p for p, q in zip(X, Y, strict=True)],
            ),
        }[name]()
    assert within(found, true)
    assert np.isfinite(found.radius).all()
    assert (found.radius < 0.1 * (1 + np.abs(found.middle))).all()


def test_what_cannot_be_known_is_never_certain():
    """A divisor, logarithm or root around 0, an overflow, a NaN: no comparison with the result is certain."""
    with np.errstate(all="ignore"):
        wide = Balls(np.array([0.1, 0.0, -1.0, np.nan]), np.array([0.2, 0.0, 0.0, 0.0]))
        doubtful = [Balls.of(np.ones(4)) / wide.part([0, 1, 1, 3]), wide.log(), Balls(-wide.middle, wide.radius).sqrt()]
        doubtful += [
            Balls.of(np.full(4, 1e300)) * 10**9,
            Balls.of(np.full(4, -800.0)).exp(),
            Balls.of(np.ones(4)).exp(),
        ]
        for ball in doubtful[:1] + doubtful[3:]:
            assert not (ball.is_positive | (-ball).is_positive).any()
            assert not ball.floor[1].any()
        assert not doubtful[1].floor[1].any()
        assert not doubtful[2].floor[1][[0, 1, 3]].any()


def test_floors_at_whole_numbers_are_not_certain():
    """3 itself is certain; 3 give or take anything is not."""
    floor, sure = Balls(np.array([3.5, 3.0, 3.0 - 2**-51, 2.0**53]), np.array([0.4, 1e-300, 2.0**-52, 0.0])).floor
    assert floor[0] == 3
    assert sure.tolist() == [True, False, False, False]


def test_a_ball_between_two_rationals_has_both():
    low, high = Fraction(1, 3), Fraction(1, 3) + Fraction(1, 10**20)
    ball = Balls.between(low, high)
    assert Fraction(float(ball.middle)) - Fraction(float(ball.radius)) <= low
    assert high <= Fraction(float(ball.middle)) + Fraction(float(ball.radius))
    assert ball.radius < ROUNDING
    assert np.isinf(Balls.between(Fraction(10) ** 400, Fraction(10) ** 400).radius)

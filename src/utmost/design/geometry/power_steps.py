"""One step of arithmetic with irrational powers: on quotients of polynomials, on images in prime fields, and on floats.

See `power_numbers`.
"""

from fractions import Fraction

from flint import arb, fmpz_mpoly

Quotient = tuple[fmpz_mpoly, fmpz_mpoly]
"""A numerator and a denominator without a common factor."""

ULP, TINY, WIDER = 2.0**-52, 1e-300, 1 + 2.0**-48
UNKNOWN = float("inf")
"""The radius of a number without a known bound."""


def combined(sign: str, first: Quotient, second: Quotient) -> Quotient:
    """Return the result of an operation on two quotients, not reduced."""
    (a, b), (c, d) = first, second
    if sign == "*":
        return a * c, b * d
    if sign == "/":
        return a * d, b * c
    return (a * d + c * b if sign == "+" else a * d - c * b), b * d


def image_step(sign: str, first: int, second: int, prime: int) -> int:
    """Return the image of the result in the field of a prime."""
    if sign == "/":
        return first * pow(second, -1, prime) % prime
    return (first + second if sign == "+" else first - second if sign == "-" else first * second) % prime


def around(sign: str, first: tuple[float, float], second: tuple[float, float]) -> tuple[float, float]:
    """Return a float and a radius for the result; IEEE rounding is within 2^-52 of the result in any rounding mode."""
    (a, r), (b, s) = first, second
    if not r + s < UNKNOWN:  # infinity times zero would be NaN, with a warning
        return 0.0, UNKNOWN
    if sign == "+" or sign == "-":
        middle = a + b if sign == "+" else a - b
        return middle, (r + s + ULP * abs(middle)) * WIDER + TINY
    if sign == "*":
        middle = a * b
        return middle, (abs(a) * s + (abs(b) + s) * r + ULP * abs(middle)) * WIDER + TINY
    least = (abs(b) - s) * (1 - 4 * ULP)
    if not least > 0:
        return 0.0, UNKNOWN
    middle = a / b
    return middle, ((r + abs(middle) * (1 + 4 * ULP) * s + TINY) / least + ULP * abs(middle)) * WIDER + TINY


def near_rational(value: Fraction) -> tuple[float, float]:
    """Return a float and a radius for a rational."""
    try:
        middle = float(value)
    except OverflowError:
        return 0.0, UNKNOWN
    return middle, ULP * abs(middle) + TINY


def ball_of(polynomial: fmpz_mpoly, generators: list[arb]) -> arb:
    """Return a ball for a polynomial, from balls of its generators."""
    total = arb(0)
    for place, coefficient in polynomial.to_dict().items():
        term = arb(coefficient)
        for generator, power in zip(generators, place, strict=True):
            if power:
                term *= generator ** int(power)
        total += term
    return total

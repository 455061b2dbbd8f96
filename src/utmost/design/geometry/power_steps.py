"""Add, subtract, multiply and divide the three representations of a `PowerNumber`.

The representations are a quotient of polynomials, a residue modulo a prime, and a float with an error bound.
"""

from fractions import Fraction

from flint import arb, fmpz_mpoly

Quotient = tuple[fmpz_mpoly, fmpz_mpoly]
"""The polynomials of a numerator and a denominator."""

ULP, TINY, WIDER = 2.0**-52, 1e-300, 1 + 2.0**-48
UNKNOWN = float("inf")
"""The error bound of a float that may be arbitrarily wrong."""


def combined(sign: str, first: Quotient, second: Quotient) -> Quotient:
    """Return the sum, difference, product or quotient of two quotients, not in lowest terms. The operation ``sign`` is
    + - * or /.
    """
    (a, b), (c, d) = first, second
    if sign == "*":
        return a * c, b * d
    if sign == "/":
        return a * d, b * c
    return (a * d + c * b if sign == "+" else a * d - c * b), b * d


def image_step(sign: str, first: int, second: int, prime: int) -> int:
    """Return the sum, difference, product or quotient of two residues modulo a prime."""
    if sign == "/":
        return first * pow(second, -1, prime) % prime
    return (first + second if sign == "+" else first - second if sign == "-" else first * second) % prime


def around(sign: str, first: tuple[float, float], second: tuple[float, float]) -> tuple[float, float]:
    """Return the sum, difference, product or quotient of two floats with error bounds, and an error bound of the
    result.
    """
    # The relative error of IEEE rounding is at most 2^-52 in any rounding mode.
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
    """Return the float nearest to a rational, and a bound on its error."""
    try:
        middle = float(value)
    except OverflowError:
        return 0.0, UNKNOWN
    return middle, ULP * abs(middle) + TINY


def ball_of(polynomial: fmpz_mpoly, generators: list[arb]) -> arb:
    """Return a ball that contains the value of a polynomial, from balls that contain the generators."""
    total = arb(0)
    for exponents, coefficient in polynomial.to_dict().items():
        term = arb(coefficient)
        for generator, power in zip(generators, exponents, strict=True):
            if power:
                term *= generator ** int(power)
        total += term
    return total

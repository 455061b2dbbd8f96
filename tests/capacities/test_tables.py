"""Tables 4 to 7 of Fernandes et al.: every printed capacity, as an exact closed form, and far beyond the tables."""

from fractions import Fraction
from math import log2, sqrt

import pytest

from utmost.capacities import capacity
from utmost.privacy_types import PrivacyType
from utmost.spaces import counts, discrete, grid, hamming

HALF = Fraction(1, 2)
ALPHAS = (HALF, Fraction(1, 1000), Fraction(999, 1000), Fraction(3, 7))


def capacities(space, **level):
    ptype = PrivacyType(space, **level)
    found = capacity(ptype), capacity(ptype, kind="additive")
    assert all(capacity.certificate.verify() for capacity in found)
    return found


TABLE_4 = {2: ("4/3", "1/3"), 3: ("5/3", "1/2"), 4: ("2", "2/3"), 5: ("7/3", "3/4"), 6: ("8/3", "5/6")}
TABLE_5 = {2: ("4/3", "1/3"), 3: ("3/2", "2/5"), 4: ("8/5", "3/7"), 5: ("5/3", "4/9")}
TABLE_7 = {2: ("16/9", "5/9"), 3: ("64/27", "19/27"), 4: ("256/81", "65/81")}
RATIONAL = {
    **{f"line of {n}": (counts(n - 1), values) for n, values in TABLE_4.items()},
    **{f"{n} equally distant": (discrete(n), values) for n, values in TABLE_5.items()},
    **{f"{b} bits": (hamming(b), values) for b, values in TABLE_7.items()},
}


@pytest.mark.parametrize("name", RATIONAL)
def test_tables_4_5_and_7_exactly(name):
    space, expected = RATIONAL[name]
    found = capacities(space, alpha=HALF)
    assert tuple(str(capacity.value) for capacity in found) == expected
    assert all(capacity.is_exact for capacity in found)


def test_table_6_to_every_printed_digit():
    """Table 6 prints 1.68, 0.48; 2.5, 0.62; 3.53, 0.79."""
    t, f = 2.0 ** sqrt(2), 2.0 ** sqrt(5)
    expected = {
        2: (4 / (2 + 1 / t), 1 - 4 / (5 + t), (1.68, 0.48)),
        3: (2.502366599550, 1 - 1 / t, (2.5, 0.62)),
        4: (3.534014968422, 1 - 4 / (t + 2 * f + t * t), (3.53, 0.79)),
    }
    for side, (multiplicative, additive, printed) in expected.items():
        found = capacities(grid(side, side), alpha=HALF)
        assert float(found[0]) == pytest.approx(multiplicative, rel=1e-12)
        assert float(found[1]) == pytest.approx(additive, rel=1e-12)
        digits = (1, 2) if side == 3 else (2, 2)
        assert tuple(round(float(c), d) for c, d in zip(found, digits, strict=True)) == printed
        assert all(capacity.gap < 1e-13 for capacity in found)


@pytest.mark.parametrize(("n", "a"), [*((n, a) for n in (1, 2, 3, 7, 100) for a in ALPHAS), (1000, HALF)])
def test_the_line_has_its_closed_form(n, a):
    found = capacities(counts(n - 1), alpha=a)
    assert found[0].value == ((n * (1 - a) + 2 * a) / (1 + a) if n > 1 else 1)
    m = (n - 1) // 2
    assert found[1].value == (1 - a**m if n % 2 else 1 - 2 * a ** (m + 1) / (1 + a))


@pytest.mark.parametrize("a", ALPHAS, ids=str)
@pytest.mark.parametrize("n", [1, 2, 5, 1000, 10**6])
def test_equal_distances_have_their_closed_form_with_corollary_22_corrected(n, a):
    """Corollary 22 prints 1 - 1/(1 + (n-1) q) for the additive capacity; Table 5 and the programs say n for the 1."""
    found = capacities(discrete(n), alpha=a)
    assert found[0].value == n / (1 + (n - 1) * a)
    assert found[1].value == 1 - n / (1 + (n - 1) / a)


@pytest.mark.parametrize("a", ALPHAS, ids=str)
@pytest.mark.parametrize("bits", [1, 2, 10, 20])
def test_strings_of_bits_have_their_closed_form(bits, a):
    found = capacities(hamming(bits), alpha=a)
    assert found[0].value == (2 / (1 + a)) ** bits
    assert found[1].value == 1 - (2 * a / (1 + a)) ** bits


def test_twenty_bits_have_no_matrix():
    found = capacity(PrivacyType(hamming(20), alpha=HALF))
    assert found.mechanism.shape == (2**20, 2**20)


def test_forty_by_forty_places_by_their_magnitude():
    found = capacity(PrivacyType(grid(40, 40), alpha=HALF))
    assert float(found) == pytest.approx(140.2987469237, abs=5e-11)
    assert (found.method, found.certificate.verify()) == ("magnitude", True)
    assert found.gap <= 1e-13


@pytest.mark.slow
def test_sixty_by_sixty_places_with_certificates():
    ptype = PrivacyType(grid(60, 60), alpha=HALF)
    found = capacity(ptype)
    assert float(found) == pytest.approx(300.9060239332, abs=5e-11)
    assert (found.method, found.certificate.verify()) == ("magnitude", True)
    assert found.gap <= 2e-13
    added = capacity(ptype, kind="additive")
    assert 1 - 1e-12 < added.lower <= added.upper < 1
    assert added.certificate.verify()


@pytest.mark.parametrize("side", [5, 9, 41])
def test_an_odd_lattice_has_the_additive_capacity_of_its_diagonal(side):
    """1 - alpha^D, D from the middle to a corner, at any number of places."""
    found = capacity(PrivacyType(grid(side, side), epsilon="1/10"), kind="additive")
    assert 1 - float(found) == pytest.approx(2 ** (-log2(2.718281828459045) / 10 * sqrt(2) * (side // 2)), rel=1e-9)
    assert found.gap < 1e-15
    assert found.certificate.verify()

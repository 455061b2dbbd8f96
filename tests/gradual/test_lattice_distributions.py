"""Distributions alpha^|x| by Euclidean distance on lattices: lossless on the plane as far as seen, not in space."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import fmpz_poly

from utmost.exact import Surd, exp_interval

PAIRS = ((0.25, 0.5), (0.5, 1), (1, 2), (1, 1.5), (0.5, 0.6), (1, 1.1), (2, 3), (2, 4), (3, 5))


def difference_by_fft(lower, higher, dimension, size):
    """W = V_1 - V_2 for two densities like exp(-epsilon |x|), by discrete Fourier transforms on a torus, and V_1."""
    axis = np.fft.fftfreq(size, 1 / size)
    distance = np.sqrt(sum(grid**2 for grid in np.meshgrid(*[axis] * dimension, indexing="ij")))
    one, two = (np.exp(-epsilon * distance) for epsilon in (lower, higher))
    one, two = one / one.sum(), two / two.sum()
    return np.fft.ifftn(np.fft.fftn(one) / np.fft.fftn(two)).real, one


@pytest.mark.parametrize(("lower", "higher"), PAIRS)
def test_planar_distributions_are_lossless_wherever_floats_can_tell(lower, higher):
    """Evidence, no proof: W > 0 wherever it stands out of the rounding, and never below it elsewhere."""
    W, one = difference_by_fft(lower, higher, 2, 512)
    assert W.min() > -1e-15
    assert (W[one > 1e-12] > 0).all()


def exact_masses(epsilon, reach, bits):
    """exp(-epsilon |x|) 2^bits for |x_i| <= reach in Z^3, each rounded by less than one unit."""
    by_square = {}
    for x in product(range(reach + 1), repeat=3):
        square = sum(c * c for c in x)
        if square not in by_square:
            distance = Surd.sqrt(square).interval(bits + 16)
            by_square[square] = exp_interval(-(distance * epsilon), bits).low
    axis = range(-reach, reach + 1)
    return np.array([by_square[x * x + y * y + z * z] for x, y, z in product(axis, repeat=3)], dtype=object).reshape(
        [2 * reach + 1] * 3
    )


def product_in_space(one, two):
    """The convolution of two arrays of integers, exactly: polynomials in one variable with room for the carries."""
    side = one.shape[0] + two.shape[0] - 1

    def polynomial(array):
        wide = np.zeros([side] * 3, dtype=object)
        wide[tuple(slice(0, n) for n in array.shape)] = array
        return fmpz_poly([int(c) for c in wide.reshape(-1)])

    found = (polynomial(one) * polynomial(two)).coeffs()[: side**3]
    whole = np.zeros(side**3, dtype=object)
    whole[: len(found)] = [int(c) for c in found]
    return whole.reshape([side] * 3)


def middle(array, reach):
    """The part with |x_i| <= reach."""
    at = array.shape[0] // 2
    return array[(slice(at - reach, at + reach + 1),) * 3]


def missed(epsilon, reach):
    """At least the mass of exp(-epsilon |x|) where some |x_i| > reach: at most 24 r^2 + 2 points of largest entry r."""
    return sum((24 * r * r + 2) * exp_interval(-epsilon * r, 200).upper for r in range(reach + 1, reach + 60)) * 2


def test_the_distribution_in_space_is_not_lossless_over_small_steps_below_epsilon_5():
    """From 4.999 to 5 on Z^3, W would need a negative mass at (4, 2, 2): certified in integers.

    With c near the inverse of p_2 and e = p_2 c - 1, the inverse is within |c| |e|/(1 - |e|) of c (sums of absolute
    values); so is W at each point, as no mass of p_1 exceeds 1.
    """
    bits, reach = 160, 12
    unit = 1 << bits
    higher, lower = Fraction(5), Fraction(4999, 1000)
    two, one = exact_masses(higher, reach, bits), exact_masses(lower, reach, bits)
    axis = np.fft.fftfreq(64, 1 / 64)
    torus = np.exp(-5 * np.sqrt(sum(grid**2 for grid in np.meshgrid(*[axis] * 3, indexing="ij"))))
    near = middle(np.fft.fftshift(np.fft.ifftn(1 / np.fft.fftn(torus)).real), reach)
    c = np.array([int(Fraction(float(v)) * unit) for v in near.reshape(-1)], dtype=object).reshape(near.shape)
    for _ in range(2):
        residue = product_in_space(two, c) // unit
        residue[(residue.shape[0] // 2,) * 3] -= unit
        c = c - middle(product_in_space(c, middle(residue, reach)), reach) // unit
    residue = product_in_space(two, c)
    residue[(residue.shape[0] // 2,) * 3] -= unit * unit
    size = Fraction(int(np.abs(c).sum()), unit)
    unknown = Fraction(8 * two.size, unit) + missed(
        lower, reach
    )  # of either distribution: roundings, and what lies outside
    defect = Fraction(int(np.abs(residue).sum()), unit * unit) + size * unknown
    error = size * defect / (1 - defect) + size * unknown
    places = product(range(-reach, reach + 1), repeat=3)
    W = 0
    for y in places:
        x = tuple(a - b for a, b in zip((4, 2, 2), y, strict=True))
        if max(map(abs, x)) <= reach:
            W += int(one[tuple(a + reach for a in x)]) * int(c[tuple(b + reach for b in y)])
    assert Fraction(W, unit * unit) < -error
    assert float(Fraction(W, unit * unit)) == pytest.approx(-4.1e-16, rel=0.1)

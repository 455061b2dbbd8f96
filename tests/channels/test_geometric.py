"""G and its structure: closed forms against dense algebra, exactly, and the corners."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.channels import Channel, GeometricMatrix, Remap, geometric_channel, unbounded_geometric_channel
from utmost.errors import OutOfRange
from utmost.exact import as_array, is_exact, level, matrix_product, to_floats
from utmost.testing import strategies

counts = st.integers(0, 6)


@given(counts, strategies.alphas)
def test_g_is_clamped_two_sided_geometric_noise(n, alpha):
    """G[i, j] = P(clamp(i + Z) = j) with P(Z = z) = (1-a)/(1+a) a^|z|, tails P(Z >= k) = a^k/(1+a)."""
    g = geometric_channel(n + 1, alpha=alpha)
    for i in range(n + 1):
        row = [(1 - alpha) / (1 + alpha) * alpha ** abs(i - j) for j in range(n + 1)]
        row[0] = alpha**i / (1 + alpha)
        row[n] = alpha ** (n - i) / (1 + alpha)
        assert g.matrix[i].tolist() == (row if n else [1])
    assert Channel(g.matrix).same_as(g)


@given(counts, strategies.alphas)
def test_neighbouring_rows_attain_alpha_and_never_pass_it(n, alpha):
    """alpha G[i] <= G[i+1] <= G[i]/alpha, with equality everywhere, one way or the other."""
    up, down = geometric_channel(n + 1, alpha=alpha).matrix[:-1], geometric_channel(n + 1, alpha=alpha).matrix[1:]
    assert (alpha * up <= down).all()
    assert (alpha * down <= up).all()
    assert ((alpha * up == down) | (alpha * down == up)).all()


@given(st.data(), counts, strategies.alphas)
def test_products_without_forming_g_are_products_with_g(data, n, alpha):
    """The sweeps and the tridiagonal inverse agree with the matrix, exactly."""
    g = GeometricMatrix(n + 1, level(alpha=alpha))
    x = data.draw(strategies.channels(n + 1, 3)).matrix
    dense = g.matrix()
    assert (g.product(x) == matrix_product(dense, x)).all()
    assert (g.transpose_product(x) == matrix_product(dense.T, x)).all()
    assert (g.inverse_product(g.product(x)) == x).all()
    assert (g.product(g.inverse_product(x)) == x).all()
    assert (g.inverse_transpose_product(g.transpose_product(x)) == x).all()
    assert (g.product(x[:, 0]) == g.product(x)[:, 0]).all()
    assert (g.inverse_transpose_product(x[:, 1]) == g.inverse_transpose_product(x)[:, 1]).all()


@given(counts, strategies.alphas)
def test_the_inverse_is_tridiagonal(n, alpha):
    """G^{-1} = diag(1/c) T / (1 - a^2): -a beside the diagonal, 1 at both ends and 1 + a^2 inside."""
    g = GeometricMatrix(n + 1, level(alpha=alpha))
    inverse = g.inverse_product(as_array(np.eye(n + 1, dtype=int)))
    if n == 0:
        assert inverse.tolist() == [[1]]
        return
    t = inverse * g.scales()[:, None] * (1 - alpha**2)
    i = np.arange(n + 1)
    assert (t[abs(i[:, None] - i) == 1] == -alpha).all()
    assert (t[abs(i[:, None] - i) > 1] == 0).all()
    assert np.diag(t).tolist() == [1] + [1 + alpha**2] * (n - 1) + [1]
    assert (inverse.sum(axis=1) == 1).all()


@given(counts, strategies.levels)
def test_the_determinant(n, at):
    """det G = (1-a)^(2n-1) / (1+a), and elimination agrees; for n = 0 it is 1."""
    g = GeometricMatrix(n + 1, at)
    a = float(at.alpha)
    if n:
        assert float(g.determinant()) == pytest.approx(float(1 - at.alpha) ** (2 * n - 1) / (1 + a), rel=1e-6, abs=0)
    if at.is_rational:
        assert g.determinant() == _determinant(g.matrix())


def _determinant(matrix):
    rows, value = [list(row) for row in matrix], Fraction(1)
    for k in range(len(rows)):
        value *= rows[k][k]
        for below in rows[k + 1 :]:
            factor = below[k] / rows[k][k]
            below[k:] = [x - factor * y for x, y in zip(below[k:], rows[k][k:], strict=True)]
    return value


@given(st.data(), counts, strategies.levels)
def test_floats_agree_with_fractions(data, n, at):
    """In float64 structure, dense matrix and exact values agree to rounding, also for alpha near 0 and 1."""
    g = GeometricMatrix(n + 1, at)
    x = to_floats(data.draw(strategies.channels(n + 1, 2)).matrix)
    dense = g.matrix(floats=True)
    assert dense.dtype == np.float64
    np.testing.assert_allclose(dense.sum(axis=1), 1, rtol=1e-14)
    np.testing.assert_allclose(g.product(x), dense @ x, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(g.transpose_product(x), dense.T @ x, rtol=1e-12, atol=1e-300)
    scale = 1e-15 / float(-np.expm1(-at.epsilon_float)) ** 2
    np.testing.assert_allclose(g.inverse_product(g.product(x)), x, atol=10 * scale)
    np.testing.assert_allclose(g.inverse_transpose_product(g.transpose_product(x)), x, atol=10 * scale)
    if at.is_rational:
        np.testing.assert_allclose(dense, to_floats(g.matrix()), rtol=1e-13)
        assert g.product(x).dtype == np.float64


def test_the_kind_follows_alpha_and_the_columns():
    """Exact with exact for rational alpha; one float on either side makes float64."""
    half, e = level(alpha="1/2"), level(1)
    x = as_array([[1], [0]])
    assert is_exact(GeometricMatrix(2, half).product(x))
    assert not is_exact(GeometricMatrix(2, e).product(x))
    assert not is_exact(GeometricMatrix(2, half).inverse_product(to_floats(x)))
    assert geometric_channel(4, alpha=0.5).is_exact
    assert not geometric_channel(4, epsilon=0.5).is_exact
    assert geometric_channel(4, half).same_as(geometric_channel(4, alpha="1/2"))


def test_figure_1_of_fernandes_et_al_is_g():
    """The channel of Figure 1 is G for n = 2 and alpha = 1/2."""
    figure = [["2/3", "1/6", "1/6"], ["1/3", "1/3", "1/3"], ["1/6", "1/6", "2/3"]]
    assert geometric_channel(3, alpha="1/2").same_as(Channel(figure))


def test_figure_2_of_ghosh_et_al_is_g_remapped():
    """The mechanism of Figure 2 is G(1/2) on {0..5} with the remap 0, 2, 2, 3, 4, 5."""
    rows = (geometric_channel(6, alpha="1/2") @ Remap([0, 2, 2, 3, 4, 5], 6)).matrix
    assert rows[0].tolist() == [Fraction(x) for x in ("2/3", "0", "1/4", "1/24", "1/48", "1/48")]
    assert rows[3].tolist() == [Fraction(x) for x in ("1/12", "0", "1/4", "1/3", "1/6", "1/6")]


def test_large_counts_need_no_matrix():
    """n = 10 000: the product and its inverse on one column, without the 10^8 entries."""
    g = GeometricMatrix(10_001, level("1/10"))
    x = np.sin(np.arange(10_001.0))
    np.testing.assert_allclose(g.inverse_product(g.product(x)), x, atol=1e-12)
    assert abs(g.product(np.ones(10_001)) - 1).max() < 1e-12


def test_tiny_and_huge_levels():
    """epsilon = 10^-6 and 50: rows are distributions, and the scales do not cancel."""
    for e in (1e-6, 3e-7, 7e-9):
        assert GeometricMatrix(4, level(e)).scales()[1] == pytest.approx(e / 2 * (1 - e * e / 12), rel=1e-15, abs=0)
    tiny = GeometricMatrix(4, level("1e-6"))
    assert tiny.determinant() == pytest.approx(1e-30 / 2, rel=1e-5, abs=0)
    huge = geometric_channel(5, epsilon=50)
    assert huge.matrix[0, 1] == pytest.approx(np.exp(-50), rel=1e-14, abs=0)
    assert Channel(huge.matrix).shape == (5, 5)
    exact = geometric_channel(3, alpha=Fraction(1, 10**40))
    assert exact.matrix[0, 2] == Fraction(1, 10**80) / (1 + Fraction(1, 10**40))


@given(counts, strategies.alphas)
def test_the_unbounded_mechanism_has_the_hyper_of_the_clamped_one(n, alpha):
    """Merging the columns that say the same turns the folded unbounded mechanism into G, exactly."""
    unbounded = unbounded_geometric_channel(n + 1, alpha=alpha)
    i = np.arange(n + 1)
    assert (unbounded.matrix[:, 0] == [alpha ** (k + 1) / (1 + alpha) for k in i]).all()
    assert (unbounded.matrix[:, -1] == [alpha ** (n - k + 1) / (1 + alpha) for k in i]).all()
    inside = (1 - alpha) / (1 + alpha)
    assert unbounded.matrix[:, 1:-1].tolist() == [[inside * alpha ** abs(k - j) for j in range(n + 1)] for k in i]
    assert unbounded.outcomes == ("< 0", *range(n + 1), f"> {n}")
    assert unbounded.merge_columns().same_as(geometric_channel(n + 1, alpha=alpha))


def test_the_unbounded_mechanism_in_floats():
    """The same up to rounding."""
    merged = unbounded_geometric_channel(6, epsilon="1/3").merge_columns()
    assert merged.same_as(geometric_channel(6, epsilon="1/3"), tolerance=1e-15)


def test_columns_have_a_row_for_each_count():
    with pytest.raises(OutOfRange):
        GeometricMatrix(4, level(1)).product(np.ones((3, 1)))

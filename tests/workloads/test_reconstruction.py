"""Least squares from measured families: exactly unbiased, equal to dense least squares, with the variances claimed."""

from fractions import Fraction
from itertools import product
from math import cosh, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.errors import NotDetermined, Unsupported
from utmost.exact import Level, level

# The factors that a plan multiplies are compared with dense matrices.
from utmost.publish.workloads.measuring.forms import ProductForm, group_of, selected
from utmost.publish.workloads.reconstruction.least_squares import Reconstruction, precision_weights
from utmost.workloads import Domain, bins, hierarchy

EVEN = {"N": ["a", "b"], "S": ["c", "d"], "W": ["e", "f"]}


@st.composite
def domains(draw):
    """Small domains: one to three axes, plain ones, even trees and bins, some of one value."""
    axes = {}
    for name in draw(st.sampled_from(["x", "xy", "xyz"])):
        kind = draw(st.sampled_from(["plain", "bins", "tree"])) if len(axes) < 2 else "plain"
        if kind == "tree":
            axes[name] = hierarchy(EVEN, names=[f"{name} region", f"{name} district"])
        elif kind == "bins":
            axes[name] = bins(draw(st.sampled_from([1, 4, 6])))
        else:
            axes[name] = list(range(draw(st.integers(1, 2))))
    return Domain(axes)


@st.composite
def weighed(draw, *, cells=False):
    """A domain, and integers for weights of some of its families."""
    domain = draw(domains())
    families = list(domain.families())
    chosen = draw(st.lists(st.sampled_from(families), min_size=1, max_size=4, unique=True))
    chosen = sorted({*chosen, domain.finest}) if cells else chosen
    return domain, {family: draw(st.integers(1, 40)) for family in chosen}


def matrix(domain, family):
    """The 0/1 matrix of a family's sums, from the sums of unit vectors."""
    n = domain.size
    group = domain.spread(np.arange(np.prod(domain.group_shape(family))), family).ravel()
    return (group == np.arange(group.max() + 1)[:, None]).astype(float) * np.ones(n)


def dense(domain, weights):
    """A and diag(q), stacked over the measured families."""
    parts = [matrix(domain, family) for family in weights]
    return np.vstack(parts), np.repeat([float(w) for w in weights.values()], [len(part) for part in parts])


@given(weighed(cells=True))
def test_least_squares_of_sums_without_noise_is_the_sums_in_rationals(case):
    """B A = I in Fractions, with rounded weights: the estimate is exactly unbiased, for every cell and every family."""
    domain, weights = case
    reconstruction = Reconstruction(domain, weights)
    for j in (0, domain.size // 2, domain.size - 1):
        cells = np.zeros(domain.shape, dtype=object)
        cells.ravel()[j] = 10**15 + j
        measured = {family: domain.sums(cells, family) for family in weights}
        for family in domain.families():
            found, divisor = reconstruction.estimates(measured, family)
            assert (found == divisor * domain.sums(cells, family)).all()


@given(weighed(), st.integers(0, 2**32))
def test_estimates_are_those_of_dense_least_squares(case, seed):
    """W (A' P A)^+ A' P y, where the sums determine W; NotDetermined where they do not."""
    domain, weights = case
    reconstruction = Reconstruction(domain, weights)
    A, q = dense(domain, weights)
    draw = np.random.default_rng(seed)
    measured = {family: draw.integers(-50, 50, domain.group_shape(family)) for family in weights}
    y = np.concatenate([one.ravel() for one in measured.values()])
    inverse = np.linalg.pinv((A.T * q) @ A, rcond=1e-9)
    for family in domain.families():
        W = matrix(domain, family)
        known = np.allclose(W @ inverse @ ((A.T * q) @ A), W, atol=1e-7)
        if not known:
            with pytest.raises(NotDetermined, match="share of the level"):
                reconstruction.estimates(measured, family)
            continue
        found, divisor = reconstruction.estimates(measured, family)
        want = W @ inverse @ (A.T @ (q * y))
        assert np.allclose((found.astype(object) / divisor).astype(float).ravel(), want, atol=1e-6)
        assert np.allclose(reconstruction.floats(measured, family).ravel(), want, atol=1e-6)


@given(weighed(), st.data())
def test_variance_by_eigenspaces_is_that_of_the_coefficients_and_of_dense_least_squares(case, data):
    """sum c_i^2 v_i = sum_T |Q_T w|^2 (sum m_S q_S^2 v_S) / lambda_T^2 = w' B diag(v) B' w."""
    domain, weights = case
    reconstruction = Reconstruction(domain, weights)
    where = {}
    for axis in domain.axes:
        if data.draw(st.booleans()):
            where[axis.levels[0]] = data.draw(st.lists(st.sampled_from(axis.labels[0]), min_size=1, unique=True))
    form = selected(domain, where)
    A, q = dense(domain, weights)
    w = prod(
        (
            f.astype(float).reshape([-1 if i == a else 1 for i in range(len(domain.axes))])
            for a, f in enumerate(form.factors)
        ),
        start=np.ones(domain.shape),
    ).ravel()
    inverse = np.linalg.pinv((A.T * q) @ A, rcond=1e-9)
    v = {family: 1 + place / 3 for place, family in enumerate(weights)}
    if not np.allclose(w @ inverse @ ((A.T * q) @ A), w, atol=1e-7):
        with pytest.raises(NotDetermined):
            reconstruction.check_determined(form)
        with pytest.raises(NotDetermined):
            reconstruction.variances([form], v)
        return
    c = q * (A @ inverse @ w)
    want = (c**2 * np.repeat([v[f] for f in weights], [prod(domain.group_shape(f)) for f in weights])).sum()
    assert reconstruction.variances([form], v)[0] == pytest.approx(want, rel=1e-8)
    terms = reconstruction.terms(form)
    assert sum(float(key[0]) ** 2 * n * v[f] for f, t in terms.items() for key, n in t.items()) == pytest.approx(want)
    listed = sorted(abs(float(key[0])) for t in terms.values() for key, n in t.items() for _ in range(n))
    assert np.allclose(listed, sorted(abs(c[abs(c) > 1e-9])), atol=1e-7)
    measured = {f: np.arange(prod(domain.group_shape(f))).reshape(domain.group_shape(f)) ** 2 for f in weights}
    y = np.concatenate([one.ravel() for one in measured.values()])
    assert float(reconstruction.value(measured, form)) == pytest.approx(c @ y, abs=1e-6)
    twice = ProductForm(domain, (2 * form.factors[0], *form.factors[1:]), 3)
    assert reconstruction.variances([form, twice], v).tolist() == pytest.approx([want, want * 4 / 9], rel=1e-8)
    value = reconstruction.value(measured, form)
    assert reconstruction.values(measured, [form, twice, form]) == [value, value * 2 / 3, value]


def test_coefficients_along_an_axis_and_ratios_have_terms_of_their_own():
    """The mean's numerator: coefficients of an axis; two forms share one list of terms, with a coefficient for each."""
    domain = Domain(age=bins(0, 8, width=2), sex=["men", "women"])
    weights = {(0, 0): 3, (1, 1): 2, (2, 0): 5}
    reconstruction = Reconstruction(domain, weights)
    years, people = selected(domain, {"sex": "men"}, {"age": "midpoints"}), selected(domain, {"sex": "men"})
    A, q = dense(domain, weights)
    B = np.linalg.inv((A.T * q) @ A)
    w = np.outer([1, 3, 5, 7], [1, 0]).ravel()
    u = np.outer([1, 1, 1, 1], [1, 0]).ravel()
    want = sorted(np.round(np.c_[q * (A @ B @ w), q * (A @ B @ u)], 9).tolist())
    terms = reconstruction.terms(years, people)
    found = [[round(float(one), 9) for one in key] for t in terms.values() for key, n in t.items() for _ in range(n)]
    assert sorted(found) == sorted(row for row in want if any(row))
    mapped = selected(domain, {"sex": "men"}, {"age/2": {"[0, 4)": "1/2", "[4, 8)": 3}})
    assert [str(Fraction(int(f)) / mapped.denominator) for f in mapped.factors[0]] == ["1/2", "1/2", "3", "3"]


@given(st.lists(st.fractions(Fraction(1, 10**6), 90), min_size=1, max_size=4))
def test_weights_are_precisions_within_a_millionth(epsilons):
    """q_S / q_R = p(e_S) / p(e_R) within 10^-6, in integers without a common divisor."""
    weights = precision_weights({(i,): level(e) for i, e in enumerate(epsilons)})
    p = [2 * float(np.sinh(float(e) / 2)) ** 2 for e in epsilons]
    for (i, one), (j, other) in product(enumerate(weights.values()), repeat=2):
        assert one / other == pytest.approx(p[i] / p[j], rel=1e-6)


def test_weights_at_extreme_levels():
    """Rational alphas give small integers; 10^-6, 50 and 10^5 give weights at all."""
    assert precision_weights({(0,): level(alpha="1/2"), (1,): level(alpha="1/2")}) == {(0,): 1, (1,): 1}
    wide = precision_weights({(0,): level("1e-6"), (1,): level(50), (2,): level(10**5)})
    assert wide[(1,)] / wide[(0,)] == pytest.approx((cosh(50) - 1) / 5e-13, rel=1e-5)
    assert wide[(2,)] > wide[(1,)]
    assert precision_weights({(0,): Level(None, Fraction(1, 10**400)), (1,): level(1)})[(0,)] == 1


def test_only_measured_levels_must_be_even():
    """Groups of different sizes may be asked for and not measured: sums over them are sums of cells."""
    domain = Domain(place=hierarchy({"N": ["a", "b", "c"], "S": ["d"]}, names=["region", "district"]), sex=["m", "w"])
    with pytest.raises(Unsupported, match="one size"):
        Reconstruction(domain, {domain.family("region"): 1})
    reconstruction = Reconstruction(domain, {domain.finest: 2, domain.family("sex"): 1, domain.family("district"): 3})
    cells = np.arange(8).reshape(4, 2) * 7
    measured = {family: domain.sums(cells, family) for family in reconstruction.weights}
    found, divisor = reconstruction.estimates(measured, domain.family("region sex"))
    assert (found == divisor * domain.sums(cells, domain.family("region sex"))).all()
    assert reconstruction.value(measured, selected(domain, {"region": "N"})) == cells[:3].sum()


def test_what_is_not_determined_names_what_to_measure():
    """Marginals alone determine marginals and the total; the cells need a share."""
    domain = Domain(a=["x", "y"], b=["u", "v", "w"])
    reconstruction = Reconstruction(domain, {domain.family("a"): 1, domain.family("b"): 2})
    measured = {(0, 1): np.array([5, 7]), (1, 0): np.array([4, 4, 4])}
    assert reconstruction.value(measured, group_of(domain, (1, 1))) == 12
    found, divisor = reconstruction.estimates(measured, (0, 1))
    assert (found == divisor * np.array([[5], [7]])).all()
    with pytest.raises(NotDetermined, match="share of the level to 'a b'"):
        reconstruction.estimates(measured, (0, 0))
    with pytest.raises(NotDetermined):
        reconstruction.value(measured, selected(domain, {"a": "x", "b": "u"}))


def test_a_hundred_thousand_cells_take_a_second_and_one_answer_takes_its_axes():
    """300 x 333 with both marginals: exact estimates of all cells, and the terms of an answer."""
    domain = Domain(a=list(range(300)), b=list(range(333)))
    families = {family: 10**7 + i for i, family in enumerate(domain.families())}
    reconstruction = Reconstruction(domain, families)
    cells = np.arange(domain.size).reshape(domain.shape)
    measured = {family: domain.sums(cells, family) for family in families}
    found, divisor = reconstruction.estimates(measured, (0, 0))
    assert found[17, 5] == divisor * int(cells[17, 5])
    assert found[299, 332] == divisor * int(cells[299, 332])
    terms = reconstruction.terms(selected(domain, {"a": list(range(17)), "b": [3, 4]}))
    assert sum(sum(one.values()) for one in terms.values()) == domain.size + 300 + 333 + 1
    assert max(len(one) for one in terms.values()) <= 4


def test_an_answer_about_two_of_forty_columns_needs_two_columns():
    """All pairs of forty columns, 2^40 cells: the terms of a pair, whose variance is that of the symmetric design."""
    domain = Domain({f"c{at}": ["no", "yes"] for at in range(40)})
    pairs = [tuple(0 if at in (i, j) else 1 for at in range(40)) for i in range(40) for j in range(i)]
    reconstruction = Reconstruction(domain, dict.fromkeys(pairs, 1))
    terms = reconstruction.terms(group_of(domain, pairs[0]))
    variance = sum(float(c) ** 2 * n for each in terms.values() for (c,), n in each.items())
    # A sum of four equal parts of its mean, two contrasts of one column, one of both: seen 780, 39 and 1 times.
    assert variance == pytest.approx((1 / 780 + 2 / 39 + 1) / 4)
    with pytest.raises(NotDetermined):
        reconstruction.check_family_determined(domain.finest)


def test_forms_travel(tmp_path):
    """A form and a reconstruction are rebuilt by pickle with read-only arrays."""
    import pickle

    domain = Domain(a=["x", "y"])
    form: ProductForm = pickle.loads(pickle.dumps(selected(domain, {"a": "x"})))
    assert form.factors[0].tolist() == [1, 0]
    assert not form.factors[0].flags.writeable
    assert pickle.loads(pickle.dumps(Reconstruction(domain, {(0,): 2}))).weights == {(0,): 2}

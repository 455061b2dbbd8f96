"""Hat functions: their loads and their privacy by enumeration, least squares exactly unbiased, errors as dense matrices
say."""

from fractions import Fraction
from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.errors import NotDetermined, OutOfRange, Unsupported
from utmost.exact import level
from utmost.noise import Geometric
from utmost.privacy import Unit

# The factors that a plan multiplies are compared with dense matrices.
from utmost.publish.promises.sum_laws import noise_laws
from utmost.publish.workloads.measuring.forms import ProductForm
from utmost.publish.workloads.measuring.measured_families import load_of, measured_family
from utmost.publish.workloads.measuring.ways_to_measure import measurement_of
from utmost.publish.workloads.planning.searches import hat_functions
from utmost.publish.workloads.reconstruction.certain_inverse import rounded_inverse
from utmost.publish.workloads.reconstruction.hat_reconstruction import HatReconstruction
from utmost.publish.workloads.reconstruction.least_squares import precision_weights
from utmost.tables.axes.hat_functions import hat_count, hat_rows, hat_spread, hat_sums
from utmost.workloads import Domain, Plan, Workload, bins, choose_plan, hierarchy
from workload_cases import precision

ONE = Unit(1, 1)
PLACE = hierarchy({"A": [1, 2], "B": [3, 4]}, names=["region", "district"])
CASES = {
    "one axis": (Domain(age=range(5)), {(0,): 3, (-2,): 1}),
    "two spacings, runs and the total": (Domain(age=bins(12)), {(0,): 3, (-2,): 7, (-5,): 2, (1,): 4, (3,): 9}),
    "beside an axis": (Domain(sex=["m", "f"], age=range(7)), {(0, 0): 3, (0, -3): 7, (1, -3): 2, (1, 1): 5, (0, 1): 4}),
    "beside a tree": (
        Domain(sex=["m", "f"], age=range(6), place=PLACE),
        {(1, 0, 0): 3, (1, -3, 1): 7, (1, -2, 2): 2, (1, 1, 0): 5, (1, 0, 1): 4},
    ),
    "another axis in total alone": (Domain(sex=["m", "f"], age=range(6)), {(1, 0): 3, (1, -3): 7, (0, 1): 4}),
    "a wider hat function than the axis": (Domain(age=range(4)), {(0,): 1, (-9,): 5}),
    "one value": (Domain(age=range(1)), {(0,): 3, (-3,): 7}),
}


def dense(domain, family):
    """The rows that a family measures; (sums, cells)."""
    factors = [
        hat_rows(axis.size, -one)
        if one < 0
        else (axis.group_of(one)[None] == np.arange(axis.groups(one))[:, None]).astype(int)
        for axis, one in zip(domain.axes, family, strict=True)
    ]
    return reduce(np.kron, factors)


@given(st.integers(1, 70), st.integers(2, 90))
def test_every_value_has_the_load_of_its_spacing(size, spacing):
    """A cell's weights in the hat functions of spacing s add up to s, in two neighbours at most; every hat function has
    a value."""
    rows = hat_rows(size, spacing)
    assert rows.shape == (hat_count(size, spacing), size)
    assert (rows.sum(axis=0) == spacing).all()
    assert ((rows > 0).sum(axis=0) <= 2).all()
    assert (rows.sum(axis=1) > 0).all()
    assert rows.max(initial=0) <= spacing
    assert rows.min() >= 0


@given(st.integers(1, 30), st.integers(2, 40), st.sampled_from([np.int64, object, np.float64]))
def test_sums_and_their_transpose_are_the_rows(size, spacing, kind):
    rows, draw = hat_rows(size, spacing), np.random.default_rng(size)
    values = draw.integers(-99, 99, (3, size, 2)).astype(kind)
    sums = hat_sums(values, spacing, 1)
    assert (sums == np.einsum("tn,anb->atb", rows, values)).all()
    assert sums.dtype == values.dtype
    back = draw.integers(-99, 99, (2, len(rows))).astype(kind)
    assert (hat_spread(back, size, spacing, 1) == back @ rows).all()


def test_sums_do_not_wrap():
    """Hat functions of values near 2^62 are Python ints."""
    domain = Domain(age=range(40))
    cells = np.full(40, (1 << 62) // 40 - 1, dtype=np.int64)
    assert domain.sums(cells, (-16,)).tolist() == (hat_rows(40, 16).astype(object) @ cells.astype(object)).tolist()


@pytest.mark.parametrize("unit", [Unit(1, 1), Unit(2, 1), Unit(1, 2)], ids=["one", "by two", "two cells"])
def test_the_joint_ratio_is_the_level_exactly(unit):
    """Over all answers the largest ratio for a change of the unit's cells is exp(epsilon): attained, never passed.

    Each sum's largest ratio is found among answers from beyond 0 to beyond its shift, in rationals; noises are
    independent, so that they multiply.
    """
    domain, base = Domain(age=range(5), sex=["m", "f"]), 3**240
    shares = {"age sex": "1/4", "age~2 sex": "1/4", "age~3": "1/2"}
    laws = noise_laws(Plan(domain, unit, shares), level(alpha=Fraction(1, base)))
    s, found = int(unit.sensitivity), set()
    for first in range(domain.size):
        for second in range(first if unit.cells == 2 else domain.size - 1, domain.size):
            for sign in (1, -1):
                shift = np.zeros(domain.size, dtype=np.int64)
                shift[first] = s
                if unit.cells == 2 and second != first:
                    shift[second] = s * sign
                log = Fraction(0)
                for family, law in laws.items():
                    for d in domain.sums(shift.reshape(domain.shape), family).ravel().tolist():
                        most = max(abs(y - d) - abs(y) for y in range(-abs(d) - 1, abs(d) + 2))
                        log += most * (law.ratio.power / Fraction(240 if law.ratio.base == Fraction(1, 3) else 1))
                        assert law.ratio.base in (Fraction(1, 3), Fraction(1, base))
                found.add(log)
    assert max(found) == 1, "in units of the level"


def test_the_noise_of_hats_is_that_of_their_load():
    chosen = Plan(Domain(age=range(50)), Unit(3, 2), {"age": "1/2", "age~8": "1/2"})
    laws = noise_laws(chosen, level(1))
    assert laws[(-8,)].ratio == level(Fraction(1, 2 * 2 * 3 * 8))
    assert laws[(0,)].ratio == level(Fraction(1, 2 * 2 * 3))
    assert isinstance(laws[(-8,)], Geometric)
    assert [load_of(one) for one in ((0, 3), (-8, 1))] == [1, 8]


@pytest.mark.parametrize("name", CASES)
def test_least_squares_is_unbiased_in_rationals_and_that_of_dense_matrices(name):
    """From sums without noise every estimate is the truth exactly; from any, it is (A'QA)^-1 A'Q y up to rounding; and
    the variance of an answer is that of generalised least squares."""
    domain, weights = CASES[name]
    draw = np.random.default_rng(5)
    found = HatReconstruction(domain, weights)
    A = {family: dense(domain, family) for family in weights}
    covariance = np.linalg.pinv(sum(q * A[family].T @ A[family] for family, q in weights.items()), rcond=1e-10)
    cells = draw.integers(-50, 50, domain.shape)
    true = {family: domain.sums(cells, family) for family in weights}
    noisy = {family: sums + draw.integers(-50, 50, sums.shape) for family, sums in true.items()}
    best = covariance @ sum(q * A[family].T @ noisy[family].ravel() for family, q in weights.items())
    known = 0
    for family in domain.families():
        try:
            found.check_family_determined(family)
        except NotDetermined:
            assert name == "another axis in total alone" or "tree" in name
            continue
        known += 1
        sums, divisor = found.estimates(true, family)
        assert (sums.astype(object) == divisor * domain.sums(cells, family).astype(object)).all()
        sums, divisor = found.estimates(noisy, family)
        expected = domain.sums(best.reshape(domain.shape), family)
        assert np.allclose((sums / divisor).astype(float), expected, atol=1e-7)
        assert np.allclose(found.floats(noisy, family), expected, atol=1e-7)
    assert known
    for _ in range(4):
        factors = tuple(draw.integers(-3, 4, axis.size) for axis in domain.axes)
        form = ProductForm(domain, factors, 3)
        row = reduce(np.kron, [np.asarray(factor, dtype=float) for factor in factors]) / 3
        try:
            value = found.value(noisy, form)
        except NotDetermined:
            continue
        assert float(value) == pytest.approx(row @ best, abs=1e-7)
        terms = found.terms(form)
        variance = sum(
            sum(float(key[0]) ** 2 * count for key, count in of.items()) / weights[family]
            for family, of in terms.items()
        )
        assert variance == pytest.approx(row @ covariance @ row, rel=1e-9, abs=1e-12)


def test_the_coefficients_are_unbiased_in_rationals():
    """B A = 1: the coefficients on the measured sums give each cell back, as Fractions."""
    domain, weights = CASES["two spacings, runs and the total"]
    found = HatReconstruction(domain, weights)
    total = np.zeros((12, 12), dtype=object)
    for family in weights:
        for place in range(12):
            unit = {one: np.zeros(domain.group_shape(one), dtype=np.int64) for one in weights}
            for group in range(domain.group_shape(family)[0]):
                unit[family][:] = 0
                unit[family][group] = 1
                sums, divisor = found.estimates(unit, (0,))
                total[place] += Fraction(sums[place]) / divisor * dense(domain, family)[group].astype(object)
    assert (total == np.eye(12, dtype=int)).all()


@given(st.integers(1, 6), st.integers(0, 10**6), st.integers(1, 10**9))
def test_the_rounded_inverse_is_the_inverse_rounded(size, seed, scale):
    """Against an exact inverse in rationals: every entry is the nearest integer."""
    draw = np.random.default_rng(seed)
    rows = draw.integers(-9, 10, (size, size + 1)).astype(object)
    matrix = rows @ rows.T + np.diag(draw.integers(1, 1000, size)).astype(object)
    found = rounded_inverse(matrix, scale)
    exactly = [[Fraction(int(one)) for one in row] for row in matrix]
    identity = [[Fraction(int(i == j)) for j in range(size)] for i in range(size)]
    for i in range(size):  # Gauss and Jordan
        pivot = exactly[i][i]
        exactly[i], identity[i] = [one / pivot for one in exactly[i]], [one / pivot for one in identity[i]]
        for j in range(size):
            if j != i:
                factor = exactly[j][i]
                exactly[j] = [one - factor * other for one, other in zip(exactly[j], exactly[i], strict=True)]
                identity[j] = [one - factor * other for one, other in zip(identity[j], identity[i], strict=True)]
    for i in range(size):
        assert all(abs(identity[i][j] * scale - found[i, j]) <= Fraction(1, 2) for j in range(size))


def test_halves_are_rounded_up_and_nearly_singular_matrices_inverted():
    """An entry that is exactly half an integer is one; floats are no start where the condition is 10^30."""
    assert rounded_inverse(np.array([[2, 0], [0, 4]], dtype=object), 1).tolist() == [[1, 0], [0, 0]]
    assert rounded_inverse(np.array([[2]], dtype=object), 1).tolist() == [[1]]
    large = 10**30
    found = rounded_inverse(np.array([[large + 1, large], [large, large + 1]], dtype=object), 4 * large + 2)
    assert found.tolist() == [[2 * large + 2, -2 * large], [-2 * large, 2 * large + 2]]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 64])
@pytest.mark.parametrize("weights", [(1, 1), (1, 10**16), (1, 10**30), (10**30, 1)])
def test_estimates_are_unbiased_however_far_the_weights_are_apart(size, weights):
    """Hat functions of spacing 4 are sums of hat functions of spacing 2: nearly singular, where the values are hardly
    measured."""
    domain = Domain(age=range(size))
    found = HatReconstruction(domain, {(0,): weights[0], (-2,): weights[1], (-4,): weights[1]})
    truly = np.random.default_rng(size).integers(0, 50, size)
    sums, divisor = found.estimates({family: domain.sums(truly, family) for family in found.weights}, (0,))
    assert [Fraction(int(one), divisor) for one in sums] == truly.tolist()


def dense_variances(workload, shares, epsilon):
    """Of each part the mean variance of its answers, by dense generalised least squares."""
    domain = workload.domain
    N = sum(
        precision(float(share) * epsilon / load_of(family)) * dense(domain, family).T @ dense(domain, family)
        for family, share in shares.items()
    )
    covariance = np.linalg.inv(N)
    return {part.name: float(np.sum(part.gram(domain) * covariance)) for part in workload.parts}


@pytest.mark.parametrize("epsilon", ["0.000001", "0.1", 3, 50])
def test_variances_are_those_of_dense_matrices(epsilon):
    domain = Domain(sex=["m", "f"], age=bins(12))
    wanted = (
        Workload.ranges(domain, "age", by="sex")
        + Workload.prefixes(domain, "age", weight=3)
        + Workload(domain, {"sex age": 1, "age/2": 2, "": 5, "sex=m": 1})
        + Workload.sums(domain, [{"age": slice(2, 7), "sex": "f"}])
    )
    shares = {(0, 0): Fraction(1, 2), (0, -3): Fraction(1, 4), (1, -5): Fraction(1, 8), (1, 1): Fraction(1, 8)}
    found = measurement_of(wanted.domain, shares).variances(wanted, ONE, shares, level(epsilon))
    expected = dense_variances(wanted, shares, float(Fraction(epsilon)))
    assert list(found) == list(expected)
    for name, variance in expected.items():
        assert found[name] == pytest.approx(variance, rel=1e-6)


SMALL = (1, 2, 3, 4, 12)


LARGER = [pytest.param(one, marks=pytest.mark.slow) for one in range(1, 41) if one not in SMALL]


@pytest.mark.parametrize("size", [*SMALL, *LARGER])
def test_never_worse_than_families(size):
    """On ranges, on prefixes, and on both beside tables of another axis."""
    alone = Domain(age=bins(size))
    crossed = Domain(age=bins(size), sex=["m", "f"])
    cases = [
        Workload.ranges(alone, "age"),
        Workload.prefixes(alone, "age") + Workload(alone, {"": 9}),
        Workload.ranges(crossed, "age", by="sex") + Workload(crossed, {"sex": 5}),
    ]
    for wanted in cases:
        for epsilon in ("0.1", 3) if size < 4 else (1,):
            plain = choose_plan(wanted, ONE, epsilon=epsilon, method="marginals")
            found = choose_plan(wanted, ONE, epsilon=epsilon)
            assert found.value <= plain.value * (1 + 1e-9)
            assert sum(found.shares.values()) == 1


@pytest.mark.parametrize(("size", "gain"), [(251, 0.72), pytest.param(1021, 0.29, marks=pytest.mark.slow)])
def test_a_prime_number_of_bins_gains_most(size, gain):
    """Such an axis has no runs to measure: the cells alone were all there was."""
    wanted = Workload.ranges(Domain(age=bins(size)), "age")
    plain = choose_plan(wanted, ONE, epsilon="0.1", method="marginals")
    found = choose_plan(wanted, ONE, epsilon="0.1")
    assert found.value < plain.value * gain
    rows = found.summary().splitlines()
    assert any(line.startswith("hat functions of age") for line in rows)
    assert "hat functions overlap" in found.lower_bounds.not_bounded["these families"]


FIGURES = [
    (256, "ranges", "0.1", 33.53),
    (256, "ranges", 1, 35.98),
    (256, "ranges", 3, 60.41),
    (256, "prefixes", "0.1", 31.36),
    (1024, "ranges", "0.1", 64.49),
    (1024, "ranges", 1, 69.73),
    (1024, "ranges", 3, 123.06),
    (1024, "prefixes", "0.1", 51.31),
    (1024, "prefixes", 1, 55.53),
    (1024, "prefixes", 3, 100.57),
]


@pytest.mark.parametrize(
    ("size", "kind", "epsilon", "figure"),
    [pytest.param(*one, marks=[pytest.mark.slow] if one[0] > 256 else []) for one in FIGURES],
)
def test_the_figures_of_the_theory_page(size, kind, epsilon, figure):
    """In units of the variance at the whole level, to the second digit."""
    wanted = getattr(Workload, kind)(Domain(age=bins(size)), "age")
    found = choose_plan(wanted, ONE, epsilon=epsilon)
    assert found.value * precision(float(epsilon)) == pytest.approx(figure, abs=0.02)


def test_a_tree_of_unequal_groups_has_its_ranges():
    """Ranges over states that differ in size were refused; hat functions answer them."""
    place = hierarchy({"A": [1, 2, 3], "B": list(range(4, 12))}, names=["state", "county"])
    wanted = Workload.ranges(Domain(place=place), "county") + Workload(Domain(place=place), {"state": 1})
    with pytest.raises(Unsupported):
        choose_plan(wanted, ONE, epsilon=1, method="marginals")
    found = choose_plan(wanted, ONE, epsilon=1)
    assert set(found.variances) == {"ranges of county", "state"}


def test_names_are_read_and_written():
    domain = Domain({"age": range(10), "sex": ["m", "f"], "age~4": ["a", "b"]})
    assert measured_family(domain, "age~16 sex") == (-16, 0, 1)
    assert measured_family(domain, "age~4") == (1, 1, 0), "a level of that name comes first"
    assert measured_family(domain, ["sex", "age~5"]) == (-5, 0, 1)
    chosen = Plan(domain, ONE, {"age": "1/2", "age~5": "1/2"})
    assert Plan.of_facts(chosen.facts(), ONE).shares == chosen.shares
    assert str(chosen).splitlines()[1:] == ["hat functions of age, 5 apart  0.5", "age" + " " * 28 + "0.5"]
    with pytest.raises(OutOfRange, match="values apart"):
        measured_family(domain, "age~1")
    with pytest.raises(OutOfRange, match="values apart"):
        measured_family(domain, "age~" + "9" * 5000)
    with pytest.raises(OutOfRange, match="one level of each axis"):
        measured_family(domain, "age age~5")
    with pytest.raises(OutOfRange, match="level of this name"):
        measured_family(domain, "height~5")


def test_what_cannot_be_measured_is_refused():
    domain = Domain(age=range(10), hour=range(24), column=["a", "b"])
    with pytest.raises(Unsupported, match="one axis"):
        Plan(domain, ONE, {"age~2": "1/2", "hour~2": "1/2"})
    with pytest.raises(Unsupported, match="one axis"):
        Plan(domain, ONE, {"age~2 hour~2": 1})
    with pytest.raises(Unsupported, match="beside groups"):
        Plan(domain, ONE, {"age hour column": "1/2", "age~3 column-": "1/2"})
    with pytest.raises(Unsupported, match="cells alone"):
        Plan(domain, Unit(1, 2), {"age hour column": 1, "age hour": "1/2", "age~3 hour": "1/2"}, together="column")
    for shares in ({(-2, 2, 1): 1}, {(0, 1, 1): 1, (-2, 0, 1): 1}):
        with pytest.raises(Unsupported, match="beside the values"):
            measurement_of(domain, shares).reconstruction(shares)
    with pytest.raises(Unsupported, match="at most"):
        HatReconstruction(Domain(age=range(9000)), {(0,): 1, (-3,): 1})
    with pytest.raises(Unsupported, match="ranges and prefixes"):
        choose_plan(Workload(domain, {"age": 1}), ONE, epsilon=1, method="hat functions")
    with pytest.raises(Unsupported, match="mean error"):
        choose_plan(Workload.ranges(domain, "age"), ONE, epsilon=1, method="hat functions", aim="largest")
    with pytest.raises(OutOfRange, match="level of this name"):
        Workload(domain, {"age~2": 1})
    wanted = Workload.ranges(Domain(age=range(10)), "age")
    with pytest.raises(OutOfRange, match="determine every wanted"):
        Plan(Domain(age=range(10)), ONE, {(-2,): "1/2", (1,): "1/2"}, wanted)


def test_an_axis_of_too_many_values(monkeypatch):
    """Past the limits of the search: a typed error where hat functions are asked for, families where they are not."""
    monkeypatch.setattr(hat_functions, "MOST_NUMBERS", 100)
    wanted = Workload.prefixes(Domain(age=bins(64)), "age")
    with pytest.raises(Unsupported, match="widths of hat functions"):
        choose_plan(wanted, ONE, epsilon=1, method="hat functions")
    assert all(family[0] >= 0 for family in choose_plan(wanted, ONE, epsilon=1).shares)
    large = Workload.prefixes(Domain(age=range(9000)), "age")
    with pytest.raises(Unsupported, match="hat functions along an axis at most"):
        Plan(large.domain, ONE, {"age": "1/2", "age~2": "1/2"}, large)


def test_weights_of_least_squares_are_the_precisions():
    """Noise of a hat function of spacing s is s times as wide; the weights say so."""
    chosen = Plan(Domain(age=range(9)), ONE, {"age": "1/2", "age~4": "1/2"})
    weights = precision_weights({family: law.ratio for family, law in noise_laws(chosen, level(1)).items()})
    ratio = precision(0.5) / precision(0.125)
    assert weights[(0,)] / weights[(-4,)] == pytest.approx(ratio, rel=1e-6)

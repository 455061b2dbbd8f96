"""Hat functions: their loads and their privacy by enumeration, least squares exactly unbiased, errors as dense matrices
say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.errors import OutOfRange, Unsupported
from utmost.privacy import Unit
from utmost.workloads import Domain, Plan, Workload, bins, choose_plan, hierarchy
from workload_cases import precision

ONE = Unit(1, 1)


@given(st.integers(1, 70), st.integers(2, 90))
def test_every_value_has_the_load_of_its_spacing(size, spacing):
    """A value's weights in hat functions s apart add up to s, in two neighbours at most; each hat function has a value.

    Values near 2^62 do not wrap, though sums of them are above.
    """
    plan = Plan(Domain(age=range(size)), ONE, {f"age~{spacing}": 1})
    rows = np.array([plan.sums(cell)[(-spacing,)] for cell in np.eye(size, dtype=int)]).T
    assert rows.shape == (*plan.measured_shape((-spacing,)), size)
    assert (rows.sum(axis=0) == spacing).all()
    assert ((rows > 0).sum(axis=0) <= 2).all()
    assert (rows.sum(axis=1) > 0).all()
    assert rows.min() >= 0
    cells = np.full(size, (1 << 62) - 1)
    assert plan.sums(cells)[(-spacing,)].tolist() == (rows.astype(object) @ cells.astype(object)).tolist()


SMALL = (1, 3, 12)


LARGER = [pytest.param(one, marks=pytest.mark.slow) for one in range(1, 41) if one not in SMALL]


@pytest.mark.parametrize("size", [*SMALL, *LARGER])
def test_never_worse_than_marginals(size):
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


SLOW = [pytest.param(*one, marks=pytest.mark.slow) for one in ((251, 0.72), (1021, 0.29))]


@pytest.mark.parametrize(("size", "gain"), [(83, 0.76), *SLOW])
def test_a_prime_number_of_bins_gains_most(size, gain):
    """Such an axis has no runs to measure: the cells alone were all there was."""
    wanted = Workload.ranges(Domain(age=bins(size)), "age")
    plain = choose_plan(wanted, ONE, epsilon="0.1", method="marginals")
    found = choose_plan(wanted, ONE, epsilon="0.1")
    assert found.value < plain.value * gain
    rows = found.summary().splitlines()
    assert any(line.startswith("hat functions of age") for line in rows)
    assert "hat functions overlap" in found.lower_bounds.not_bounded["given marginals"]


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
    values = {"age": "1/2"}
    for words, marginal in (
        ("age~5", (-5, 1, 1)),
        ("age~16 sex", (-16, 0, 1)),
        ("age~4", (1, 1, 0)),
        (["sex", "age~5"], (-5, 0, 1)),
    ):
        named = words if isinstance(words, str) else tuple(words)
        assert marginal in Plan(domain, ONE, {"age sex age~4": "1/2", named: "1/2"}).shares, (
            "a level of a name comes first"
        )
    chosen = Plan(domain, ONE, values | {"age~5": "1/2"})
    assert Plan.of_facts(chosen.facts(), ONE).shares == chosen.shares
    assert str(chosen).splitlines()[1:] == ["hat functions of age, 5 apart  0.5", "age" + " " * 28 + "0.5"]
    for wrong, says in (
        ("age~1", "values apart"),
        ("age~" + "9" * 5000, "values apart"),
        ("age age~5", "one level of each"),
        ("height~5", "level of the given name"),
    ):
        with pytest.raises(OutOfRange, match=says):
            Plan(domain, ONE, values | {wrong: "1/2"})


def test_what_cannot_be_measured_is_refused():
    domain = Domain(age=range(10), hour=range(24), column=["a", "b"])
    with pytest.raises(Unsupported, match="one axis"):
        Plan(domain, ONE, {"age~2": "1/2", "hour~2": "1/2"})
    with pytest.raises(Unsupported, match="one axis"):
        Plan(domain, ONE, {"age~2 hour~2": 1})
    with pytest.raises(Unsupported, match="together with groups"):
        Plan(domain, ONE, {"age hour column": "1/2", "age~3 column-": "1/2"})
    with pytest.raises(Unsupported, match="cannot be combined"):
        Plan(domain, Unit(1, 2), {"age hour column": 1, "age hour": "1/2", "age~3 hour": "1/2"}, together="column")
    with pytest.raises(Unsupported, match="ranges and prefixes"):
        choose_plan(Workload(domain, {"age": 1}), ONE, epsilon=1, method="hat functions")
    with pytest.raises(Unsupported, match="searched only without"):
        choose_plan(Workload.ranges(domain, "age"), ONE, epsilon=1, method="hat functions", aim="largest")
    with pytest.raises(OutOfRange, match="of the given name"):
        Workload(domain, {"age~2": 1})
    wanted = Workload.ranges(Domain(age=range(10)), "age")
    with pytest.raises(OutOfRange, match="determine every wanted"):
        Plan(Domain(age=range(10)), ONE, {(-2,): "1/2", (1,): "1/2"}, wanted)


def test_an_axis_of_too_many_values():
    large = Workload.prefixes(Domain(age=range(9000)), "age")
    with pytest.raises(Unsupported, match=r"2000.*4501"):
        Plan(large.domain, ONE, {"age": "1/2", "age~2": "1/2"}, large)

"""The plan is the least of the searches that apply, and a refusal names what mends it."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost import release
from utmost.counting import CountedTable
from utmost.errors import OutOfRange, Unsupported
from utmost.exact import level
from utmost.privacy import Unit
from utmost.workloads import Domain, Plan, Workload, choose_plan

NEAR = 1 + 2e-9
UNITS = [
    Unit(1, 1),
    Unit(1, 6),
    Unit(1, 6, nonnegative=True),
    Unit(2, 2, "change-one", nonnegative=True),
    Unit(1, 1, "change-one", nonnegative=True, exactly=True),
]


@st.composite
def workloads(draw):
    """Tables of two or three axes with any weights, sometimes with all ranges or prefixes of one."""
    sizes = draw(st.lists(st.integers(2, 4), min_size=2, max_size=3))
    domain = Domain({name: range(size) for name, size in zip("abc", sizes, strict=False)})
    marginals = draw(st.lists(st.sampled_from(list(domain.marginals())), min_size=1, max_size=3, unique=True))
    wanted = [Workload(domain, {marginal: draw(st.sampled_from(["1/3", 1, 5]))}) for marginal in marginals]
    if sizes[0] > 2 and draw(st.booleans()):
        wanted.append(draw(st.sampled_from([Workload.ranges, Workload.prefixes]))(domain, "a"))
    return Workload.of_parts(domain, [part for workload in wanted for part in workload.parts])


WAYS = ["marginals", "independent", "hat functions", "rows", "rotated", "signed"]


@given(workloads(), st.sampled_from(UNITS), st.sampled_from(["1/10", 1, 4]), st.booleans())
@settings(max_examples=4)
def test_the_plan_is_the_least_of_all_searches_that_apply(wanted, unit, epsilon, is_together):
    """Also never worse than noise on the cells alone, and the least of those that it says it tried."""
    together = "b" if is_together and unit.cells % len(wanted.domain.axes[1].labels[0]) == 0 else None
    try:
        chosen = choose_plan(wanted, unit, epsilon=epsilon, together=together, aim="mean")
    except Unsupported:
        assert together is not None
        return
    assert chosen.charge <= 1
    assert chosen.value <= min((value for value in chosen.tried.values() if value is not None), default=np.inf) * NEAR
    cells = Plan(wanted.domain, unit, {wanted.domain.finest: 1}, wanted, level(epsilon))
    assert chosen.value <= cells.value * NEAR
    for method in WAYS[:3] if together is None else WAYS:
        try:
            other = choose_plan(wanted, unit, epsilon=epsilon, together=together, aim="mean", method=method)
        except (Unsupported, OutOfRange):
            continue
        assert chosen.value <= other.value * NEAR, method


@given(workloads(), st.sampled_from(UNITS), st.sampled_from(["1/1000000", "1/10", 1, 4, 50]))
@settings(max_examples=5)
def test_no_table_is_worse_than_noise_of_its_own_at_its_budget_share(wanted, unit, epsilon):
    """By default; the share of a table is proportional to the third root of its weight."""
    chosen = choose_plan(wanted, unit, epsilon=epsilon)
    roots = {part.name: float(part.weight) ** (1 / 3) for part in wanted.parts}
    for part in wanted.parts:
        if unit.exactly:  # a public total has no limit
            continue
        at = level(epsilon).scaled(Fraction(int(10**6 * roots[part.name] / sum(roots.values())), 10**6))
        own = Workload.of_parts(wanted.domain, [part])
        alone = Plan(wanted.domain, chosen.unit, {part.marginal(wanted.domain): 1}, own, at)
        assert chosen.variances[part.name] <= alone.variances[part.name] * (1 + 1e-5)
    assert chosen.charge <= 1


def test_a_sacrificed_table_is_brought_to_its_limit():
    """The plan of the least sum makes the larger table 6 % worse than half of nothing; the default does not."""
    wanted = Workload(Domain(a=range(20), b=range(10), c=range(4)), {"a b c": 1, "a b": 1, "b": 1, "": 1})
    limit = choose_plan(Workload(wanted.domain, {"a b": 1}), Unit(1, 1), epsilon="1/4").value
    least, each = (choose_plan(wanted, Unit(1, 1), epsilon=1, aim=aim) for aim in ("mean", "each"))
    assert least.variances["a b"] > 1.05 * limit > each.variances["a b"] * 1.05 / NEAR
    assert least.value < each.value < 1.01 * least.value


@pytest.mark.parametrize(("cells", "variance"), [(2, 3.918), (3, 6.440), (4, 12.65), (5, 15.87)])
def test_a_table_that_one_individual_may_change_whole_is_a_row(cells, variance):
    """No promise is missing: `together=` was needed, and the cells alone have 7.835 to 49.83."""
    domain = Domain(cell=range(cells))
    chosen = choose_plan(Workload(domain, {"cell": 1}), Unit(1, 9, nonnegative=True), epsilon=1)
    assert chosen.value == pytest.approx(variance, rel=1e-3)
    assert chosen.unit.cells == cells
    assert set(chosen.tried) == {"marginals", "rotated sums" if cells == 2 else "signed sums"}
    table = CountedTable(domain, np.arange(cells), Unit(1, 9, nonnegative=True))
    assert release(table, chosen, epsilon=1).table.unit.cells == cells
    smaller = Unit(2, 9) if cells == 2 else Unit(1, 9)  # signed sums need the promise, too
    with pytest.raises(OutOfRange, match=r"smaller|lowers a cell"):
        release(CountedTable(domain, np.arange(cells), smaller), chosen, epsilon=1)


def test_a_summary_names_the_searches_and_what_would_help():
    """Each argument that it names lessens the error, where it may be passed."""
    domain = Domain(row=range(9), column=["visits", "nights"])
    wanted, unit = Workload(domain, {"row column": 1}), Unit(1, 2, "change-one")
    chosen = choose_plan(wanted, unit, epsilon=1)
    assert "tried, with the weighted variance: marginals" in chosen.summary()
    assert [change.argument for change in chosen.would_help] == ["nonnegative", "together"]
    assert choose_plan(wanted, unit, epsilon=1, together="column").value < chosen.value
    assert choose_plan(wanted, Unit(1, 2, "change-one", nonnegative=True), epsilon=1).value <= chosen.value


DOMAIN = Domain(age=range(10), column=["a", "b"], quarter=["q1", "q2", "q3"])
REMEDIES = {
    "no axis in order": ({"age": 1}, Unit(1, 1), {"method": "hat functions"}, {"method": "marginals"}),
    "an aim": (
        {"age column": 1},
        Unit(1, 1),
        {"method": "rows", "aim": "largest"},
        {"method": "marginals", "aim": "largest"},
    ),
    "no axis of whole rows": (
        {"column": 1},
        Unit(1, 2),
        {"method": "rotated"},
        {"method": "rotated", "together": "column"},
    ),
    "three values": (
        {"quarter": 1},
        Unit(1, 3, nonnegative=True),
        {"method": "rotated", "together": "quarter"},
        {"method": "signed", "together": "quarter"},
    ),
    "two values": (
        {"column": 1},
        Unit(1, 2),
        {"method": "signed", "together": "column"},
        {"method": "rotated", "together": "column"},
    ),
}


@pytest.mark.parametrize("case", REMEDIES)
def test_a_refusal_names_the_argument_that_mends_it(case):
    """The remedy of each message works."""
    wanted, unit, refused, mended = REMEDIES[case]
    workload = Workload(DOMAIN, wanted)
    with pytest.raises(Unsupported) as error:
        choose_plan(workload, unit, epsilon=1, **refused)
    changed = [name for name in mended if mended[name] != refused.get(name)]
    assert any(f"{name}=" in str(error.value) for name in changed), str(error.value)
    assert isinstance(choose_plan(workload, unit, epsilon=1, **mended), Plan)

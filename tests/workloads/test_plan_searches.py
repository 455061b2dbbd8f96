"""The plan is the least of the searches that apply, and a refusal names what mends it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost import release
from utmost.counting import CountedTable
from utmost.errors import OutOfRange, Unsupported
from utmost.exact import level
from utmost.privacy import Unit
from utmost.publish.workloads.planning.methods import METHODS, SEARCHES, method_of
from utmost.publish.workloads.planning.searches.plan_search import FoundSums, PlanRequest, cells_alone
from utmost.publish.workloads.planning.table_limits import budget_shares, equal_split, table_limits
from utmost.publish.workloads.row_unit import WholeRows
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
    families = draw(st.lists(st.sampled_from(list(domain.families())), min_size=1, max_size=3, unique=True))
    wanted = [Workload(domain, {family: draw(st.sampled_from(["1/3", 1, 5]))}) for family in families]
    if sizes[0] > 2 and draw(st.booleans()):
        wanted.append(draw(st.sampled_from([Workload.ranges, Workload.prefixes]))(domain, "a"))
    return Workload.of_parts(domain, [part for workload in wanted for part in workload.parts])


@given(
    workloads(),
    st.sampled_from(UNITS),
    st.sampled_from(["1/10", 1, 4]),
    st.sampled_from([None, "independent", "rows"]),
    st.booleans(),
)
@settings(max_examples=40)
def test_the_plan_is_the_least_of_all_searches_that_apply(wanted, unit, epsilon, method, is_together):
    """Also never worse than noise on the cells alone."""
    together = (
        "b" if is_together and method is None and unit.cells % len(wanted.domain.axes[1].labels[0]) == 0 else None
    )
    rows = None if together is None else WholeRows.of(wanted.domain, together)
    request = PlanRequest(wanted, unit.on_cells(wanted.domain.size), level(epsilon), None, "mean", rows)
    chosen_method = method_of(rows) if method is None else METHODS[method]
    try:
        chosen = choose_plan(wanted, unit, epsilon=epsilon, method=method, together=together, aim="mean")
    except Unsupported:
        assert all(search.obstacle(request) is not None for search in chosen_method.named)
        return
    found = [FoundSums(cells_alone(wanted, request.unit)).value(request)]
    for search in SEARCHES:
        if search in (*chosen_method.named, *chosen_method.beside) and search.obstacle(request) is None:
            try:
                found.append(search.search(request).value(request))
            except Unsupported:  # it is known from the search alone that it does not apply
                continue
    assert chosen.value <= min(found) * NEAR
    assert chosen.charge <= 1


@given(workloads(), st.sampled_from(UNITS), st.sampled_from(["1/1000000", "1/10", 1, 4, 50]))
@settings(max_examples=40)
def test_no_table_is_worse_than_noise_of_its_own_at_its_budget_share(wanted, unit, epsilon):
    """By default; the limit itself is what a plan of the table's own family alone has, at a level of that share."""
    chosen = choose_plan(wanted, unit, epsilon=epsilon)
    request = PlanRequest(wanted, chosen.unit, level(epsilon), None, "each", None)
    limits, shares = table_limits(request), budget_shares(wanted)
    variances = chosen.variances
    for part in wanted.parts:
        assert variances[part.name] <= limits[part.name] * NEAR
        if limits[part.name] < float("inf"):  # a public total has no limit
            alone, at = Workload.of_parts(wanted.domain, [part]), level(epsilon).scaled(shares[part.name])
            own = Plan(wanted.domain, chosen.unit, cells_alone(alone, chosen.unit), alone, at)
            assert limits[part.name] == pytest.approx(own.value / float(part.weight))
    assert chosen.charge <= 1
    split = FoundSums(equal_split(request)).variances(request)
    assert all(split[name] <= limit * NEAR for name, limit in limits.items())


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

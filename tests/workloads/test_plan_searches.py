"""The plan is the least of the searches that apply, and a refusal names what mends it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost.errors import Unsupported
from utmost.exact import level
from utmost.privacy import Unit
from utmost.publish.workloads.planning.methods import METHODS, SEARCHES, method_of
from utmost.publish.workloads.planning.searches.plan_search import FoundSums, PlanRequest, cells_alone
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
    request = PlanRequest(wanted, unit, level(epsilon), None, "mean", rows)
    chosen_method = method_of(rows) if method is None else METHODS[method]
    try:
        chosen = choose_plan(wanted, unit, epsilon=epsilon, method=method, together=together)
    except Unsupported:
        assert all(search.obstacle(request) is not None for search in chosen_method.named)
        return
    found = [FoundSums(cells_alone(wanted, unit)).value(request)]
    for search in SEARCHES:
        if search in (*chosen_method.named, *chosen_method.beside) and search.obstacle(request) is None:
            try:
                found.append(search.search(request).value(request))
            except Unsupported:  # it is known from the search alone that it does not apply
                continue
    assert chosen.value <= min(found) * NEAR
    assert chosen.charge <= 1


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

"""Axes that somebody asks a server to make are bounded before they are made."""

import json
import time

import numpy as np
import pytest

from service.publications import Terms
from utmost.errors import NotALevel, OutOfRange

# A request at the limits of a server takes long: they are asked of the functions that check them.
from utmost.interfaces.service import publish_requests
from utmost.interfaces.service.api.requested_levels import read_level
from utmost.interfaces.service.pages.page_counted import read_counted_file, read_plan_file
from utmost.interfaces.service.publish_requests import check_table_served
from utmost.interfaces.service.workers.axis_limits import MOST_VALUES_OF_A_REQUEST, check_axes, check_listed
from utmost.privacy import Unit
from utmost.promises import Promise, within
from utmost.publish.promises.declared_columns import check_margins_free, check_released, declared_columns
from utmost.publish.promises.sum_noise import plan_text
from utmost.tables.frames.adapters import column_order
from utmost.workloads import AxisRows, Domain, Plan, ProductRows, bins

LONG = [
    {"bins": [0, 10**8]},
    {"bins": [0, 1], "width": "1e-7"},
    {"bins": ["-1e15", "1e15"]},
    {"periods": ["1000", "9998"], "every": "hour"},
    {"periods": ["1000-01-01", "2900-01-01"], "every": "day"},
]


@pytest.mark.parametrize("axis", LONG)
def test_a_long_axis_is_refused_before_it_is_made(axis):
    plan = json.loads(plan_text(Plan(Domain(age=bins(4)), Unit(1, 1), {"age": 1})))
    plan["domain"]["age"] = axis
    start = time.process_time()
    with pytest.raises(OutOfRange, match="in a request"):
        Terms.read(of_plan(json.dumps(plan)))
    for reads in (read_counted_file, read_plan_file):
        with pytest.raises(OutOfRange, match="in a request"):
            reads(json.dumps({"domain": {"age": axis}}).encode())
    assert time.process_time() - start < 1


def test_what_is_no_domain_is_refused_where_it_is_read():
    for axis in (7, {"bins": 7}, {"bins": ["x", None]}, {"bins": [0, 9], "width": 0}, {"periods": [1, 2]}):
        check_axes({"a": axis})
    for strange in (None, 7, "x", [1]):
        check_axes(strange)
    longest = {"bins": [0, MOST_VALUES_OF_A_REQUEST]}
    check_axes({"a": longest})
    check_axes({"a": {"bins": [0, MOST_VALUES_OF_A_REQUEST // 2]}, "t": {"periods": ["2013", "2023"], "every": "hour"}})
    with pytest.raises(OutOfRange):
        check_axes({"a": {"bins": [0, MOST_VALUES_OF_A_REQUEST + 1]}})


@pytest.mark.parametrize(
    "domain",
    [{f"a{at}": {"bins": [0, 150_000]} for at in range(50)}, {f"a{at}": ["x"] for at in range(5000)}],
    ids=["long", "short"],
)
def test_many_axes_are_refused_together(domain):
    """Each by itself is short enough: all together took minutes, for whoever asked."""
    plan = {"domain": domain, "shares": [[list(domain), "1"]], "unit": Unit(1, 1).facts()}
    start = time.process_time()
    with pytest.raises(OutOfRange, match="in a request"):
        Terms.read(of_plan(json.dumps(plan)))
    assert time.process_time() - start < 1


def of_plan(text):
    """The terms of a plan."""
    return {"noise": {"kind": "sums", "plan": text}}


def listed(rows, parts):
    """The JSON text of a plan that lists these rows along one axis."""
    products = ProductRows(Domain(age=bins(np.shape(rows)[1])), (AxisRows(0, np.array(rows), parts),))
    return plan_text(Plan(products.domain, Unit(1, 1), products.shares, rows=products))


@pytest.mark.parametrize("shape", [(400, 60), (100, 900)], ids=["more rows", "more values"])
def test_rows_for_which_least_squares_takes_minutes_are_refused(shape):
    """A plan of less than 2 MiB must not have a server multiply for an hour when it is released."""
    plan = listed(np.ones(shape, dtype=int), shape[0] + 1)
    start = time.process_time()
    with pytest.raises(OutOfRange, match="square of the number of rows"):
        Terms.read(of_plan(plan))
    with pytest.raises(OutOfRange, match="square of the number of rows"):
        read_plan_file(plan.encode())
    assert time.process_time() - start < 1
    for rows in (7, [7], [{"rows": 7}], [{"rows": [7]}]):
        check_listed({"rows": rows})


def test_many_classes_of_rows_are_charged_in_no_time():
    """A plan is charged at the cost of its classes: their square took a minute, for whoever asked."""
    classes = 2000
    start = time.process_time()
    promise = Terms.read(of_plan(listed([range(1, classes + 1)], 1 << 20))).promise
    assert promise.noise.plan.charge == 1
    assert time.process_time() - start < 5


def test_the_marginals_of_a_plan_are_counted_before_they_are_read():
    """Names of axes are what reading them costs; pairs and triples of many axes stay far below."""
    domain = Domain(**{f"a{at}": ["x", "y"] for at in range(12)})
    plan = json.loads(plan_text(Plan(domain, Unit(1, 1), {" ".join(f"a{at}" for at in range(12)): 1})))
    check_listed(plan | {"shares": [[["a0", "a1", "a2"], "1/10000"]] * 10_000})
    start = time.process_time()
    with pytest.raises(OutOfRange, match="32768 axes"):
        Terms.read(of_plan(json.dumps(plan | {"shares": [[["a0", "a1", "a2"], "1"]] * 11_000})))
    assert time.process_time() - start < 1
    for strange in (7, [7], [[7]], [["a", [1]]]):
        check_listed(plan | {"shares": strange})


WIDE = bins(1 << 6)


@pytest.fixture
def few_drawn(monkeypatch):
    """The bound on sums in proportion to the plans of these tests."""
    assert publish_requests.MOST_DRAWN == 1 << 24
    monkeypatch.setattr(publish_requests, "MOST_DRAWN", 1 << 12)


@pytest.mark.usefixtures("few_drawn")
@pytest.mark.parametrize(("axis", "until"), [(bins((1 << 6) + 1), None), (WIDE, within("10 %", steps=2))])
def test_a_plan_of_too_many_sums_is_refused(axis, until):
    """A plan of a few hundred bytes must not have a server draw for minutes: no other table could be published."""
    plan = Plan(Domain(a=WIDE, b=axis), Unit(1, 1), {"a b": 1})
    with pytest.raises(OutOfRange, match="sums in a service") as refused:
        Terms.read({"noise": plan, "until": None if until is None else until.facts()})
    assert "on the machine that has the ledger" in refused.value.remedy
    Terms.read({"noise": Plan(Domain(a=WIDE, b=WIDE), Unit(1, 1), {"a b": 1})})


@pytest.mark.usefixtures("few_drawn")
def test_the_plans_of_one_request_are_counted_together():
    plan = Plan(Domain(a=WIDE, b=bins(1 << 5)), Unit(1, 1), {"a b": 1})
    requests = [Terms.read({"noise": plan}).request(name, 1) for name in ("r", "s", "t")]
    publish_requests.check_drawn_together(requests[:2])
    with pytest.raises(OutOfRange, match="sums together") as refused:
        publish_requests.check_drawn_together(requests)
    assert "several requests" in refused.value.remedy


def test_a_table_of_too_many_cells_at_all_levels_is_refused(monkeypatch):
    monkeypatch.setattr(publish_requests, "MOST_DRAWN", 165)
    cells = {"n": np.zeros(11, dtype=int)}
    check_table_served(cells, Promise("n", unit=Unit(1, 1)))
    check_table_served(cells, Promise("n", unit=Unit(1, 1), until=within("10 %", steps=15)))
    with pytest.raises(OutOfRange, match="cells in a service") as refused:
        check_table_served(cells, Promise("n", unit=Unit(1, 1), until=within("10 %", steps=16)))
    assert "fewer steps" in refused.value.remedy


@pytest.mark.parametrize(
    "written", ["1e-51", f"1/{'7' * 51}", f"alpha=1/{'7' * 51}", f"alpha=1/{'7' * 3990}", f"ln {'7' * 300}"]
)
def test_a_long_level_is_refused_at_once(written):
    """Next to a stored level, each digit takes time for each cell; whoever may view would block all writers."""
    start = time.process_time()
    with pytest.raises(NotALevel, match="50 digits"):
        read_level(written)
    assert time.process_time() - start < 0.5


def test_levels_of_fifty_digits_are_read():
    for written in ("1e-50", f"1/{'7' * 50}", f"{'3' * 50}/{'7' * 50} * ln {'3' * 50}/{'2' * 50}", 0.1, "alpha=1/2"):
        read_level(written)


def test_a_table_of_many_columns_takes_no_square_of_their_number():
    names = [f"c{at}" for at in range(20_000)]
    start = time.process_time()
    check_released(names, names, None)
    declared_columns(names, names[::2], names[1::2], ())
    check_margins_free({f"{name}_margin": name for name in names}, names)
    assert len(column_order(names, {f"{name}_margin": name for name in names})) == 40_000
    assert time.process_time() - start < 2

"""Noise made once: its error in closed form beside the plan, and the release that takes the least."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from utmost import Unit, release
from utmost.core.sampling import one_draws
from utmost.counting import CountedTable
from utmost.errors import UtmostError
from utmost.exact import level
from utmost.noise import CellsDraw, DiscreteStaircase, DrawWithTotal, Geometric, TablesDraw, costs
from utmost.releases import NoisySums
from utmost.workloads import Domain, Workload, choose_plan

JOINED = Unit(1, 1, "change-one", nonnegative=True)
CASES = {
    "cells of sensitivity 5": ((10,), {"x0": 1}, Unit(5, 1), 4, 1.754, 2.964),
    "change-one and total": ((5,), {"x0": 1, "": 1}, JOINED, 1, 2 * 5.067, 13.06),
    "20 yes or no": ((2,) * 20, {f"x{at}": 1 for at in range(20)} | {"": 1}, Unit(1, 1), 1, 1552, 8478),
    "10 of 5": ((5,) * 10, {f"x{at}": 1 for at in range(10)}, Unit(1, 1), 1, 753.3, 1639),
    "16 of 5, more cells than fit in memory": ((5,) * 16, {f"x{at}": 1 for at in range(16)}, Unit(1, 1), 1, 2910, 6654),
    "5 of 10 and total": ((10,), {"x0": 1, "": 1}, Unit(1, 5, nonnegative=True), 1, 208.9, 362.3),
    "a row of three": ((3,), {"x0": 1}, Unit(1, 3, nonnegative=True), 1, None, 6.44),
    "3 of 4 x 3 cells, and rows": ((4, 3), {"x0 x1": 1, "x0": 1}, Unit(1, 3, nonnegative=True), 1, 56.42, 71.33),
    "6 of 4 x 3 cells, and all": (
        (4, 3), {"x0 x1": 1, "x0": 1, "x1": 1, "": 1}, Unit(1, 6, nonnegative=True), 1, 731.3, 1436.7
    ),
    "20 yes or no, and a table of two": (
        (2,) * 20, {f"x{at}": 1 for at in range(20)} | {"x0 x1": 1, "": 1}, Unit(1, 1), 1, 2119.8, 8205.7
    ),
    "replaced in 4 x 3 cells, and rows": ((4, 3), {"x0 x1": 1, "x0": 1}, JOINED, 1, 22.48, 25.33),
}  # fmt: skip


def domain_of(shape):
    return Domain({f"x{at}": range(size) for at, size in enumerate(shape)})


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name == "10 of 5" or name.endswith("a table of two") else ())
        for name in CASES
    ],
)
def test_the_figures_of_noise_made_once(name):
    """The least of the closed forms, beside the least that can be relaxed."""
    shape, wanted, unit, epsilon, once, planned = CASES[name]
    plan = choose_plan(Workload(domain_of(shape), wanted), unit, epsilon=epsilon)
    assert plan.value == pytest.approx(planned, rel=2e-3)
    if once is not None:
        assert min(plan.once_errors.values()) == pytest.approx(once, rel=2e-3)
    assert ("made once" in plan.summary()) == (min(plan.once_errors.values()) * 1.02 < plan.value)


def test_the_closed_forms_are_the_distributions_own_variances():
    domain, counts = domain_of((4,)), Unit(3, 2, nonnegative=True)
    errors = choose_plan(Workload(domain, {"x0": 2, "": 1}), counts, epsilon=1).once_errors
    stairs = float(DiscreteStaircase("1/2", 3, costs.squared).variance())
    assert errors["a staircase for each cell"] == pytest.approx((2 + 4) * stairs)
    distributions = [CellsDraw(1, cells=4, changed=2, sensitivity=3, step=step) for step in (1, 2, 3)]
    drawn = min(
        2 * float(distribution.variance) + float(distribution.variance_of([1] * 4)) for distribution in distributions
    )
    assert errors["one draw of all cells"] <= drawn * 1.05
    tables = TablesDraw(1, [2, 3])
    wanted = Workload(domain_of((2, 3)), {"x0": 1, "x1": 5, "": 2})
    error = choose_plan(wanted, Unit(1, 1), epsilon=1).once_errors["one draw of one-way tables"]
    parts = [float(tables.variance_of(row)) for row in ([1, 0, 0, 0, 0], [0, 0, 1, 0, 0], [1, 1, 0, 0, 0])]
    assert error == pytest.approx(parts[0] + 5 * parts[1] + 2 * parts[2])


RELEASED = [
    "cells of sensitivity 5",
    "change-one and total",
    "5 of 10 and total",
    "a row of three",
    "6 of 4 x 3 cells, and all",
    "20 yes or no, and a table of two",
]
"""One of each kind of noise, of tables cut to four axes."""


@pytest.mark.parametrize("name", RELEASED)
def test_a_release_made_once_takes_the_least_of_all_and_is_not_relaxed(name):
    """And one that can be relaxed has the plan's noise, which is the least of those."""
    shape, wanted, unit, epsilon, *_ = CASES[name]
    domain = domain_of(shape[:4])
    names = {*domain.columns, "", "x0 x1"}
    asked = Workload(domain, {part: weight for part, weight in wanted.items() if part in names})
    cells = np.arange(domain.size).reshape(domain.shape)
    table, plan = CountedTable(domain, cells, unit), choose_plan(asked, unit, epsilon=epsilon)
    once, lasting = release(table, asked, epsilon=epsilon, once=True), release(table, asked, epsilon=epsilon)
    assert lasting.table.plan.shares == plan.shares
    assert lasting.release.at(2 * epsilon).table.plan.shares == plan.shares
    with pytest.raises(UtmostError):
        _ = once.release
    kind = min(plan.once_errors, key=plan.once_errors.get)
    if plan.once_errors[kind] < plan.value:
        distribution, share = once.distribution, plan.least_once.total_share
        assert isinstance(distribution, DrawWithTotal) == (share > 0)
        draw = distribution.draw if share else distribution
        assert isinstance(draw, {"a": DiscreteStaircase, "o": CellsDraw | TablesDraw}[kind[0]])
        spent = share + sum(plan.least_once.table_shares.values())
        assert draw.level == level(epsilon).scaled(1 - spent if kind[0] == "o" else unit.per_cell(level(1)).epsilon)
        assert not share or distribution.total.level == level(epsilon).scaled(share)
    else:
        assert once.table.plan.shares == plan.shares


@given(
    st.integers(2, 8),
    st.builds(
        lambda s, k, relation, is_raised: Unit(s, k, relation, nonnegative=is_raised),
        st.sampled_from([1, 2, 7]),
        st.integers(1, 4),
        st.sampled_from(["add-remove", "change-one"]),
        st.booleans(),
    ),
    st.sampled_from([{"x0": 1}, {"x0": 1, "": 1}, {"x0": 1, "": 20}, {"": 1}]),
    st.sampled_from(["1/10", 1, 4]),
)
@settings(max_examples=4)
def test_no_release_made_once_has_more_than_the_least_of_the_list(size, unit, wanted, epsilon):
    """The error of what is drawn, computed from the answer's own noise, against every entry and the plan."""
    domain = domain_of((size,))
    workload = Workload(domain, wanted)
    plan = choose_plan(workload, unit, epsilon=epsilon)
    least = min([*plan.once_errors.values(), plan.value])
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(one_draws, "_SAMPLE", 1000)  # margins are not looked at
        answer = release(CountedTable(domain, np.arange(size), unit), workload, epsilon=epsilon, once=True)
    if isinstance(answer.table, NoisySums):
        error = answer.table.plan.value_at(level(epsilon))
    elif isinstance(answer.distribution, DiscreteStaircase):
        error = float(answer.distribution.variance()) * (wanted.get("x0", 0) + size * wanted.get("", 0))
    else:
        cell, total = ([int(at < count) for at in range(answer.distribution.size)] for count in (1, size))
        variances = {"x0": answer.distribution.variance_of(cell), "": answer.distribution.variance_of(total)}
        error = sum(weight * float(variances[name]) for name, weight in wanted.items())
    assert error <= least * (1 + 1e-9)  # less where counting proves that nobody lowers a cell


def test_other_tables_and_units_have_none():
    for shape, wanted, unit in [
        ((3, 4), {"x0 x1": 1}, Unit(1, 1)),
        ((8, 9), {"x0": 1, "x1": 1}, Unit(1, 2)),
        ((8, 9), {"x0": 1, "x1": 1}, Unit(1, 1, "change-one")),
    ]:
        assert choose_plan(Workload(domain_of(shape), wanted), unit, epsilon=1).once_errors == {}
    named = Domain(total=[0, 1], sex=[0, 1])  # the name of the total in the released table
    assert choose_plan(Workload(named, {"total": 1, "sex": 1}), Unit(1, 1), epsilon=1).once_errors == {}
    many = {f"x{at}": 1 for at in range(8)} | {"x0 x1": 1, "x2 x3": "1e-30"}  # which has no share left
    assert choose_plan(Workload(domain_of((2,) * 8), many), Unit(1, 1), epsilon=1).once_errors == {}


def test_cells_of_one_draw_serve_every_sum():
    """The closed form by sizes of sums, beside the variance of each wanted sum of the distribution itself."""
    domain, unit = domain_of((2, 4)), Unit(2, 3, nonnegative=True)
    wanted = Workload(domain, {"x0": 3, "x0 x1": 1, "x1": 2}) + Workload.prefixes(domain, "x1", by="x0")
    plan = choose_plan(wanted, unit, epsilon=1)
    distribution = CellsDraw(1, cells=8, changed=3, sensitivity=2).with_best_step()
    error = sum(
        float(part.weight)
        * float(np.mean([distribution.variance_of(row.tolist()) for row in part.matrix(domain).astype(int)]))
        for part in wanted.parts
    )
    assert plan.once_errors["one draw of all cells"] == pytest.approx(error)
    answer = release(CountedTable(domain, np.arange(8).reshape(2, 4), unit), wanted, epsilon=1, once=True)
    assert answer.distribution == distribution
    assert answer["x0"]["count_margin"].tolist() == [answer.noise.sum_margin([1] * 4 + [0] * 4, answer.confidence)] * 2


def test_other_tables_beside_the_draw_have_the_stated_error():
    """The draw at its share, and geometric noise of each other table at its own; the shares spend the level."""
    wanted = {f"x{at}": 1 for at in range(10)} | {"x0 x1": 2, "x2 x3 x4": "1/2"}
    domain = domain_of((2,) * 10)
    plan = choose_plan(Workload(domain, wanted), Unit(1, 1), epsilon=2)
    least = plan.least_once
    shares = least.table_shares
    assert set(shares) == {"x0 x1", "x2 x3 x4"}
    spent = sum(shares.values())
    draw = TablesDraw(level(2).scaled(1 - spent), [2] * 10)
    error = 10 * float(draw.variance) + sum(
        float(Fraction(wanted[name])) * float(Geometric(level(2).scaled(share)).variance())
        for name, share in shares.items()
    )
    assert least.error == pytest.approx(error)
    others = [  # no shares near are better by much: they are chosen by squares, which variances nearly follow
        10 * float(TablesDraw(level(2).scaled(1 - spent * factor), [2] * 10).variance)
        + sum(
            float(Fraction(wanted[name])) * float(Geometric(level(2).scaled(share * factor)).variance())
            for name, share in shares.items()
        )
        for factor in (Fraction(4, 5), Fraction(6, 5))
    ]
    assert min(others) > 0.995 * error

"""Workloads: what is wanted, how it is named, and the spectrum that is all the planner needs of it."""

import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from utmost.errors import NotANumber, OutOfRange, WrongKind
from utmost.exact import level as exact_level
from utmost.privacy import Unit
from utmost.workloads import Domain, Workload, bins, choose_plan, marginals
from workload_cases import BERKELEY, GEOGRAPHY, berkeley, rows_of_marginal, workloads


@given(workloads())
def test_matrix_gram_and_sizes_agree(wanted):
    """Of every part: rows W, their Gram matrix W'W/m, the rows' lengths; the marginals named determine every answer."""
    for part in wanted.parts:
        rows = part.matrix(wanted.domain)
        assert rows.shape == (part.answers, wanted.domain.size)
        assert part.gram(wanted.domain) == pytest.approx(rows.T @ rows / part.answers)
        plain = ((rows == 0) | (rows == 1)).all(axis=1)
        lengths, times = np.unique(np.where(plain, rows.sum(axis=1), 1), return_counts=True)
        assert plain.all() or part.answers == sum(part.sizes(wanted.domain).values())
        assert not plain.all() or part.sizes(wanted.domain) == dict(zip(lengths, times, strict=True))
        groups = rows_of_marginal(wanted.domain, part.marginal(wanted.domain))
        assert np.allclose(rows @ groups.T / groups.sum(axis=1) @ groups, rows)


def test_wanted_marginals_are_named_as_people_write_them():
    """One text, lists, pairs of a level and a label, marginals; labels with spaces as pairs."""
    domain = Domain({"home town": ["New York", "Rome"], "age=x": [1, 2], "sex": ["m", "w"]})
    for words, marginal, lengths in (
        ("home town", (0, 1, 1), {4: 2}),
        ("sex=w", (1, 1, 0), {4: 1}),
        (("sex", ("home town", "New York")), (0, 1, 0), {2: 2}),
        (("home town", "age=x"), (0, 0, 1), {2: 4}),
        ("sex age=x=2", (1, 0, 0), {2: 2}),
        ((1, 0, 1), (1, 0, 1), {4: 2}),
        ("", (1, 1, 1), {8: 1}),
    ):
        (part,) = Workload(domain, {words: 1}).parts
        assert (part.marginal(domain), part.sizes(domain)) == (marginal, lengths)
    (part,) = Workload(Domain({"age": [1, 2], "age group": ["a", "b", "c"]}), {"age group": 1}).parts
    assert part.answers == 3, "the longest name that is known"
    (part,) = Workload(GEOGRAPHY, {"region=r3": 1}).parts
    assert part.matrix(GEOGRAPHY).nonzero()[1].tolist() == list(range(75, 100))


def test_joined_workloads_add_the_weights_of_what_both_want():
    one = Workload(BERKELEY, {"sex": 1, "": 2})
    both = one + Workload.sums(BERKELEY, [{}, {"sex": "men"}], ["1/2", 3])
    assert [(part.name, part.weight) for part in both.parts] == [("sex", 1), ("", Fraction(5, 2)), ("sex=men", 3)]
    assert both.reweighted({"sex=men": 7}).parts[0].weight == 7
    with pytest.raises(OutOfRange, match="same domain"):
        one + Workload(GEOGRAPHY, {"": 1})


def test_ranges_within_groups_and_sums_by_edges():
    domain = Domain(age=bins(0, 60, width=5), sex=["m", "w"])
    by_sex = Workload.ranges(domain, "age", weight=2, by="sex", per_answer=True)
    assert by_sex.answers == 2 * 78
    assert by_sex.weight == 2 * by_sex.answers
    (part,) = Workload.sums(domain, [{"age": slice(10, 40), "sex": ["m"]}]).parts
    assert (part.name, part.sizes(domain)) == ("age=10..40 sex=m", {6: 1})


def test_boxes_windows_weights_and_levels_are_the_rows_that_they_are():
    """Each constructor against rows written out by loops over all cells; matrices, Gram matrices, answers."""
    domain = Domain(x=bins(4), y=bins(3), sex=["m", "w"])
    x, y, sex = np.indices(domain.shape).reshape(3, -1)
    boxes = [
        (a <= x) & (x <= b) & (c <= y) & (y <= d) & (sex == s)
        for a in range(4)
        for b in range(a, 4)
        for c in range(3)
        for d in range(c, 3)
        for s in range(2)
    ]
    corners = [(x <= a) & (y <= b) for a in range(4) for b in range(3)]
    days = [(a <= x) & (x < a + 3) & (b <= y) & (y < b + 2) for a in range(2) for b in range(2)]
    weights = np.array([[1, 2, -1, 0], [0, 0, 3, 3]])
    weighed = [row[x] * (y == b) for row in weights for b in range(3)]
    cases = [
        (Workload.ranges(domain, "x", "y", by="sex"), boxes),
        (Workload.prefixes(domain, "y", "x"), corners),
        (Workload.windows(domain, {"x": 3, "y": 2}), days),
        (Workload.weighed(domain, {"x": weights}, by="y"), weighed),
    ]
    for wanted, rows in cases:
        (part,) = wanted.parts
        expected = np.array(rows, dtype=float)
        assert sorted(part.matrix(domain).tolist()) == sorted(expected.tolist())
        assert np.allclose(wanted.gram() * part.answers, expected.T @ expected)
        chosen = choose_plan(wanted, Unit(1, 1), epsilon=1)
        precisions, measured = [], []
        for marginal, level in chosen.levels(exact_level(1)).items():
            tables = np.array([domain.sums(cell, marginal).ravel() for cell in np.eye(domain.size)]).T
            measured += list(tables)
            precisions += [2 * np.sinh(level.epsilon_float / max(1, -min(marginal)) / 2) ** 2] * len(tables)
        information = np.array(measured).T @ (np.array(precisions)[:, None] * np.array(measured))
        assert np.isclose(chosen.value, np.trace(wanted.gram() @ np.linalg.pinv(information)), rtol=1e-7)
        assert all(times >= 1 - 1e-9 for _, times in chosen.bound_ratios())
    levels = Workload.hierarchy(Domain(t=bins(8, fanout=2)), "t", 2)
    assert [(part.answers, part.weight) for part in levels.parts] == [(8, 2), (4, 2), (2, 2), (1, 2)]


def test_a_workload_travels():
    again = pickle.loads(pickle.dumps(berkeley()))
    assert repr(again) == repr(berkeley())


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        (lambda: Workload(BERKELEY, {}), OutOfRange, "must name at least one table"),
        (lambda: Workload(BERKELEY, {"gender": 1}), OutOfRange, "Its levels are|Did you mean"),
        (lambda: Workload(BERKELEY, {"outcome=accepted": 1}), OutOfRange, "admitted"),
        (lambda: Workload(BERKELEY, {"sex": 0}), OutOfRange, "positive"),
        (lambda: Workload(BERKELEY, {"sex": -1}), OutOfRange, "positive"),
        (lambda: Workload(BERKELEY, marginals(BERKELEY, [2])), NotANumber, "columns"),
        (lambda: Workload(BERKELEY, {"sex": float("nan")}), NotANumber, "weight"),
        (lambda: Workload(BERKELEY, {"sex department": 1, "department sex": 1}), OutOfRange, "once"),
        (lambda: Workload(BERKELEY, {"sex sex": 1}), OutOfRange, "one level of each axis"),
        (lambda: Workload(BERKELEY, ["sex"]), WrongKind, "map names of tables to weights"),
        (lambda: Workload({"sex": ["m"]}, {"sex": 1}), WrongKind, "Domain"),
        (lambda: Domain(sex=["m", ""]), OutOfRange, "an empty text.*missing="),
        (lambda: Workload(BERKELEY, {(0, 0, 7): 1}), OutOfRange, "level of the given name"),
        (lambda: Workload(BERKELEY, {7: 1}), WrongKind, "names of levels"),
        (lambda: Workload(BERKELEY, {None: 1}), WrongKind, "names of levels"),
        (lambda: Workload.ranges(GEOGRAPHY, "region"), OutOfRange, "finest"),
        (lambda: Workload.ranges(BERKELEY, "sex", by="sex"), OutOfRange, "must not name the axis"),
        (lambda: Workload.ranges(BERKELEY), OutOfRange, "must name an axis"),
        (lambda: Workload.ranges(BERKELEY, "sex", 2), WrongKind, "axes"),
        (lambda: Workload.windows(BERKELEY, {"sex": 3}), OutOfRange, "at most 2 values"),
        (lambda: Workload.windows(BERKELEY, {"sex": 0}), OutOfRange, "at least 1"),
        (lambda: Workload.windows(BERKELEY, 7), WrongKind, "lengths"),
        (lambda: Workload.weighed(BERKELEY, {"sex": [[1, 0, 0]]}), OutOfRange, "2 entries"),
        (lambda: Workload.weighed(BERKELEY, {"sex": [[1, 0], [1]]}), OutOfRange, "2 entries"),
        (lambda: Workload.weighed(BERKELEY, {"sex": [[0.5, 0]]}), OutOfRange, "integers"),
        (lambda: Workload.weighed(BERKELEY, {"sex": [[2**31, 0]]}), OutOfRange, "below 2\\^31"),
        (lambda: Workload.weighed(BERKELEY, {"sex": [[0, 0]]}), OutOfRange, "no row may be all zeros"),
        (lambda: Workload.hierarchy(BERKELEY, "sex", by="sex"), OutOfRange, "must not name the axis"),
        (lambda: Workload.sums(BERKELEY, [{"sex": []}]), OutOfRange, "at least one cell"),
        (lambda: Workload.sums(BERKELEY, [{}], [1, 2]), OutOfRange, "one for each sum"),
        (lambda: berkeley().reweighted({"age": 1}), OutOfRange, "must name parts of the workload"),
        (lambda: Workload.ranges(Domain(t=bins(20_000)), "t").gram(), OutOfRange, "10\\^8"),
    ],
)
def test_what_is_no_workload_is_refused(wrong, error, says):
    with pytest.raises(error, match=says):
        wrong()

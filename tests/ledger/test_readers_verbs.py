"""A release answers its readers' questions as its file would, from any memory, and refuses what it cannot know."""

import pytest

import utmost as ut
from ledger.test_conformance import MEMORIES
from utmost.errors import Unsupported
from utmost.workloads import Strategy, edges

TABLE = {"town": ["Å", "B", "B"], "ill": [601, 370, 12], "old": [90, 80, 7]}
PROMISE = ut.Promise(["ill", "old"], public="town", unit=ut.Unit(1, 2))


@pytest.mark.parametrize("memory", MEMORIES)
def test_a_table_at_hand_says_what_its_file_says(tmp_path, memory):
    release = MEMORIES[memory](tmp_path, PROMISE, TABLE, 1)
    before = release.table
    release.at(2, table=TABLE)
    release.save(tmp_path / "r.csv")
    saved = ut.read_release(tmp_path / "r.csv")
    rows = saved.rows_where({"town": "B"})
    total = release.total({"town": "B"}, column="ill")
    assert (total.exact, total.margin) == (saved.total(rows, "ill").value, saved.total(rows, "ill").margin)
    assert total.exact == sum(release.table["ill"][1:]) == sum(before["ill"][1:])
    of_all = saved.ratio(rows, saved.rows_where(), "ill", "old")
    assert release.ratio({"town": "B"}, column="ill", over_column="old") == of_all
    assert release.read("1").cells == {name: [*map(int, release.at(1)[name])] for name in ("ill", "old")}
    with pytest.raises(Unsupported, match="a mean is asked of sums"):
        release.mean("town")


def test_sums_of_a_plan_answer_themselves():
    domain = ut.Domain(sex=["men", "women"], age=edges([0, 15, 65, 100]))
    counted = ut.count_table(
        {"who": [1, 2, 3, 4], "sex": ["men", "men", "women", "men"], "age": [3, 70, 20, 16]},
        domain,
        ut.Counting("who", at_most=1),
    )
    release = ut.release(counted, ut.Promise(noise=Strategy(domain, counted.unit, {"sex age": 1})), epsilon=40)
    answer = release.read()
    assert release.total({"sex": "men"}).value == answer.total({"sex": "men"}).value == 3
    assert str(release.median("age")) == str(answer.median("age"))
    assert str(release.mean("age", where={"age": slice(0, 65)})) == str(answer.mean("age", where={"age": slice(0, 65)}))
    assert str(release.ratio({"sex": "men"})) == str(answer.ratio({"sex": "men"}, {}))
    assert release.clean().total({"sex": "men"}) == answer.clean().total({"sex": "men"})
    assert release.clean(given={"total": 9}).total() == answer.clean(given={"total": 9}).total() == 9


def test_points_have_no_sums():
    release = ut.release({"x": [0.0], "y": [1.0]}, ut.Promise(["x", "y"], noise=ut.PointNoise(200)), epsilon=1)
    with pytest.raises(Unsupported, match="independent noise"):
        release.total()


def test_a_promise_says_its_margin_and_words_at_a_level():
    assert PROMISE.margin(epsilon=1) == PROMISE.margin(ut.level(1), "0.95") == PROMISE.margin(1) < PROMISE.margin("1/2")
    assert PROMISE.margin(alpha="1/2") == PROMISE.margin(ut.level(alpha="1/2"))
    assert "epsilon = 1)" in PROMISE.guarantee(epsilon=1)

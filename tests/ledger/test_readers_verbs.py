"""A release has the same methods for readers as its file, from any memory, and refuses questions that it cannot
answer."""

from fractions import Fraction

import pytest

import utmost as ut
from ledger.test_conformance import MEMORIES
from utmost.errors import OutOfRange, Unsupported
from utmost.workloads import Plan, edges

TABLE = {"town": ["Å", "B", "B"], "ill": [601, 370, 12], "old": [90, 80, 7]}
PROMISE = ut.Promise(["ill", "old"], public="town", unit=ut.Unit(1, 2))


@pytest.mark.parametrize("memory", MEMORIES)
def test_a_table_at_hand_says_what_its_file_says(tmp_path, memory):
    answer = MEMORIES[memory](tmp_path, PROMISE, TABLE, 1)
    before = answer.table
    answer.release.at(2, table=TABLE)
    answer.save(tmp_path / "r.csv")
    saved = ut.read_release(tmp_path / "r.csv")
    total = answer.total({"town": "B"}, column="ill")
    assert total == saved.total({"town": "B"}, column="ill")
    assert total.exact == sum(answer.table["ill"][1:]) == sum(before["ill"][1:])
    of_all = saved.ratio({"town": "B"}, column="ill", over_column="old")
    assert answer.ratio({"town": "B"}, column="ill", over_column="old") == of_all
    with pytest.raises(Unsupported, match="once=True"):
        _ = saved.release
    assert saved.statement == answer.statement | {"table": saved.statement["table"]}
    with pytest.raises(Unsupported, match="a mean"):
        answer.mean("town")


def test_sums_of_a_plan_answer_themselves():
    domain = ut.Domain(sex=["men", "women"], age=edges([0, 15, 65, 100]))
    counted = ut.count_table(
        {"who": [1, 2, 3, 4], "sex": ["men", "men", "women", "men"], "age": [3, 70, 20, 16]},
        domain,
        ut.Counting("who", at_most=1),
    )
    release = ut.release(counted, ut.Promise(noise=Plan(domain, counted.unit, {"sex age": 1})), epsilon=40)
    answer = release.table
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
    assert PROMISE.margin(epsilon=ut.level(alpha="1/2")) == PROMISE.margin(ut.level(alpha="1/2"))
    assert "epsilon = 1)" in PROMISE.guarantee(epsilon=1)


@pytest.mark.parametrize("memory", MEMORIES)
def test_an_answer_is_saved_and_converted(tmp_path, memory):
    """Columns are the same in every library; margins of another confidence appear in table, file and statement."""
    answer = MEMORIES[memory](tmp_path, PROMISE, TABLE, 1)
    columns = {name: list(cells) for name, cells in answer.table.items()}
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    assert isinstance(answer.to_pandas(), pd.DataFrame)
    assert isinstance(answer.to_polars(), pl.DataFrame)
    assert answer.to_pandas().to_dict("list") == answer.to_polars().to_dict(as_series=False) == columns
    assert answer.to_arrow().to_pydict() == columns
    said = answer.save(tmp_path / "t.csv", confidence="0.99")
    assert max(said["margins"].values()) == answer.margin("0.99") > answer.margin()
    assert answer.margin() == answer.with_confidence("0.95").margin()
    assert ut.read_release(tmp_path / "t.csv").noise.margin == answer.margin("0.99")
    assert answer.with_confidence("0.99").statement["confidence_exactly"] == "99/100"
    assert answer["town"]["ill"].sum() == sum(answer.table["ill"])
    with pytest.raises(OutOfRange, match=r"'ill'.*answer\.table"):
        answer["ill"]
    with pytest.raises(Unsupported, match=r"answer\.table"):
        list(answer)
    with pytest.raises(Unsupported, match="needs sums"):
        answer.withhold("town", below=100)
    assert list(answer.withhold(below=1000).table["ill"]) == [None] * 3


@pytest.mark.parametrize("memory", MEMORIES)
def test_the_answer_of_a_plan_is_read_by_the_names_of_its_tables(tmp_path, memory):
    domain = ut.Domain(sex=["men", "women"], age=edges([0, 15, 65, 100]))
    events = {"who": [1, 2, 3], "sex": ["men", "men", "women"], "age": [3, 70, 20]}
    counted = ut.count_table(events, domain, ut.Counting("who", at_most=1))
    promise = ut.Promise(noise=Plan(domain, counted.unit, {"sex age": 1}))
    answer = MEMORIES[memory](tmp_path, promise, counted, 40)
    assert list(answer["sex"]["count"]) == list(answer.table["sex"]["count"]) == [2, 1]
    assert list(answer.to_pandas("sex")["count"]) == [2, 1]
    assert list(answer) == list(answer.table) == ["sex age"]
    assert len(answer.to_arrow()) == 6
    answer.save(tmp_path / "p.csv", marginal="sex", confidence="0.99")
    assert ut.read_release(tmp_path / "p.csv").confidence == Fraction(99, 100)
    assert list(answer.withhold("sex", below=2)) == ["sex"]
    with pytest.raises(Unsupported, match="once=True"):
        print(ut.release(counted, promise, epsilon=40, once=True).release)


def test_means_stand_in_frames_where_they_are_wanted():
    counting, measure = ut.Counting(each_row=True), ut.mean("wages", each=(0, 50))
    counted = ut.count_table({"sex": ["w", "m"], "wages": [40, 20]}, {"sex": ["w", "m"]}, counting, measure=measure)
    answer = ut.release(counted, ut.Promise.of_counted(counted), epsilon=40)
    assert "wages_mean" not in answer.to_pandas()
    for frame in (answer.to_pandas(means=True), answer.to_polars("sex", means=True)):
        assert list(frame["wages_mean"]) == list(answer.with_means("sex")["wages_mean"])
    assert list(answer) == ["sex"]

"""Drivers of Spark of their own: on Connect, with executors that are killed, and killed themselves around a commit."""

import json
import signal

import pytest

from asking import asked
from counting_words import counted_with
from spark import OF_SPARK, driven, missing, missing_connect, on, session
from spark_drivers import COUNTED, PROMISE, by_ward, ledger_of, wards
from utmost.counting import count_keys
from utmost.exact import level
from utmost.ledger import ResponseFolder
from utmost.testing import seeded_ledger
from utmost.workloads import Domain, plain

pytestmark = [*OF_SPARK, pytest.mark.slow]


@pytest.fixture
def one_machine(tmp_path):
    """What a ledger of the same identity and key answers on one machine."""
    with seeded_ledger(f"{tmp_path}/here.db", 0, key=bytes(range(32))) as here:
        lower = here.publish("visits", wards(), **asked(**PROMISE, keyed_by_id=True, epsilon="1/2")).table
        higher = here.relax("visits", wards(), epsilon=2).table
        viewed = here.view("visits", epsilon=1).table
    names = wards()["ward"]
    found = {"published": lower, "repartitioned": lower, "relaxed": higher, "viewed": viewed}
    return {what: dict(zip(names, answer["visits"], strict=True)) for what, answer in found.items()}


def found_in(folder):
    return json.loads((folder / "found.json").read_text())


@pytest.mark.skipif(missing_connect() is not None, reason=missing_connect() or "")
def test_spark_connect_gives_the_values_of_one_machine_through_every_door(one_machine, tmp_path):
    """Counts, keys, three levels, files that are kept; and refusals are our errors, from workers too."""
    driven("connect", "everything", tmp_path)
    found = found_in(tmp_path)
    assert {what: found[what] for what in one_machine} == one_machine
    domain = Domain(visits=plain(list(range(97))))
    assert found["counted"] == counted_with(wards(), domain=domain, **COUNTED).cells.tolist()
    assert found["keys"] == count_keys(wards(), column="visits", **COUNTED)
    assert found["same twice"]
    assert found["kept"] == one_machine["relaxed"]
    kinds = [refusal.partition(":")[0] for refusal in found["refused"]]
    assert kinds == ["DataChanged", "BadTable", "BadTable", "BadTable", "BadTable"]
    assert "must name its person" in found["refused"][3]


@pytest.mark.skipif(missing() is not None, reason=missing() or "")
def test_executors_killed_while_a_ledger_publishes_and_relaxes_change_no_value(one_machine, tmp_path):
    """Two executors in processes of their own, speculation on: one is killed with SIGKILL in each of three stages."""
    driven("cluster", "lose_executors", tmp_path)
    assert found_in(tmp_path) == one_machine
    with ledger_of(tmp_path) as ledger:
        assert len(ledger.releases) == 1
        assert ledger.levels("visits") == (level("1/2"), level(1), level(2))


POINTS = ["publish-during", "publish-before", "publish-after", "relax-before", "relax-after"]


@pytest.mark.parametrize("point", POINTS)
def test_a_driver_killed_around_a_commit_has_released_all_or_nothing(point, one_machine, tmp_path):
    """Killed in a stage or before the commit, nothing is spent; after it, the event is. Again, the same values."""
    what, when = point.split("-")
    frame = on(session(), wards())
    if what == "relax":
        with ledger_of(tmp_path) as ledger:
            ledger.publish("visits", frame, **asked(**PROMISE, epsilon="1/2", request="monday"))
    assert driven("local", point, tmp_path, check=False).returncode == -signal.SIGKILL
    with ledger_of(tmp_path) as ledger:
        events = [one.levels for one in ledger.releases]
        before = [] if what == "publish" else [(level("1/2"),)]
        after = [(level("1/2"),)] if what == "publish" else [(level("1/2"), level(2))]
        assert events == (after if when == "after" else before)
        made = ledger.publish("visits", frame, **asked(**PROMISE, epsilon="1/2", request="monday")).table
        assert by_ward(made) == one_machine["published"]
        if what == "relax":
            assert by_ward(ledger.relax("visits", frame, epsilon=2).table) == one_machine["relaxed"]
        assert [one.levels for one in ledger.releases] == after
        assert ledger.verify()


@pytest.mark.parametrize("when", ["during", "before", "after"])
def test_a_driver_killed_while_responses_are_kept_leaves_all_of_them_or_none(when, one_machine, tmp_path):
    """Until the folder is named nothing is seen; the same calls then keep the same values, and clear what was left."""
    assert driven("local", f"keep-{when}", tmp_path, check=False).returncode == -signal.SIGKILL
    with ledger_of(tmp_path) as ledger:
        kept = ResponseFolder(ledger, tmp_path / "responses")
        assert len(kept.missing()) == (0 if when == "after" else 1)
        made = ledger.publish(
            "visits", on(session(), wards()), **asked(**PROMISE, epsilon="1/2", request="monday")
        ).table
        place = kept.keep("visits", made, epsilon="1/2")
        assert by_ward(session().read.parquet(*kept.files("visits", epsilon="1/2"))) == one_machine["published"]
        assert [one.name for one in place.parent.iterdir()] == [place.name]
        assert kept.verify() == len(wards()["ward"])

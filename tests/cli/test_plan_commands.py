"""`plan`, `release --plan`, `total`, `clean`, and `verify` and ledgers of such releases: from a count to an answer."""

import csv
import io
import json
import re
import shutil
import warnings
from fractions import Fraction
from pathlib import Path

import pytest

import utmost as ut
from cli.test_verify import key_pair
from repeated_bits import nothing_is_drawn
from running import new_ledger, with_recipe
from utmost import Counting
from utmost.counting import count_table
from utmost.errors import LittleProtection, UtmostError
from utmost.exact import level
from utmost.privacy import Unit
from utmost.workloads import Plan, Workload, read_domain, read_plan, save_plan, share_level

EXAMPLES = Path(__file__).parents[2] / "examples"
DOMAIN = EXAMPLES / "applicants_domain.json"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The applicants counted; a plan to measure the cells; their release at 20, where noise is rarer than 1e-7."""
    folder = tmp_path_factory.mktemp("made")
    domain = read_domain(DOMAIN)
    counted = count_table(EXAMPLES / "berkeley_applicants.csv", domain, Counting("applicant", at_most=1))
    wanted = Workload(domain, {"department sex outcome": 1, "sex": 2, "": 1})
    plan = Plan(domain, counted.unit, {"department sex outcome": 1}, wanted, level(1))
    counted.save(folder / "counted.json")
    save_plan(plan, folder / "plan.json")
    documents = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LittleProtection)
        for name, epsilon in (("release", 20), ("noisy", 1)):
            documents[name] = ut.release(counted, plan, epsilon=epsilon, once=True).table.facts()
    for name, document in documents.items():
        (folder / f"{name}.json").write_text(json.dumps(document))
    return folder


@pytest.fixture
def counted(made):
    return made / "counted.json"


@pytest.fixture
def release(made):
    return made / "release.json"


@pytest.fixture
def plan(made, tmp_path):
    return shutil.copy(made / "plan.json", tmp_path / "plan.json")


def test_a_plan_says_the_choice_in_numbers(run, counted, tmp_path):
    """Measured, wanted with error bars, other weightings, how far from the best, by class; the file is read back."""
    out = tmp_path / "p.json"
    say = ["plan", counted, "--want", "department sex", "--want", "sex=2", "--want", "total", "--epsilon", 1]
    code, shown, err = run(*say, "--up-to", 3, "--weightings", "--out", out)
    assert (code, err) == (0, "")
    for words in ("budget share", "margin, 95 %", "every answer alike", "unbiased answers, at every data set"):
        assert words in shown
    largest = run("plan", counted, "--want", "sex", "--want", "department sex", "--epsilon", 1)[1]
    assert '--want "sex=10"' in largest  # the table with the largest error beside that of its own
    assert "this table were" in largest  # the margin that it would have alone
    found = json.loads(run(*say, "--json")[1])
    assert [(one["sums"], one["weight"], one["answers"]) for one in found["wanted"]] == [
        *(("department sex", "1", 12), ("sex", "2", 2), ("", "1", 1)),
    ]
    kinds = {"per answer", "any mechanism", "any unbiased", "any integer plan", "given marginals"}
    assert set(found["within"]) == kinds
    assert all(one["times"] >= 1 for one in found["within"].values())
    assert 1 <= found["certified"] <= 1.021
    assert "(found by search, with proof)" in shown
    read = read_plan(out)
    assert (read.unit, str(read.level), str(read.tuned_at)) == (Unit(1, 1), "epsilon=1", "epsilon=3")
    assert read.workload is not None
    assert [part.name for part in read.workload.parts] == ["department sex", "sex", ""]


def test_another_weighting_is_taken_by_its_name(run, tmp_path):
    out, domain = tmp_path / "p.json", tmp_path / "d.json"
    domain.write_text(json.dumps({"department": list(range(100))}))
    say = ["plan", domain, "--at-most", 1, "--want", "department", "--want", "", "--epsilon", 1]
    shown = run(*say, "--choose", "cells alone", "--json", "--out", out)[1]
    assert [one["marginal"] for one in json.loads(shown)["measured"]] == ["department"]
    assert json.loads(out.read_text())["shares"] == [[["department"], "1"]]
    code, _, err = run(*say, "--choose", "cells")
    assert (code, "that --weightings shows" in err) == (2, True)


def test_a_plan_says_when_so_many_cells_are_open_that_its_release_cannot_be_cleaned(run, counted, tmp_path):
    """Of a few open cells a clean table is made; of more than 65 536 the remedy gives them a share."""
    say = ["plan", counted, "--want", "department outcome", "--want", "sex", "--epsilon", 1]
    assert run(*say, "--out", tmp_path / "p.json")[0] == 0
    assert read_plan(tmp_path / "p.json").clean_needs is None
    assert run("release", counted, "--plan", tmp_path / "p.json", "--epsilon", 1, "--out", tmp_path / "r.json")[0] == 0
    assert run("clean", tmp_path / "r.json", "--want", "department outcome")[0] == 0
    domain = tmp_path / "large.json"
    domain.write_text(json.dumps({"age": list(range(100)), "place": list(range(1000))}))
    say = ["plan", domain, "--at-most", 1, "--want", "age", "--want", "place", "--epsilon", 1]
    code, shown, _ = run(*say, "--out", tmp_path / "q.json")
    assert code == 0
    remedy = re.search(r'--want "([^"]+)"', " ".join(shown.split()).partition("clean ")[2])
    assert remedy is not None
    unclean = read_plan(tmp_path / "q.json")
    assert (unclean.clean_needs, "no clean table follows" in unclean.summary()) == ("age place", True)
    code, shown, _ = run(*say, "--want", remedy[1], "--out", tmp_path / "s.json")
    assert (code, "utmost clean" in shown) == (0, False)
    assert read_plan(tmp_path / "s.json").clean_needs is None


def test_a_replaced_record_of_counts_leaves_the_total(run, counted, tmp_path):
    """Planned for a domain, released for a table that was counted so, and for no other; checked."""
    place, out, own = tmp_path / "plan.json", tmp_path / "sums.json", tmp_path / "own.json"
    said = ["plan", DOMAIN, "--want", "sex", "--want", "total", "--at-most", "1", "--neighbours", "change-one"]
    said += ["--epsilon", "1"]
    code, shown, _ = run(*said, "--nonnegative", "--out", place)
    assert (code, "budget share of 1/2" in shown) == (0, True)
    both = (json.loads(run(*said, *more, "--json")[1])["wanted"] for more in ((), ["--nonnegative"]))
    before, after = ([part["standard_deviation"] for part in wanted] for wanted in both)
    assert after[0] < before[0]
    assert after[1] < before[1] / 1.5
    code, _, err = run("release", counted, "--plan", place, "--epsilon", 1, "--out", out)
    assert (code, "nothing negative" in " ".join(err.split())) == (2, True)
    events = EXAMPLES / "berkeley_applicants.csv"
    count = ("count", events, "--person", "applicant", "--domain", DOMAIN, "--at-most", 1)
    assert run(*count, "--neighbours", "change-one", "--out", own)[0] == 0
    code, shown, _ = run("release", own, "--plan", place, "--epsilon", 1, "--out", out)
    assert (code, "lowers none" in shown) == (0, True)
    assert run("verify", out)[0] == 0
    code, _, err = run("plan", own, "--want", "sex", "--epsilon", 1, "--nonnegative")
    assert (code, "already has its unit of privacy" in err) == (2, True)


def test_a_release_by_a_plan_is_one_file_and_tables_beside_it(run, counted, plan, tmp_path):
    out, tables = tmp_path / "release.json", tmp_path / "tables"
    say = ["release", counted, "--plan", plan, "--epsilon", 20, "--yes", "--out", out]
    code, shown, err = run(*say)
    assert (code, err) == (0, "")
    say_tables = ["total", out, "--tables", tables, "--plan", plan]
    code, written, err = run(*say_tables)
    assert (code, err, "sex.csv" in " ".join(written.split())) == (0, "", True)
    assert "no existing file is overwritten" in run(*say_tables)[2]
    assert "men" in shown
    assert "2691" in shown
    names = ["department-sex-outcome.csv", "sex.csv", "total.csv"]
    assert sorted(path.name for path in tables.iterdir()) == sorted([*names, *(f"{name}.json" for name in names)])
    for name in names:
        assert run("verify", tables / name)[0] == 0
        answers = [run("total", file, "--where", "sex=men", "--json") for file in (tables / name, out)]
        assert answers[0] == answers[1], "each table answers as the release does"
    assert (tables / "sex.csv").read_text() == "sex,count,count_margin\nmen,2691,0\nwomen,1835,0\n"
    assert ut.read_release(out).total().value == 4526
    assert "no existing file is overwritten" in run(*say)[2]


def test_a_dry_run_of_a_plan_draws_nothing(run, counted, plan, tmp_path):
    say = ["release", counted, "--plan", plan, "--epsilon", 1, "--dry-run", "--out", tmp_path / "r.json"]
    with nothing_is_drawn():
        code, shown, _ = run(*say)
    assert (code, "Nothing was drawn" in shown) == (0, True)
    assert json.loads(run(*say, "--json")[1])["error_bars"] == {"department sex outcome": 3, "sex": 9, "": 13}
    assert not (tmp_path / "r.json").exists()


def test_bins_are_asked_by_ranges(run, tmp_path):
    """From 20 up to 40, which is not in it; a mean by the middles of bins; sums by counts of another release."""
    domain, events = tmp_path / "d.json", tmp_path / "e.csv"
    domain.write_text(json.dumps({"age": {"bins": [0, 60], "width": 20}, "sex": ["men", "women"]}))
    events.write_text("who,age,sex,spent\na,25,men,3\nb,33,women,8\nc,39,men,1\nd,40,men,9\n")
    say = ["--person", "who", "--domain", domain, "--at-most", 1]
    loud = ["--epsilon", 40, "--yes"]
    plan, counts, sums = (tmp_path / name for name in ("plan.json", "counts.json", "sums.json"))
    run("plan", domain, "--at-most", 1, "--want", "age sex", "--want", "ranges of age", "--epsilon", 1, "--out", plan,
        "--share", "age sex=1")  # fmt: skip
    assert run("release", events, *say, "--plan", plan, *loud, "--out", counts)[0] == 0
    spent = [*say, "--values", "spent", "--per-cell", 1]
    assert run("count", events, *spent, "--out", tmp_path / "spent.json")[0] == 0
    assert run("release", tmp_path / "spent.json", "--plan", plan, *loud, "--out", sums)[0] == 0
    ask = ["total", counts, "--json", "--where", "age=20..40"]
    assert json.loads(run(*ask)[1])["value"] == 3
    assert json.loads(run(*ask, "--where", "sex=men")[1])["value"] == 2
    assert json.loads(run(*ask, "--mean", "age")[1])["value"] == pytest.approx(30)
    # what the interval holds is said: the mean of the middles, and beside it one for values that lie in their bins
    of_middles = json.loads(run(*ask, "--mean", "age")[1])
    assert of_middles["of"] == "middles of the bins"
    assert of_middles["interval_of_values"] == pytest.approx([20, 40])
    shown = " ".join(run(*ask[:2], *ask[3:], "--mean", "age")[1].split())
    assert "contains the mean of the middles of the bins, not of the values in them, at 95 % confidence" in shown
    assert "the mean of the values is from 20 to 40, if each value lies in its bin" in shown
    of_numbers = json.loads(run(*ask, "--mean", "age", "--values", "31")[1])
    assert (of_numbers["of"], of_numbers["value"]) == ("numbers given for the bins", pytest.approx(31))
    spread = json.loads(run(*ask, "--spread", "age")[1])
    assert (spread["of"], "interval_of_values" in spread) == ("middles of the bins", False)
    of_listed = [*ask[:3], "--mean", "sex", "--values", "0,1"]
    assert json.loads(run(*of_listed)[1])["of"] is None
    assert "contains the true mean of the counted" in " ".join(run(*of_listed[:2], *of_listed[3:])[1].split())
    assert json.loads(run(*ask, "--sums", sums)[1])["value"] == pytest.approx(1)
    empty = run("total", counts, "--where", "sex=men", "--over", "age=0..20")
    assert (empty[0], "not determined" in empty[1]) == (0, True)
    of_all = [
        run("total", counts, "--where", "sex=men", *words, "--json") for words in (["--over", "all"], ["--ratio"])
    ]
    assert of_all[0][0] == 0  # as the help writes it
    assert "--over all" in run("total", "--help")[1]
    assert json.loads(of_all[0][1])["interval"] == json.loads(of_all[1][1])["interval"]
    assert "edges of bins" in run("total", counts, "--where", "age=20..45")[2]
    median = json.loads(run("total", counts, "--json", "--median", "age")[1])
    assert (median["labels"], median["interval"], median["kind"]) == (["[20, 40)"], [20, 40], "quantile")
    assert "age from 20 to before 40" in run(*ask[:2], *ask[3:])[1]
    assert "in [40, 60)" in run("total", counts, "--quantile", "age=0.9")[1]
    spread = json.loads(run("total", counts, "--json", "--spread", "age")[1])
    low, high = json.loads(run("total", counts, "--json", "--variance", "age")[1])["interval"]
    assert (spread["kind"], low <= spread["value"] ** 2 <= high) == ("standard deviation", True)
    upto = json.loads(run("total", counts, "--json", "--cumulative", "age")[1])["values"]
    assert upto[-1]["value"] == json.loads(run("total", counts, "--json")[1])["value"]
    assert "within their margins at once" in run("total", counts, "--cumulative", "age")[1]
    for wrong in (
        ["--quantile", "age"],
        ["--quantile", "age=2"],
        ["--median", "sex"],
        ["--cumulative", "sex"],
        ["--spread", "age", "--variance", "age"],
        ["--median", "age", "--mean", "age"],
    ):
        assert run("total", counts, *wrong)[0] != 0


def test_clean_tables_stand_beside_what_was_released(run, release, tmp_path):
    out = tmp_path / "clean.csv"
    code, shown, err = run("clean", release, "--want", "department sex", "--out", out)
    assert (code, err) == (0, "")
    assert "a true zero can only be raised" in " ".join(shown.split())
    rows = list(csv.DictReader(io.StringIO(out.read_text())))
    assert rows[0] == {"department": "A", "sex": "men", "count": "825", "count_margin": "0", "clean": "825"}
    assert len(rows) == 12
    said = json.loads((tmp_path / "clean.csv.json").read_text())
    assert said["marginal"] == "department sex"
    assert "biased" in said["words"]
    assert len(json.loads(run("clean", release, "--json")[1])["table"]["clean"]) == 24
    assert run("clean", release, "--want", "total")[1].splitlines() == ["count,count_margin,clean", "4526,0,4526"]
    assert "no existing file is overwritten" in run("clean", release, "--out", out)[2]


def test_a_signed_release_by_a_plan_is_verified(run, counted, plan, tmp_path):
    (private, public), out = key_pair(tmp_path), tmp_path / "r.json"
    asked = ["release", counted, "--plan", plan, "--epsilon", 1, "--out", out, "--sign", private]
    assert run(*with_recipe(*asked))[0] == 0
    code, shown, _ = run("verify", out, "--public-key", public, "--json")
    assert (code, json.loads(shown)["signature"]) == (0, "valid")
    said = json.loads(out.read_text())
    out.write_text(json.dumps(said))
    assert "belong to this statement and to this key" in run("verify", out, "--public-key", public)[2]
    assert run("verify", out)[0] == 0
    said["sums"]["department sex outcome"][3] += 1
    out.write_text(json.dumps(said))
    code, _, err = run("verify", out)
    assert (code, "sums" in err) == (1, True)


def test_a_ledger_keeps_a_release_by_a_plan(run, counted, plan, tmp_path):
    """Published, relaxed and viewed: each answer is the document at its level; together they cost the highest level."""
    place = ["--ledger", new_ledger(tmp_path / "l.db"), "--name", "admissions"]
    outs = [tmp_path / name for name in ("a.json", "b.json", "c.json")]
    say = ["release", counted, "--plan", plan, *place]
    assert "spent in all" in run(*say, "--epsilon", "1/4", "--dry-run")[1]
    assert run(*say, "--epsilon", "1/4", "--out", outs[0])[0] == 0
    code, shown, err = run("relax", counted, *place, "--epsilon", 2, "--out", outs[1])
    assert (code, "answered at" in shown) == (0, True), err
    assert run("view", *place, "--epsilon", 1, "--confidence", "0.9", "--out", outs[2])[0] == 0
    assert [str(ut.read_release(out).level) for out in outs] == ["epsilon=1/4", "epsilon=2", "epsilon=1"]
    assert float(ut.read_release(outs[2]).confidence) == 0.9
    assert all(run("verify", out)[0] == 0 for out in outs)
    assert run("view", *place, "--epsilon", 1, "--out", tmp_path / "d.csv")[0] == 0  # its only table
    assert run("verify", tmp_path / "d.csv")[0] == 0
    code, _, err = run("relax", EXAMPLES / "berkeley_admissions.csv", *place, "--epsilon", 3)
    assert (code, "--each-row" in err) == (2, True)


@pytest.fixture(scope="module")
def stays(tmp_path_factory):
    """Visits and nights by region: a file of events, and its domain."""
    folder = tmp_path_factory.mktemp("stays")
    lines = [f"p{i},{'NSE'[i % 3]},{kind}" for i in range(60) for kind in ("visit", "night")[: 1 + i % 2]]
    (folder / "events.csv").write_text("\n".join(["who,region,kind", *lines]), encoding="utf-8")
    domain = {"region": list("NSE"), "kind": ["visit", "night"]}
    (folder / "domain.json").write_text(json.dumps(domain), encoding="utf-8")
    return folder


def test_columns_changed_together_from_events_to_a_checked_release(run, stays, tmp_path):
    """Counted by rows, planned by sums and differences, the figure said, released, verified, relaxed in a ledger."""
    domain, counted, plan, out = stays / "domain.json", tmp_path / "c.json", tmp_path / "p.json", tmp_path / "r.json"
    count = ["count", stays / "events.csv", "--person", "who", "--domain", domain, "--at-most", 2]
    code, shown, _ = run(*count, "--together", "kind", "--out", counted)
    assert (code, "1 row along kind" in " ".join(shown.split())) == (0, True)
    say = ["plan", counted, "--want", "region kind", "--want", "kind", "--epsilon", 1]
    code, shown, err = run(*say, "--out", plan)
    words = " ".join(shown.split())
    assert (code, err) == (0, "")
    assert "noise on each cell would have 2 times the weighted variance" in words
    assert "a cell has 0.996 times the variance" in words
    assert "the same, if one person changes whole rows" in words
    report = json.loads(run(*say, "--json")[1])
    assert (report["together"], [one["marginal"] for one in report["measured"]]) == (
        "kind",
        ["region, differences of kind", "region"],
    )
    assert json.loads(run(*say, "--method", "independent", "--json")[1])["together"] is None
    shares = ["--share", "region kind=1", "--share", "region=3/4", "--share", "=1/4", "--method", "rotated"]
    assert json.loads(run(*say, *shares, "--json")[1])["together"] == "kind"
    assert run("release", counted, "--plan", plan, "--epsilon", 1, "--out", out)[0] == 0
    code, shown, _ = run("verify", out)
    assert (code, "region, differences of kind" in " ".join(shown.split())) == (0, True)
    again = tmp_path / "again.json"
    counting = ["--person", "who", "--out", again]
    assert run("release", stays / "events.csv", "--plan", plan, "--epsilon", 1, *counting)[0] == 0
    place = ["--ledger", new_ledger(tmp_path / "ledger.sqlite"), "--name", "stays"]
    outs = [tmp_path / f"{name}.json" for name in "xyz"]
    publish = ["release", counted, "--plan", plan, "--epsilon", "1/4", *place, "--out", outs[0]]
    assert run(*publish)[0] == 0
    assert run("relax", counted, *place, "--epsilon", 2, "--out", outs[1])[0] == 0
    assert run("view", *place, "--epsilon", 1, "--out", outs[2])[0] == 0
    assert [ut.read_release(one).table.plan.together for one in outs] == ["kind"] * 3


def test_a_count_by_cells_proves_no_rows(run, stays, tmp_path):
    """The plan for a domain takes the promise at its word; a table that was counted otherwise is refused."""
    domain, counted, plan = stays / "domain.json", tmp_path / "c.json", tmp_path / "p.json"
    count = ["count", stays / "events.csv", "--person", "who", "--domain", domain, "--at-most", 2, "--out", counted]
    assert run(*count)[0] == 0
    say = ["plan", domain, "--want", "region kind", "--epsilon", 1, "--at-most", 2, "--out", plan]
    assert run(*say, "--together", "kind")[0] == 0
    code, shown, err = run("release", counted, "--plan", plan, "--epsilon", 1, "--out", tmp_path / "r.json")
    assert (code, shown) == (2, "")
    assert "one person changes whole rows along 'kind'" in err
    for words, said in (
        (["plan", counted, "--want", "kind", "--together", "kind"], "already has its unit of privacy"),
        (["plan", counted, "--want", "kind", "--method", "rotated"], "Pass --together, the axis"),
        (["plan", domain, "--want", "kind", "--at-most", 3, "--together", "kind"], "a multiple of 2"),
        (["plan", domain, "--want", "kind", "--at-most", 2, "--together", "region"], "a multiple of 3"),
    ):
        code, shown, err = run(*words, "--epsilon", 1)
        assert (code, shown) == (2, ""), err
        assert said in err
    assert "--at-most must be a multiple of 2" in run(*count[:-3], 3, "--together", "kind")[2]


REFUSED = {
    "a share of none": (["plan", "COUNTED", "--want", "sex", "--share", "sez=1", "--epsilon", 1], "mean 'sex'"),
    "shares too coarse": (["plan", "COUNTED", "--want", "department", "--share", "sex=1", "--epsilon", 1], "determine"),
    "a plan for a CSV": (["plan", "TABLE", "--want", "sex", "--epsilon", 1], "Count first"),
    "a promise of points for counts": (["promise", "COUNTED", "--planar", "--columns", "x,y"], "Leave out the counted"),
    "a promise for a CSV": (["promise", "TABLE", "--columns", "admitted"], "of columns or points needs no file"),
    "up to less": (["plan", "COUNTED", "--want", "sex", "--epsilon", 2, "--up-to", 1], "--up-to must be at least"),
    "no weight": (["plan", "COUNTED", "--want", "sex=-1", "--epsilon", 1], "must be positive"),
    "a table that is none": (["release", "TABLE", "--plan", "PLAN", "--epsilon", 1], "--plan needs a counted table"),
    "a signature of no table": (["total", "RELEASE", "--sign", "TABLE"], "--sign needs --tables"),
    "a plan that is none": (["release", "COUNTED", "--plan", "DOMAIN", "--epsilon", 1], "a plan must be of the kind"),
    "a level twice": (["total", "RELEASE", "--where", "sex=men", "--where", "sex=women"], "sex=men,women"),
    "a range of labels": (["total", "RELEASE", "--where", "sex=a..b"], "a range needs an axis of bins"),
    "no release": (["total", "COUNTED"], "must be a release by a plan"),
    "clean what is none": (["clean", "PLAN"], "Name a released table, or the .json file"),
    "a statement for its table": (["clean", "STATEMENT"], "Name the table instead"),
    "clean a label": (["clean", "RELEASE", "--want", "sex=men"], "must name columns"),
}  # fmt: skip


@pytest.mark.parametrize(("words", "said"), REFUSED.values(), ids=REFUSED)
def test_wrong_questions_are_answered_with_what_to_do(run, counted, plan, release, words, said):
    places = {"COUNTED": counted, "PLAN": plan, "RELEASE": release, "DOMAIN": DOMAIN}
    places["TABLE"] = EXAMPLES / "berkeley_admissions.csv"
    places["STATEMENT"] = EXAMPLES / "released_admissions.csv.json"
    code, shown, err = run(*[places.get(word, word) for word in words])
    assert code in (1, 2)
    assert shown == ""
    assert said in err


def test_a_level_is_shared_by_plans(run, tmp_path):
    """The shares of the library; each plan's release at its epsilon, and its errors there."""
    domain, plans = tmp_path / "domain.json", {}
    domain.write_text('{"page": ["A", "B"]}')
    for name, bound in (("visits", 1), ("spent", 500)):
        plans[name] = tmp_path / f"{name}.json"
        say = ["--at-most", 2, "--per-cell", bound, "--want", "page", "--epsilon", 1, "--out", plans[name]]
        assert run("plan", domain, *say)[0] == 0
    code, shown, _ = run("share", *plans.values(), "--weight", "visits=8", "--epsilon", 1)
    assert code == 0
    assert "--plan" in shown
    guarantee = "in all releases together by at most 2.72 (epsilon = 1). This assumes that one individual changes"
    assert guarantee in " ".join(shown.split())
    report = json.loads(run("share", *plans.values(), "--weight", "visits=8", "--epsilon", 2, "--json")[1])
    wanted = share_level({name: read_plan(path) for name, path in plans.items()}, epsilon=2, weights={"visits": 8})
    assert {name: measure["share"] for name, measure in report["measures"].items()} == {
        name: str(part) for name, part in wanted.shares.items()
    }
    assert sum(Fraction(measure["level"]) for measure in report["measures"].values()) == 2
    assert report["within"] == wanted.within
    twice = ["--weight", "visits=8", "--weight", "visits=2"]  # of which one would be lost
    for wrong in (["--weight", "other=1"], ["--weight", "visits"], ["--weight", "visits=0"], [plans["spent"]], twice):
        assert run("share", *plans.values(), *wrong, "--epsilon", 1)[0] == 2
    assert run("share", *plans.values())[0] == 2


def test_rows_are_planned_released_and_verified(run, tmp_path):
    """`plan --method rows` for prefixes: plan, release and answers are read back and verified; no clean table."""
    domain, table, plan, out = (tmp_path / name for name in ("domain.json", "ages.csv", "plan.json", "release.json"))
    domain.write_text(json.dumps({"age": {"bins": [0, 16], "width": 1}}))
    rows = [[f"p{place}", place % 16] for place in range(200)]
    table.write_text("\n".join(["person,age", *(",".join(map(str, row)) for row in rows)]))
    want = ["--want", "prefixes of age", "--epsilon", 1, "--at-most", 1]
    code, shown, err = run("plan", domain, *want, "--method", "rows", "--out", plan)
    assert (code, err) == (0, "")
    assert "row of age" in shown
    planned = read_plan(plan)
    assert planned.rows is not None
    assert planned.value < 13
    events = [table, "--person", "person", "--domain", domain, "--at-most", 1]
    code, shown, err = run("release", *events, "--plan", plan, "--epsilon", 1, "--out", out)
    assert (code, err) == (0, "")
    assert ut.read_release(out).table.plan.rows.facts() == planned.rows.facts()
    assert run("verify", out)[0] == 0
    code, shown, err = run("total", out, "--where", "age=0..8", "--json")
    assert (code, err) == (0, "")
    assert abs(json.loads(shown)["value"] - 104) < 60
    code, _, err = run("clean", out, "--out", tmp_path / "clean.csv")
    assert code == 2
    assert "rows" in err


def test_a_table_has_one_margin_on_every_page(run, counted, tmp_path):
    """The margin of the published table: least squares has put all measured sums together, which one noise has not."""
    plan, out = tmp_path / "several.json", tmp_path / "r.json"
    wanted = ["--want", "department sex", "--want", "sex", "--want", "department sex outcome"]
    assert run("plan", counted, *wanted, "--epsilon", 1, "--out", plan)[0] == 0
    assert run("release", counted, "--plan", plan, "--epsilon", 1, "--out", out)[0] == 0
    assert run("total", out, "--tables", tmp_path / "tables", "--plan", plan)[0] == 0
    with (tmp_path / "tables" / "department-sex-outcome.csv").open() as file:
        margin = next(csv.DictReader(file))["count_margin"]
    assert run("statement", out, "--html", tmp_path / "page.html")[0] == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert f">{margin}<" in page


def test_ranges_within_a_table_are_asked_for_as_the_refusal_says(run, tmp_path):
    (tmp_path / "d.json").write_text('{"age": {"edges": [0, 18, 65, 100]}, "sex": ["m", "w"]}')
    asked = ["plan", tmp_path / "d.json", "--at-most", 1, "--epsilon", 1, "--want"]
    code, _, err = run(*asked, "sex ranges of age")
    assert (code, '"ranges of age by sex"' in err) == (2, True)
    assert run(*asked, "ranges of age by sex")[0] == 0


def test_wanted_tables_are_released_by_the_plan_that_plan_would_make(run, made, tmp_path):
    """Without a plan's file: from events and from a counted file alike."""
    wanted = ["--want", "department sex", "--want", "sex", "--want", ""]
    events = [EXAMPLES / "berkeley_applicants.csv", "--each-row", "--domain", DOMAIN, "--by", "department,sex,outcome"]
    plan = json.loads(run("plan", made / "counted.json", *wanted, "--epsilon", 1, "--json")[1])
    for brought in ([made / "counted.json"], events):
        shown = json.loads(run("release", *brought, *wanted, "--epsilon", 1, "--dry-run", "--json")[1])
        assert shown["shares"] == {row["marginal"]: row["share"] for row in plan["measured"]}
        assert "clean_needs" not in shown
        assert plan["clean_needs"] is None
        assert all(row["error_bar"] <= row["split_error_bar"] for row in plan["wanted"])
    assert "utmost clean cannot" not in run("release", *brought, *wanted, "--epsilon", 1, "--dry-run")[1]
    out = tmp_path / "released.json"
    assert run("release", *events, *wanted, "--epsilon", 1, "--out", out)[0] == 0
    assert run("verify", out)[0] == 0
    assert list(ut.read_release(out)) == ["department sex", "sex", ""]
    shown = run("total", out, "--tables", tmp_path / "tables", "--json")[1]
    files = sorted(path.name for path in (tmp_path / "tables").glob("*.csv"))
    assert files == ["department-sex.csv", "sex.csv", "total.csv"]
    assert not {"department sex", "sex", "total"} & set(json.loads(shown)["left_out"])
    assert all(run("verify", path)[0] == 0 for path in (tmp_path / "tables").glob("*.csv"))


def test_wanted_tables_are_released_by_noise_made_once(run, tmp_path):
    """As by `once=True`: in one draw where that has less error, by the plan where it has not; never in a ledger."""
    (tmp_path / "d.json").write_text(json.dumps({name: ["no", "yes"] for name in "abcd"}), encoding="utf-8")
    (tmp_path / "e.csv").write_text("a,b,c,d\n" + "no,yes,no,yes\n" * 90, encoding="utf-8")
    events = ["release", tmp_path / "e.csv", "--each-row", "--domain", tmp_path / "d.json", "--epsilon", 1]
    tables = [*events, "--want", "tables of 1 column", "--once", "tables"]
    assert "one draw" in run(*tables, "--dry-run")[1]
    assert run(*tables, "--out", tmp_path / "t.csv")[0] == 0
    assert run("verify", tmp_path / "t.csv")[0] == 0
    assert (tmp_path / "t.csv").read_text(encoding="utf-8").startswith("table,")
    code, _, err = run(*tables, "--out", tmp_path / "t.json")
    assert (code, "t.csv" in err) == (2, True)
    planned = [*events, "--want", "a", "--want", "b c", "--once", "tables"]
    assert run(*planned, "--out", tmp_path / "p.json")[0] == 0
    assert list(ut.read_release(tmp_path / "p.json")) == ["a", "b c"]
    code, _, err = run(*tables, "--ledger", new_ledger(tmp_path / "l.db"), "--name", "x")
    assert (code, "Leave out --once" in err) == (2, True)
    code, _, err = run(*events, "--once", "tables")
    assert (code, "Add, for example, --want" in err) == (2, True)


def test_a_plan_names_the_option_of_noise_made_once(run, tmp_path):
    """One draw of all one-way tables, and a release by that option has its margins."""
    (tmp_path / "d.json").write_text(json.dumps({name: ["no", "yes"] for name in "abcd"}), encoding="utf-8")
    asked = ["plan", tmp_path / "d.json", "--at-most", 1, "--epsilon", 1, "--want", "tables of 1 column"]
    assert "utmost release COUNTED --want ... --once tables" in " ".join(run(*asked)[1].split())
    found = json.loads(run(*asked, "--json")[1])
    assert "one draw of one-way tables" in found["made_once"]
    assert found["one_way_times"] > 1
    both = " ".join(run(*asked, "--want", "=8")[1].split())  # the total, with its weight
    assert "one draw of one-way tables, with a separate total" in both


def test_a_plan_in_a_ledger_is_counted_again_under_its_own_relation(run, tmp_path):
    (tmp_path / "d.json").write_text('{"sex": ["m", "w"]}', encoding="utf-8")
    (tmp_path / "e.csv").write_text("sex\nm\nw\nw\n", encoding="utf-8")
    kept = ["--each-row", "--ledger", new_ledger(tmp_path / "l.db"), "--name", "a"]
    published = ["release", tmp_path / "e.csv", *kept, "--domain", tmp_path / "d.json", "--want", "sex"]
    assert run(*published, "--epsilon", 1, "--out", tmp_path / "one.json")[0] == 0
    again = ["relax", tmp_path / "e.csv", *kept, "--epsilon", 2, "--out", tmp_path / "two.json"]
    (tmp_path / "r.toml").write_text('neighbours = "change-one"', encoding="utf-8")
    code, _, err = run(*again, "--recipe", tmp_path / "r.toml")
    assert (code, "Leave out neighbours in the recipe: the plan has add-remove" in " ".join(err.split())) == (2, True)
    assert run(*again)[0] == 0


def test_months_stand_under_the_name_of_their_column(run, tmp_path):
    """The short form of a domain file, and a level of time by its kind of period, in commands that take levels."""
    (tmp_path / "d.json").write_text('{"date": {"months": ["2024", "2025"]}, "sex": ["m", "w"]}')
    (tmp_path / "e.csv").write_text("date,sex\n2024-01-05,m\n2024-05-07,w\n", encoding="utf-8")
    events = ["release", tmp_path / "e.csv", "--each-row", "--domain", tmp_path / "d.json", "--epsilon", 1]
    out = tmp_path / "out.json"
    assert run(*events, "--want", "quarter sex", "--want", "month=2", "--out", out)[0] == 0
    assert list(ut.read_release(out)) == ["date/quarter sex", "date"]
    by_kind, by_name = (run("total", out, "--where", f"{name}=2024-05", "--json")[1] for name in ("month", "date"))
    assert json.loads(by_kind)["margin"] == json.loads(by_name)["margin"]
    assert run("release", *events[1:], "--by", "date", "--out", tmp_path / "t.csv")[0] == 0
    code, _, err = run(*events, "--by", "quarter")
    assert (code, "Count by 'date', which has quarters." in err) == (2, True)
    with pytest.raises(UtmostError, match="'date/quarter'"):
        ut.Workload(read_domain(tmp_path / "d.json"), {"quarter": 1})
    several = ut.Domain.of_facts({"born": {"years": ["1900", "2000"]}, "died": {"years": ["1950", "2020"]}})
    assert several.period_names == {}

"""Tables with withheld cells are what their rule makes of a release: every forgery of a file is refused."""

import json
import re
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256

import numpy as np
import pytest

import utmost as ut
from counting_words import counted_with
from every_format import WRITTEN
from utmost.errors import BadTable, OutOfRange, Unsupported
from utmost.releases import Answer, WithheldTable
from utmost.statements import check_withheld, read_release
from utmost.workloads import Domain, Plan

ENDINGS = (*WRITTEN, ".csv.gz")
NOISY = {"place": list("abcd"), "n": [500, 97, 890, 3], "m": [1, 2, 300, 4]}


@pytest.fixture
def table(tmp_path):
    release = ut.release(
        NOISY, ut.Promise(columns=["n", "m"], public="place", unit=ut.Unit(1, 2)), epsilon=2, once=True
    )
    release.save(tmp_path / "full.csv")
    return release, tmp_path / "full.csv"


@pytest.fixture
def planned(tmp_path):
    domain = Domain({"age": ["0-14", "15-64", "65+"], "sex": ["men", "women"]})
    plan = Plan(domain, ut.Unit(1, 1), {("age", "sex"): "3/4", ("sex",): "1/4"})
    release = ut.release(np.array([[512, 9], [353, 217], [20, 402]]), plan, epsilon=1, once=True).table
    release.save(tmp_path / "full.json")
    return release, tmp_path / "full.json"


def changed(place, change, **statement):
    """The file with its text changed and the digest put right, as a forger would."""
    beside = place.with_name(place.name + ".json")
    place.write_text(change(place.read_text()))
    said = json.loads(beside.read_text()) | statement
    beside.write_text(json.dumps(said | {"table": {"of": "file", "sha256": sha256(place.read_bytes()).hexdigest()}}))
    return place


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("mark", ["withheld", "unreliable"])
def test_every_format_comes_back_and_is_verified(table, tmp_path, ending, mark, run):
    release, full = table
    place = tmp_path / f"shown{ending}"
    release.withhold(below=90, mark=mark).save(place)
    found = read_release(place)
    assert isinstance(found, WithheldTable)
    assert (found.shown, found.cells, found.rule.mark) == (4, 8, mark)
    assert run("verify", place)[0] == 0
    code, shown, _ = run("verify", place, "--release", full)
    assert code == 0
    assert "that the rule withholds are missing" in " ".join(shown.split())


def test_tables_of_a_plan_come_back_and_are_verified_beside_the_release_or_any_table_of_it(planned, tmp_path, run):
    release, full = planned
    tables = release.withhold(["age", "sex"], ["age"], ["sex"], (), below=90, complementary=True)
    release.save(tmp_path / "sex.csv", marginal=["sex"])
    for name, ending in zip(tables, ENDINGS, strict=False):
        place = tmp_path / f"shown{ending}"
        tables.save(place, marginal=name)
        assert read_release(place).marginals == ("age sex", "age", "sex", "")
        for whole in (full, tmp_path / "sex.csv"):
            assert run("verify", place, "--release", whole)[0] == 0


FORGERIES = {
    "a withheld cell is filled in": lambda text: text.replace("d,,withheld", "d,3,withheld"),
    "a withheld cell is shown": lambda text: text.replace("d,,withheld", "d,3,shown"),
    "a shown cell is made blank without its mark": lambda text: re.sub("b,[0-9]+,", "b,,", text),
    "a mark is another word": lambda text: text.replace("d,,withheld", "d,,hidden"),
    "a margin is another": lambda text: text.replace("shown,3", "shown,1", 1),
    "a row goes": lambda text: text[: text.rindex("d,")],
    "a column goes": lambda text: "\n".join(line.partition(",")[2] for line in text.splitlines()) + "\n",
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_table_is_refused_without_the_release(tmp_path, name, run):
    noisy = {"place": list("abcd"), "n": [500, 970, 890, 3]}
    release = ut.release(noisy, ut.Promise(columns="n", public="place", unit=ut.Unit(1, 1)), epsilon=1, once=True)
    place = tmp_path / "shown.csv"
    release.withhold(below=90).save(place)
    before = place.read_text()
    changed(place, FORGERIES[name])
    assert place.read_text() != before
    code, _, error = run("verify", place)
    assert code == 1, error


def test_only_the_release_shows_that_too_much_is_missing_or_a_value_is_another(table, tmp_path, run):
    release, full = table
    place = tmp_path / "shown.csv"
    for change in (
        lambda text: text.replace(
            text.splitlines()[1], "a,,withheld,3," + ",".join(text.splitlines()[1].split(",")[4:])
        ),
        lambda text: text.replace(text.splitlines()[1].split(",")[1], "499999", 1),
    ):
        release.withhold(below=90).save(place, overwrite=True)
        said = json.loads((tmp_path / "shown.csv.json").read_text())
        missing = change(place.read_text()).count("shown,")
        changed(place, change, shown=said["shown"] + missing - place.read_text().count("shown,"))
        assert run("verify", place)[0] == 0, "nothing in the table tells"
        assert run("verify", place, "--release", full)[0] == 1


def test_another_release_is_no_evidence(table, planned, tmp_path):
    release, _ = table
    withheld = release.withhold(below=90)
    said = json.loads(json.dumps(withheld.statement_with(None)))
    other = ut.release(NOISY, ut.Promise(columns=["n", "m"], public="place", unit=ut.Unit(1, 2)), epsilon=1, once=True)
    other.save(tmp_path / "other.csv")
    check_withheld(said, withheld.table)
    for whole in (read_release(tmp_path / "other.csv"), Answer.of_sums(planned[0])):
        with pytest.raises(BadTable):
            check_withheld(said, withheld.table, whole)


def test_the_page_and_the_registry_entry_say_the_rule_in_words_and_as_facts(planned, table, tmp_path, run):
    for release, marginals in ((planned[0], [("sex",)]), (table[0], [])):
        place = tmp_path / f"shown{len(marginals)}.csv"
        withheld = release.withhold(*marginals, below=90, relative_margin="1/4")
        withheld.save(place)
        code, entry, _ = run("statement", place, "--out", "-")
        assert code == 0
        assert "its noisy value is 90 or more" in entry
        assert "below 90, relative_margin 1/4, complementary False, mark withheld" in entry
        assert run("statement", place, "--html", tmp_path / f"{len(marginals)}.html")[0] == 0


def test_the_command_withholds_what_the_method_does(table, planned, tmp_path, run):
    release, full = table
    assert run("withhold", full, "--below", 90, "--relative-margin", "1/4", "--out", tmp_path / "shown.csv")[0] == 0
    release.withhold(below=90, relative_margin="1/4").save(tmp_path / "same.csv")
    assert (tmp_path / "shown.csv").read_text() == (tmp_path / "same.csv").read_text()
    code, out, _ = run("withhold", full, "--below", 90, "--json")
    assert code == 0
    assert json.loads(out)[0]["table"]["n"][3] is None
    for wrong in ((), ("--below", 90, "--want", "sex"), ("--below", 90, "--mark", "c"), ("--below", 0)):
        assert run("withhold", full, *wrong)[0] == 2
    assert run("withhold", full, "--below", 90, "--out", full)[0] == 2
    assert run("withhold", tmp_path / "shown.csv", "--below", 90)[0] == 2, "what is withheld is no release"
    _, whole = planned
    marginals = [word for name in ("age sex", "sex", "total") for word in ("--want", name)]
    tables = tmp_path / "tables"
    assert run("withhold", whole, "--below", 90, *marginals, "--out", tmp_path / "one.csv")[0] == 2, "three tables"
    code, shown, _ = run("withhold", whole, "--below", 90, *marginals)
    assert (code, "cells are shown" in shown) == (0, True)
    assert run("withhold", whole, "--below", 90, "--complementary", *marginals, "--tables", tables)[0] == 0
    assert len(list(tables.glob("*.csv"))) == len(list(tables.glob("*.csv.json"))) == 3
    for place in tables.glob("*.csv"):
        assert run("verify", place, "--release", whole)[0] == 0


def test_a_statement_that_does_not_follow_from_itself_is_refused(table):
    release, _ = table
    withheld = release.withhold(below=90)
    said = json.loads(json.dumps(withheld.statement_with(None)))
    for forged in (
        said | {"release": said["release"] | {"table": {"of": "cells", "sha256": "0" * 64}}},
        said | {"release": {}},
        said | {"release": said["release"] | {"epsilon": "1"}},
        said | {"rule": said["rule"] | {"below": "91"}},
        said | {"bias": []},
        said | {"shown": 99},
    ):
        with pytest.raises((BadTable, OutOfRange)):
            check_withheld(forged, withheld.table)
    with pytest.raises(Unsupported):
        check_withheld(said | {"format": 2}, withheld.table)


def test_amounts_are_said_as_decimals(tmp_path, run):
    """Of three thousand amounts of up to 250.25 each."""
    events = {"who": range(3000), "place": ["a", "b", "c"] * 1000, "paid": [12.25, 250.25, 7.0] * 1000}
    domain, options = Domain(place=["a", "b", "c"]), {"step": "0.01", "each": (0, "250.25"), "per_cell": (0, "250.25")}
    paid = counted_with(events, person="who", domain=domain, at_most=1, values="paid", **options)
    plan = ut.choose_plan(ut.Workload(domain, {"place": 1}), paid.unit, epsilon=1)
    release = ut.release(paid, plan, epsilon=1, once=True).table
    withheld = release.withhold(["place"], below="18073.125")["place"]
    assert "18073.125 or more" in withheld.words
    assert not re.search(r"\d/\d", withheld.words)
    withheld.save(tmp_path / "now.csv")
    assert run("verify", tmp_path / "now.csv")[0] == 0
    thirds = replace(withheld.rule, below=Fraction(1, 3)).words
    assert "1/3 (about 0.333333) or more" in thirds


def test_columns_in_another_order_and_cells_that_no_noise_gives_are_refused(table, tmp_path):
    """Both were believed of a withheld table, and refused of the whole one."""
    release, _ = table
    place = tmp_path / "shown.csv"
    release.withhold(below=90).save(place)
    text, said = place.read_text(), json.loads((tmp_path / "shown.csv.json").read_text())
    promise = said["release"]["promise"] | {"columns": ["m", "n"]}
    other = {"released": ["m", "n"], "release": said["release"] | {"promise": promise}}
    changed(place, lambda text: text, **other)
    with pytest.raises(BadTable, match="in the order of the table"):
        read_release(place)
    cell = text.splitlines()[1].split(",")[1]
    changed(place, lambda text: text.replace(f",{cell},", f",{cell}.5,", 1), **said)
    with pytest.raises(BadTable, match="must be an integer"):
        read_release(place)

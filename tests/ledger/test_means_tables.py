"""Tables of several amounts in a ledger: one level for all amounts, published, relaxed and viewed together or not at
all."""

import json
from fractions import Fraction

import pytest

import utmost as ut
from utmost.errors import AlreadyPublished, BudgetExceeded, DataChanged, NotPublished, OutOfRange
from utmost.releases import MeasuresTable, NoisySums
from utmost.statements import registry_entry, stated_release

ONE_STORE = True

PEOPLE = {
    "region": ["NS"[row % 2] for row in range(300)],
    "income": [None if row % 7 == 0 else row % 90 for row in range(300)],
    "rent": [row % 18 for row in range(300)],
}
MEASURES = {
    "income": ut.mean("income", each=(0, 100), missing="leave out"),
    "rent": ut.mean("rent", each=(0, 20)),
    "tax": ut.mean("rent", each=(0, 5)),
}


TOGETHER = {"first": "1/2", "between": "3000"}


def counted(people=PEOPLE, names=("income", "rent", "tax")):
    measures = {name: MEASURES[name] for name in names}
    return ut.count_measures(people, {"region": ["N", "S"]}, ut.Counting(each_row=True), measures)


@pytest.fixture
def ledger(place):
    with ut.Ledger.open(place, create=True) as opened:
        yield opened


def test_all_answers_cost_the_largest_level_and_follow_from_each_other(ledger, tmp_path):
    tables = counted()
    first = ledger.publish_means("wages", tables, epsilon="1/2")
    published = first.table  # each look computes the margins of all means
    assert first.level == ut.level("1/2")
    assert {release.level for release in first.releases.values()} == {ut.level("1/6")}
    assert ledger.spent(dataset="wages").epsilon == Fraction(1, 2)
    assert ledger.publish_means("wages", tables, epsilon="1/2").table == published  # the same request again
    sharper = ledger.relax_means("wages", tables, epsilon=3000)
    relaxed = sharper.table
    assert ledger.spent(dataset="wages").epsilon == 3000
    assert relaxed["income_count"] == pytest.approx([128, 129], abs=0.5)
    rents = [sum(PEOPLE["rent"][start::2]) for start in (0, 1)]
    assert relaxed["rent_sum"] == pytest.approx(rents, abs=1)
    assert ledger.view_means("wages", epsilon="1/2").table == published
    between = ledger.view_means("wages", epsilon=1)
    assert between.level == ut.level(1)
    assert ledger.spent(dataset="wages").epsilon == 3000
    for name, table in {"first": first, "between": between}.items():
        statement = table.save(tmp_path / f"{name}.csv")
        assert (statement["name"], statement["together"]["epsilon"]) == ("wages", TOGETHER[name])
        facts = stated_release(statement)
        assert facts.level == ut.level(TOGETHER[name])
        assert f"the whole table costs epsilon = {float(table.level.epsilon):g}" in facts.composition
        assert registry_entry(facts)["deployment"]["deployment_model"]["release_type"] == "Many releases"
        assert statement["releases"]["rent"]["name"] == "wages: rent"
        assert ut.read_release(tmp_path / f"{name}.csv").table == table.table


def test_a_rehearsal_says_what_the_call_spends_and_refuses_what_it_refuses(ledger):
    tables = counted()
    ledger.budget("people", limit=2)
    words = {"epsilon": "3/2", "dataset": "people"}
    assert ledger.rehearse_means("wages", tables, **words).spent == Fraction(3, 2)
    assert not ledger.releases
    ledger.publish_means("wages", tables, **words)
    assert ledger.rehearse_means("wages", tables, **words).spent == Fraction(3, 2)
    assert ledger.rehearse_means("wages", tables, epsilon=2, relax=True).remaining == 0
    for call in (
        lambda: ledger.rehearse_means("wages", tables, epsilon=3, relax=True),
        lambda: ledger.relax_means("wages", tables, epsilon=3),
        # each amount would fit in what is left, and all together do not
        lambda: ledger.rehearse_means("more", tables, epsilon="3/4", dataset="people"),
        lambda: ledger.publish_means("more", tables, epsilon="3/4", dataset="people"),
    ):
        with pytest.raises(BudgetExceeded):
            call()
    assert ledger.spent(dataset="people").epsilon == Fraction(3, 2)
    assert [release.name for release in ledger.releases] == ["wages: income", "wages: rent", "wages: tax"]


def test_other_data_other_amounts_and_other_tables_of_the_name_are_refused(ledger):
    tables = counted()
    ledger.publish_means("wages", tables, epsilon=1)
    changed = counted(PEOPLE | {"rent": [0, *PEOPLE["rent"][:-1]]})
    fewer = counted(names=("income", "rent"))
    income = tables["income"]
    refusals = {
        DataChanged: [
            lambda: ledger.relax_means("wages", changed, epsilon=2),
            lambda: ledger.rehearse_means("wages", changed, epsilon=2, relax=True),
            lambda: ledger.publish_means("wages", changed, epsilon=1),
        ],
        OutOfRange: [
            lambda: ledger.relax_means("wages", fewer, epsilon=2),
            lambda: ledger.publish_means("new", {"rent": income}, epsilon=1),
            lambda: ledger.publish_means("new", {}, epsilon=1),
        ],
        NotPublished: [
            lambda: ledger.view_means("wage", epsilon=1),
            lambda: ledger.relax_means("wage", tables, epsilon=2),
        ],
        AlreadyPublished: [
            lambda: ledger.publish_means("wages", fewer, epsilon=1),  # at other shares
            lambda: ledger.publish_means("wages", tables, epsilon=2),
            lambda: ledger.publish("wages", income, ut.Promise.of_counted(income), epsilon=1),
        ],
    }
    for error, calls in refusals.items():
        for call in calls:
            with pytest.raises(error):
                call()
    assert ledger.spent(dataset="wages").epsilon == 1
    second = ledger.publish_means("wages", changed, epsilon=1, version=2)
    assert ledger.spent(dataset="wages").epsilon == 2
    assert ledger.view_means("wages", epsilon=1).table == second.table
    ledger.publish("pay", income, ut.Promise.of_counted(income), epsilon=1, dataset="wages")
    with pytest.raises(AlreadyPublished):
        ledger.publish_means("pay", tables, epsilon=1, dataset="wages")


def test_amounts_that_were_relaxed_one_by_one_are_seen_at_equal_shares(ledger):
    tables = counted(names=("income", "rent"))
    first = ledger.publish_means("wages", tables, epsilon=1)
    ledger.relax("wages: rent", tables["rent"], epsilon=2)
    assert ledger.spent(dataset="wages").epsilon == Fraction(5, 2)
    assert ledger.view_means("wages", epsilon=1).table == first.table
    assert ledger.relax_means("wages", tables, epsilon=4).level == ut.level(4)
    assert ledger.spent(dataset="wages").epsilon == 4
    facts = first.releases["income"].facts()
    with pytest.raises(OutOfRange, match="history"):
        MeasuresTable(dict(first.releases) | {"income": NoisySums.of_facts(facts | {"data_version": 2})})


def test_a_rehearsal_by_a_recipe_shows_the_margins_of_the_release(run, tmp_path):
    """What a job says again, relaxes and refuses is tried in tests/cli, of several means, too."""
    rows = [",".join("" if cell is None else str(cell) for cell in row) for row in zip(*PEOPLE.values(), strict=True)]
    data, place, out = tmp_path / "people.csv", tmp_path / "l.db", tmp_path / "wages.csv"
    data.write_text("\n".join(["region,income,rent", *rows]), encoding="utf-8")
    (tmp_path / "d.json").write_text(json.dumps({"region": ["N", "S"]}))
    means = ["--mean", "income=0,100", "--mean", "rent=0,20", "--leave-out", "amounts"]
    asked = ["--each-row", "--by", "region", "--domain", tmp_path / "d.json", *means]
    recipe = tmp_path / "wages.toml"
    made = run("init", *asked, "--epsilon", 1, "--ledger", place, "--name", "wages", "--out", recipe)
    assert made[0] == 0, made
    assert run("ledger", "create", place, "--key-file", tmp_path / "wages.secret.toml")[0] == 0
    code, shown, _ = run("release", data, "--recipe", recipe, "--dry-run", "--json")
    rehearsed = json.loads(shown)
    assert (code, rehearsed["after"]["spent"]) == (0, "1")
    assert run("release", data, "--recipe", recipe, "--out", out)[0] == 0
    header, first = (line.split(",") for line in out.read_text(encoding="utf-8").splitlines()[:2])
    for name, margin in rehearsed["column_error_bars"].items():
        if not name.startswith(("income_mean", "rent_mean")):
            assert float(first[header.index(f"{name}_margin")]) == pytest.approx(margin, rel=1e-2)


def test_no_release_joins_or_changes_a_table_by_its_name(ledger):
    """A name "wages: rent" stands for an amount of the table: it is published with all amounts, or refused."""
    tables = counted(names=("income", "rent"))
    seen = ledger.publish_means("wages", tables, epsilon=1)
    tax, rent = (counted(names=("rent", "tax"))[name] for name in ("tax", "rent"))
    for name, table, version in (("wages: tax", tax, None), ("wages: rent", rent, 2)):
        say = {"table": table, "promise": ut.Promise.of_counted(table), "epsilon": "1/4", "dataset": "wages"}
        for call in (ledger.publish, ledger.rehearse):
            with pytest.raises(AlreadyPublished, match=r"'wages'.*: income, rent"):
                call(name, **say, version=version)
    assert ledger.spent(dataset="wages").epsilon == 1
    assert ledger.view_means("wages", epsilon=1).table == seen.table
    ledger.publish("pay: tax", tax, ut.Promise.of_counted(tax), epsilon="1/4", dataset="wages")
    with pytest.raises(AlreadyPublished, match=r"'pay'.*: tax"):
        ledger.publish_means("pay", tables, epsilon=1, dataset="wages")

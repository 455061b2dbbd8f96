"""Entries of the deployments registry and pages to print: valid by the registry's own schema, for every release."""

import json
import string
from dataclasses import replace
from datetime import date
from fractions import Fraction
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory

import jsonschema
import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import utmost as ut
from asking import asked
from running import called
from utmost.counting import CountedTable
from utmost.errors import OutOfRange, Unsupported, UtmostError, WrongKind
from utmost.promises import key_noise, once_together, selected_cell_noise
from utmost.releases import Texts, release_detailed, release_measures
from utmost.statements import Deployment, registry_entry, stated_release, statement_page, yaml_text
from utmost.workloads import Plan

SCHEMA = yaml.safe_load((Path(__file__).parent / "registry/deployments-schema.yaml").read_text())
TABLE = {"n": [7, 9, 12], "m": [1, 2, 3], "place": ["a", "b*_`", "c"]}
UNIT = {"unit": ut.Unit(1, 2)}
SAID = Deployment(
    "Counts: a test",
    ["An Office", "Another"],
    "planning",
    "Nowhere",
    "Counts.",
    "2026-11-22",
    "Government",
    authors=["A. Author"],
)


def _together(*, relaxable):
    noise = once_together(["n", "m"], unit=ut.Unit(1, 2), relaxable=relaxable)
    return ut.release({"n": [7, 9], "m": [1, 2]}, ut.Promise(["n", "m"], noise=noise), epsilon=1, once=True).statement


def _table(**more):
    kept = {"columns": ["n", "m"], "public": "place", "epsilon": "1/2"} | more
    return ut.release(TABLE, **asked(**{**UNIT, **kept}), once=True).statement


def _workload():
    return _saved(_planned().facts())


def _planned():
    """A table released by a plan."""
    plan = Plan(ut.Domain(sex=["men", "women"], age=["<40", "40+"]), ut.Unit(1, 1), {"sex": "1/2", "age": "1/2"})
    return ut.release(np.array([[5, 7], [3, 1]]), plan, epsilon=1, once=True).table


def _two_stages():
    """A release in two stages, of whose groups one is broken down."""
    table = CountedTable(
        ut.Domain(county=["A", "B"], sex=["men", "women"]), np.array([[900, 800], [0, 0]]), ut.Unit(1, 1)
    )
    return _saved(release_detailed(table, "county", {"sex": 500}, epsilon=2).facts())


def _saved(said):
    return json.loads(json.dumps(said))


def _beside(save):
    """The statement that is saved beside a table."""
    with TemporaryDirectory() as folder:
        return _saved(save(Path(folder) / "t.csv"))


TOWNS = "place,lat,lon\nOslo,59.91,10.75\nBergen,60.39,5.32\nHamar,60.79,11.07\n"


@cache
def _answered(space, epsilon, *loss):
    """What `utmost respond` says beside a table of people, of a design on counts, or on towns."""
    with TemporaryDirectory() as folder:
        (Path(folder) / "towns.csv").write_text(TOWNS)
        (Path(folder) / "t.csv").write_text("person,town\nAda,0\nBo,1\nDi,2\n")
        design = ["--space", space, "--prior", "uniform", *loss, "--epsilon", epsilon]
        called("design", *design, "--out", "d.json", cwd=folder).check_returncode()
        table = ["--file", "t.csv", "--column", "town", "--public", "person", "--out", "a.csv"]
        called("respond", "d.json", *table, cwd=folder).check_returncode()
        return (Path(folder) / "a.csv.json").read_text()


def _named(noise):
    return _saved(ut.release({"word": ["a", "b"], "n": [900, 800]}, ut.Promise(noise=noise), epsilon=1).statement)


def _withheld(**rule):
    release = ut.release(TABLE, ut.Promise(columns=["n", "m"], public="place", **UNIT), epsilon="1/2", once=True)
    return _saved(release.withhold(**rule).statement_with({"of": "cells", "sha256": "0" * 64}))


def _withheld_plan():
    plan = Plan(ut.Domain(sex=["men", "women"], age=["<40", "40+"]), ut.Unit(1, 1), {"sex age": 1})
    release = ut.release(np.array([[500, 70], [30, 900]]), plan, epsilon=1, once=True).table
    tables = release.withhold("sex age", "sex=men", below=90, complementary=True)
    return _saved(tables["sex age"].statement_with(None))


def _measures():
    people = {"sex": ["m", "w", "w"], "income": [5, None, 8], "rent": [1, 2, 3]}
    measures = {"income": ut.mean("income", each=(0, 9), missing="leave out"), "rent": ut.mean("rent", each=(0, 5))}
    tables = ut.count_measures(people, {"sex": ["m", "w"]}, ut.Counting(each_row=True), measures)
    return _saved(release_measures(tables, epsilon=1).statement_with({"of": "file", "sha256": "0" * 64}))


STATEMENTS = {
    "integers": lambda: _table(),
    "staircase": lambda: _table(sensitivity=5, cost="squared", epsilon=ut.level(alpha="1/3")),
    "reals": lambda: _table(numbers="reals", grid="1/8", neighbours="change-one", sensitivity="5/2"),
    "small": lambda: _table(epsilon="1e-6"),
    "large": lambda: _table(epsilon=50),
    "observed": lambda: _table(rows="observed"),
    "joint": lambda: _together(relaxable=False),
    "rotated": lambda: _together(relaxable=True),
    "points": lambda: (
        ut.release(
            {"x": [1.5], "y": [2]}, ut.Promise(["x", "y"], noise=ut.PointNoise(200)), epsilon=1, once=True
        ).statement
    ),
    "workload": _workload,
    "table of a plan": lambda: _beside(lambda path: _planned().save(path, marginal="sex")),
    "measures": lambda: _measures(),
    "two stages": lambda: _two_stages(),
    "keys": lambda: _named(key_noise(["word", "n"], delta="1e-6", keys=2)),
    "selected cells": lambda: _named(selected_cell_noise(["word", "n"], Texts("abc", most=3), false_keys="1/2")),
    "answers": lambda: json.loads(_answered("counts:3", "alpha=1/2")),
    "answers of places": lambda: json.loads(_answered("places:towns.csv", "ln2 per 100km", "--loss", "distance")),
    "withheld": lambda: _withheld(below=90, mark="unreliable"),
    "withheld beside its error": lambda: _withheld(relative_margin="1/4"),
    "withheld of a plan": lambda: _withheld_plan(),
}


@pytest.fixture(scope="module", params=[*STATEMENTS, "ledger"])
def stated(request, tmp_path_factory):
    if request.param != "ledger":
        return stated_release(STATEMENTS[request.param]())
    with ut.Ledger.open(tmp_path_factory.mktemp("ledger") / "r.db", create=True) as ledger:
        ledger.publish(
            "counts", TABLE, ut.Promise(columns="n", public="place", drop="m", unit=ut.Unit(1, 1)), epsilon=1
        )
        said = ledger.view("counts", epsilon="1/4").statement
    return stated_release(json.loads(json.dumps(said)))


def test_what_is_named_once_is_said_to_be_released_once():
    """A list of names is drawn at one level: no entry says that it may be answered at another."""
    for kind in ("keys", "selected cells"):
        entry = registry_entry(stated_release(STATEMENTS[kind]()))
        deployment = entry["deployment"]
        assert deployment["deployment_model"]["release_type"] == "One release"
        words = str(deployment)
        assert "drawn once" in words
        assert "answered again" not in words
        assert "with more noise" not in words


def _errors(entry):
    validator = jsonschema.Draft7Validator(SCHEMA, format_checker=jsonschema.Draft7Validator.FORMAT_CHECKER)
    return [error.message for error in validator.iter_errors(entry)]


@pytest.mark.parametrize("said", [None, SAID])
def test_the_entry_is_valid_by_the_registrys_schema_once_a_yaml_reader_has_read_it(stated, said):
    """Schema and format of dates, as the registry's own check does; and the YAML says what the entry says."""
    entry = registry_entry(stated, said)
    read = yaml.safe_load(yaml_text(entry))
    assert read == entry
    assert _errors(read) == []


def test_the_entry_passes_the_registrys_other_rules(stated):
    """No folded text, no doubled backslash, and the slug as the registry makes it: of name, curators and year."""
    text = yaml_text(registry_entry(stated, SAID))
    styles = {token.style for token in yaml.scan(text) if hasattr(token, "style")}
    assert styles <= {None, "|", '"'}
    assert text.splitlines()[0] == "url_slug: counts-a-test-an-office-another-2026"
    assert "\\\\" not in text


def test_epsilon_is_never_below_what_was_spent_and_of_a_ledger_what_all_answers_cost(stated):
    epsilon = registry_entry(stated)["deployment"]["privacy_loss"]["privacy_parameters"]["epsilon"]
    assert ut.level(Fraction(epsilon)) >= stated.level  # of the float itself, not of its shortest decimals
    levels = [ut.level(text) for text in stated.answered]
    assert stated.level == max(levels, default=stated.own_level)


def test_what_a_statement_cannot_know_is_marked_and_nothing_is_made_up(stated):
    basic = registry_entry(stated)["deployment"]["basic"]
    assert [name for name, text in basic.items() if text in ("To be filled in", ["To be filled in"])] == [
        "name", "data_curators", "intended_use", "data_product_region", "description",
    ]  # fmt: skip
    assert len(Deployment().missing) == 7
    assert SAID.missing == ()


def test_a_promise_for_a_distance_is_a_custom_variant_that_says_its_relation():
    found = registry_entry(stated_release(STATEMENTS["points"]()))["deployment"]
    assert found["dp_variant"]["variant_name"] == "Custom"
    assert "exp(epsilon d/200)" in found["privacy_loss"]["privacy_unit_details"]
    assert "for each 200 of Euclidean distance" in found["privacy_loss"]["privacy_parameters_details"]


def test_error_bars_are_those_of_the_distribution_at_each_confidence(stated):
    """They grow with the confidence, and the statement's own margin is among them."""
    for noise in stated.noises:
        assert list(noise.bars) == sorted(noise.bars)
        assert [margin for _, margin in noise.bars] == sorted(margin for _, margin in noise.bars)
    if stated.statement.get("margins"):
        assert max(stated.statement["margins"].values()) in [
            margin for noise in stated.noises for _, margin in noise.bars
        ]


def test_what_is_no_statement_and_no_deployment_is_refused():
    with pytest.raises(Unsupported):
        stated_release({"kind": "utmost design"})
    with pytest.raises(WrongKind):
        stated_release([_table()])
    for wrong in (
        {"published": "22.11.2026"},
        {"sector": "Sports"},
        {"product": "Cake"},
        {"title": 3},
        {"authors": "A"},
    ):
        with pytest.raises(UtmostError):
            Deployment(**wrong)


def test_the_registrys_lists_are_those_of_its_schema():
    basic = SCHEMA["properties"]["deployment"]["properties"]["basic"]["properties"]
    for field, name in (("sector", "data_product_sector"), ("product", "data_product_type")):
        listed = basic[name]["enum"]
        assert all(getattr(Deployment(**{field: one}), field) == one for one in listed)
        with pytest.raises(OutOfRange, match=f"{field} must be one of {', '.join(listed)}; got Sports"):
            Deployment(**{field: "Sports"})


class _Balanced(HTMLParser):
    """Tags that open are closed in order; what a page names of other places is kept."""

    def __init__(self):
        super().__init__()
        self.open, self.text, self.asked = [], [], []

    def handle_starttag(self, tag, attrs):
        self.asked += [value for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_the_page_is_whole_asks_no_other_place_and_says_all_that_it_must(stated):
    page = statement_page(stated, SAID)
    read = _Balanced()
    read.feed(page)
    text = " ".join("".join(read.text).split())
    assert read.open == []
    assert read.asked == []
    assert "script" not in page
    assert "@page" in page
    drawn = stated.noises[0].distribution if stated.noises else stated.mechanism[1:]
    first, _, rest = stated.statement["guarantee"].partition(". ")
    is_repeated = first.rpartition(" by at most ")[2] in stated.line and stated.line.count("by at most") == 1
    promised = rest if is_repeated and first.count("by at most") == 1 else stated.statement["guarantee"]
    for said in (stated.line, promised, stated.unit, stated.public, stated.after, drawn):
        assert " ".join(said.split()) in text


def test_whatever_a_column_is_called_it_stays_text():
    said = _table(columns=["n", "m"])
    name = "<script>alert(1)</script>"
    made = ut.release({name: [1, 2]}, ut.Promise(columns=name, unit=ut.Unit(1, 1)), epsilon=1, once=True).statement
    assert "<script" not in statement_page(stated_release(made))
    assert yaml.safe_load(yaml_text(registry_entry(stated_release(made)))) == registry_entry(stated_release(made))
    assert said["promise"]["columns"] == ["n", "m"]


_SCALARS = st.one_of(
    st.text(),
    st.text("-: #|>'\"\\\n\t\r\x85\u2028\ufeff\x00 ab1", max_size=8),
    st.text(string.digits + "-e.:xo_~", max_size=8),
    st.sampled_from(["yes", "null", "1e-5", "2026-01-01", "0x1f", "~", "a-b", "1-e", "12-3", "no-1"]),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
)
_KEYS = st.text(string.ascii_lowercase + "_", min_size=1).filter(
    lambda key: key[0] != "_" and key not in ("y", "n", "yes", "no", "on", "off", "true", "false", "null")
)
_NESTED = st.recursive(
    _SCALARS, lambda inner: st.dictionaries(_KEYS, inner | st.lists(_SCALARS, min_size=1), min_size=1), max_leaves=8
)


_SAFE = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml's, a tenth of the time


@given(st.dictionaries(_KEYS, _NESTED, min_size=1))
def test_a_real_reader_of_yaml_reads_back_what_was_written(value):
    """Whatever the texts hold: nothing becomes a number, a date or a truth value, and no line break is lost."""
    found = yaml.load(yaml_text(value), Loader=_SAFE)
    assert found == value
    assert json.dumps(found) == json.dumps(value)  # 1 and 1.0 and true differ


@pytest.mark.parametrize(
    "wrong",
    [
        {"a": None}, {"a": float("inf")}, {"A b": 1}, {"a": True}, {"yes": 1}, {"true": 1}, {"false": "x"},
        {"a": {"null": "x"}}, {1: 1}, [],
    ],
)  # fmt: skip
def test_what_the_small_part_of_yaml_has_not_is_refused(wrong):
    with pytest.raises(WrongKind):
        yaml_text(wrong)


@cache
def _stated():
    return stated_release(_table())


TEXTS = st.text(min_size=1).filter(str.strip)


@given(TEXTS, st.lists(TEXTS, min_size=1), st.dates(min_value=date(1900, 1, 1)))
def test_the_slug_holds_words_and_hyphens_alone(name, curators, day):
    said = replace(SAID, title=name, curators=curators, published=day.isoformat())
    slug = registry_entry(_stated(), said)["url_slug"]
    assert set(slug) <= set("-") | {c for c in slug if c.isalnum()}
    assert slug.endswith(f"-{day.year}")


def test_a_level_above_all_floats_has_no_entry():
    with pytest.raises(OutOfRange):
        registry_entry(stated_release(_table(epsilon="1e400")))


def test_keys_are_approximate_and_their_delta_is_never_rounded_down():
    stated = stated_release(STATEMENTS["keys"]())
    variant = registry_entry(stated)["deployment"]
    assert variant["dp_variant"]["variant_name"] == "Approximate DP"
    assert variant["privacy_loss"]["privacy_parameters"]["epsilon"] == 1
    assert Fraction(variant["privacy_loss"]["privacy_parameters"]["delta"]) >= Fraction(1, 10**6)
    assert "1/1000000" in statement_page(stated)


def test_half_step_noise_on_a_grid_is_of_real_numbers():
    """Its steps are drawn by a distribution on the integers, and the entry said that the columns hold integers."""
    noise = ut.CellNoise(ut.Unit(3, 1), "reals", grid="1/4", half_step=True)
    release = ut.release({"x": [1.5, 2.25]}, ut.Promise("x", noise=noise), epsilon=1, once=True)
    entry = registry_entry(stated_release(release.statement))
    assert "(x) hold real numbers" in entry["deployment"]["dp_variant"]["data_domain"]


def test_only_what_utmost_counted_was_left_out_of():
    """A counted table, one that was counted elsewhere, and one whose cells are declared over a domain."""
    events, domain = {"who": ["ann", "ann", "ben"], "town": ["x", "y", "x"]}, ut.Domain(town=["x", "y"])
    counted = ut.count_table(events, domain, ut.Counting("who", at_most=1))
    elsewhere = ut.Promise("n", public="town", unit=ut.Unit(1, 1))
    given = CountedTable(domain, [3, 4], ut.Unit(1, 1))
    plan = ut.choose_plan(ut.Workload(domain, {"town": 1}), ut.Unit(1, 1), epsilon=1)
    pages = {
        "counted": ut.release(counted, ut.Promise.of_counted(counted), epsilon=1).statement,
        "counted, by a plan": ut.release(counted, plan, epsilon=1).table.facts(),
        "elsewhere": ut.release({"town": ["x", "y"], "n": [3, 4]}, elsewhere, epsilon=1).statement,
        "elsewhere, over a domain": ut.release(given, ut.Promise.of_counted(given), epsilon=1).statement,
        "elsewhere, by a plan": ut.release(given, plan, epsilon=1).table.facts(),
    }
    for name, statement in pages.items():
        page = statement_page(stated_release(_saved(statement)))
        is_counted = name.startswith("counted")
        assert ("they are in no figure" in page, "Utmost counted the table" in page) == (is_counted, is_counted), name
        assert ("nothing here shows that utmost counted this table; ask who" in page) is not is_counted, name
        assert ("unchanged true values" in page) is (name in ("elsewhere", "elsewhere, over a domain")), name
        assert ("margin of the counted value" in page, "margin of the true value" in page) == (
            is_counted,
            not is_counted,
        ), name
    with pytest.raises(OutOfRange, match="proved"):
        ut.release({"town": ["x", "y"], "n": [3, 4]}, replace(elsewhere, proved=True), epsilon=1)


def test_the_page_of_means_has_each_margin_once():
    """Count, sum and mean of a group, which are the terminal's; the mean's is divided by the count."""
    events = {"who": list(range(9)), "town": ["x", "y", "x"] * 3, "pay": [1, 5, 9] * 3}
    counted = ut.count_table(
        events, {"town": ["x", "y"]}, ut.Counting("who", at_most=1), measure=ut.mean("pay", each=(0, 9))
    )
    promise = ut.Promise.of_counted(counted)
    answer = ut.release(counted, promise, epsilon=1)
    facts = stated_release(_beside(lambda path: answer.table.save(path, marginal="town")))
    bars = {noise.name: (noise.margin_text, dict(noise.bars)[Fraction(19, 20)]) for noise in facts.noises}
    assert [noise.name for noise in facts.noises] == ["town: count", "town: pay_sum", "town: pay_mean"]
    assert bars["town: pay_mean"] == (
        "± at most about {} / count",
        promise.margins(epsilon=1)["town: pay_mean times count"],
    )

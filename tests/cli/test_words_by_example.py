"""The words of the command line, by example: levels, names, numbers and errors as people write and read them."""

from fractions import Fraction

import pytest

from utmost.errors import OutOfRange
from utmost.interfaces.cli.ledger_place import check_no_password
from utmost.interfaces.cli.main import in_words
from utmost.interfaces.cli.options.people_options import split_names
from utmost.interfaces.cli.options.recipe_options import recipe_text
from utmost.interfaces.cli.options.shared_options import (
    Plane,
    level_of_distance,
    named_value,
    refuse,
    told,
    typed_again,
    written_level,
)
from utmost.interfaces.cli.screens.control_characters import harmless
from utmost.interfaces.cli.screens.curve_screen import asked_levels
from utmost.interfaces.cli.screens.screen import entry_text, number, others, percent, with_exact
from utmost.interfaces.cli.screens.terminal import cells
from utmost.interfaces.cli.screens.workload_screens import column_margin
from utmost.interfaces.figures.inline_svg import short
from utmost.interfaces.service.pages.page_sign_in import _own_path


def test_levels_are_read_as_people_write_them():
    assert written_level("ln2") == written_level("alpha=1/2")
    assert level_of_distance("ln2 per 50km", "m") == level_of_distance("alpha=1/2 per 50km", "m")
    assert [str(level) for level in asked_levels("1/2:1:2 per 2 km", "km")] == ["epsilon=1/4", "epsilon=1/2"]


def test_names_and_values_are_split():
    assert split_names(["region, age", "sex"]) == ["region", "age", "sex"]
    assert split_names(['"a,b", "n "', '5" disks']) == ["a,b", "n ", '5" disks']
    assert named_value("visits=3", "a weight is written NAME=NUMBER", "--weight", "visits=3") == ("visits", "3")


def test_given_options_are_named_typed_again_and_refused():
    assert list(told(Plane(planar=True))) == ["--planar"]
    assert typed_again(Plane(planar=True, per="1 km")) == "--planar --per '1 km'"
    with pytest.raises(OutOfRange, match=r"--planar does not go with --together\. Leave out --planar\."):
        refuse("does not go with --together", Plane(planar=True))


def test_an_error_has_the_words_of_the_command_line():
    grid = OutOfRange("grid must be a power of two", came="0.3", remedy='Pass grid="1/1024", say.')
    assert in_words(grid) == "--grid must be a power of two; got 0.3. Pass --grid 1/1024, say."
    key = in_words(OutOfRange("cost must be a cost", came="cubic", remedy='Pass cost="squared".'), {"cost"})
    assert key == (
        'cost in the recipe must be a cost; got cubic. Pass cost = "squared" in the recipe (--recipe FILE.toml).'
    )


def test_a_place_holds_no_password():
    check_no_password("postgresql://keeper@db.example/ledger?sslmode=require")
    with pytest.raises(OutOfRange, match="must hold no password"):
        check_no_password("postgresql://keeper:secret@db.example/ledger")


def test_a_recipe_is_toml():
    text = recipe_text("r.toml", {"each-row": True, "mean": {"income": [0, 9]}}, {"age": {"bins": [0, 18, None]}})
    assert text.startswith("# A recipe: ")
    assert "each-row = true\nmean = { income = [0, 9] }\n\n[domain]\nage = { bins = [0, 18, inf] }\n" in text


def test_numbers_are_written_for_people():
    assert (number(3), number(Fraction(1, 2)), number(0.36787944117)) == ("3", "0.5", "0.367879")
    assert (with_exact(0.5, "1/2"), with_exact(3.0, "3"), with_exact(0.25, None)) == ("0.5 = 1/2", "3", "0.25")
    assert [entry_text(one) for one in (Fraction(1, 3), "0.25", Fraction(10**20, 10**20 + 1))] == ["1/3", "0.25", "1"]
    assert (percent(0.95), percent(Fraction(999, 1000))) == ("95 %", "99.9 %")
    assert (short(12), short(1234567), short(0.123456), short(3.0)) == ("12", "1\u202f234\u202f567", "0.1235", "3")


def test_margins_and_missing_rows_are_written_for_people():
    assert column_margin("count", 5) == ("count", "± 5")
    assert column_margin("income_mean times count", 300) == ("income_mean", "± about 300 / count")
    assert [line.characters for line in others(1200, "more rows")] == ["and 1,200 more rows"]
    assert others(-3, "more rows") == []


def test_a_terminal_shows_what_it_would_obey():
    assert (harmless("ward\x1b[1A 7"), harmless("Köln")) == ("ward\ufffd[1A 7", "Köln")
    assert (cells("abc"), cells("東京"), cells("e\N{COMBINING ACUTE ACCENT}")) == (3, 4, 1)


def test_a_sign_in_leads_to_this_site_alone():
    assert _own_path("/release?name=a") == "/release?name=a"
    assert (_own_path("//elsewhere.example"), _own_path("https://elsewhere.example")) == ("", "")

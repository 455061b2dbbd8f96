"""How values show themselves: one short line, a card, a figure; and nothing true or secret in any of them."""

import importlib
import inspect
import re
from dataclasses import fields, is_dataclass
from fractions import Fraction
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import utmost as ut
from utmost.design.spaces import counts, losses, priors
from utmost.doors.figures.cards import CARDS, card
from utmost.doors.figures.plots import DRAWN, plot
from utmost.errors import OutOfRange, Unsupported, UtmostError
from utmost.laws.exact.shown import LONGEST, Shown, brief

TRUE = [918273645564738, 564738291827364, 827364519182736]
"""Values that only noise separates from what is released; at epsilon 10^-12 it is 0 once in 2 10^12 draws."""


@cache
def public():
    """A value of every kind that has a card or a picture, none of which holds a person's data."""
    ptype, consumer = ut.PrivacyType(counts(4), alpha="1/2"), ut.Consumer(priors.uniform(5), losses.absolute)
    strict, loose = (ut.channels.geometric_channel(5, alpha=alpha) for alpha in ("3/4", "1/2"))
    optimum = ut.optimal_mechanism(ptype, consumer)
    cycle = ut.PrivacyType(ut.spaces.cycle(4), alpha="1/2")
    floats = loose.to_floats()
    return [
        optimum,
        optimum.certificate,
        optimum.attack(),
        ut.minimax_mechanism(ptype, losses.absolute),
        loose,
        floats,
        ut.Channel([[1, 0], [0, 1]]),
        ut.Channel([[1]]),
        ut.channels.geometric_channel(60, alpha="1/2"),
        ut.Geometric(1),
        ut.Geometric("1/1000000", 10**40),
        ut.Geometric(50),
        ut.Laplace(1),
        ut.Staircase(1, 1, gamma="1/2"),
        ut.DiscreteStaircase(1, 3, step=1),
        ut.refines(better=strict, worse=loose),
        ut.refines(better=loose, worse=strict),
        ut.refines(better=floats, worse=floats),
        ut.refines(better=strict, worse=loose, order="max-case"),
        ut.refines(better=strict, worse=loose, order="privacy"),
        ut.capacity(ptype),
        ut.capacity(loose),
        ut.leakage.hyper(loose, priors.uniform(5)),
        ut.read(ut.level(1), consumer, 2),
        ptype,
        ptype.space,
        consumer,
        ut.universal_mechanism(ptype, losses.absolute),
        ut.universal_mechanism(cycle, ut.spaces.losses.binary),
        ut.geometry.universality(ptype, losses.absolute, loose),
        ut.geometry.universality(ptype, losses.absolute, strict),
        ut.decompose(ptype, strict),
        ut.gradual.losslessness(ut.Geometric(1), ut.Geometric(2)),
        ut.gradual.losslessness(ut.Laplace(1), ut.Laplace(2)),
        ut.smallest_epsilon(loose, counts(4)),
        ut.kernels(ptype),
        ut.vertices(ptype),
        ut.noise.Combination([1], 1, counts=[3]),
        ut.releases.plan_release(1, sensitivity=1, cells=1),
    ]


@pytest.fixture
def planted(tmp_path):
    """Values that hold true ones, or noise, and the texts that must not be shown."""
    domain = ut.Domain(department=["A"], sex=["m", "w", "x"])
    workload, unit = ut.Workload(domain, {"department sex": 1}), ut.Unit(1, 1)
    strategy = ut.strategy(workload, unit, epsilon="1/1000000000000")
    columns = {"id": ["p", "q", "r"], "n": TRUE}
    promise = {"columns": "n", "public": "id", "epsilon": "1/1000000000000", "sensitivity": 1, "cells": 1}
    gradual, path = ut.GradualRelease(TRUE, sensitivity=1), ut.releases.path("1/1000", noise=TRUE[0])
    gradual.at("1/1000000000000")
    counted = ut.cells_table({"sex": ["m", "w", "x"], "n": TRUE}, ut.Domain(sex=["m", "w", "x"]), unit=unit, counts="n")
    with ut.Ledger.open(tmp_path / "l.db", create=True) as ledger:
        ledger.publish("r", columns, **promise)
        ledger.budget("r", 5)
        yield [
            ut.release_table(columns, **promise),
            ut.rehearse_table(columns, **promise),
            ut.release_workload(np.array([TRUE]), strategy, epsilon="1/1000000000000"),
            ut.release_workload(np.array([TRUE]), strategy, epsilon="1/1000000000000").clean(),
            ut.releases.release_places(
                {"x": [float(x) for x in TRUE], "y": [1.0, 2.0, 3.0]}, columns=["x", "y"], epsilon="1/1000", per=10**9
            ),
            strategy,
            workload,
            gradual,
            ut.releases.ProcessedRelease(TRUE, before=list, after=lambda response, level: response, sensitivity=1),
            ut.TrustRelease(TRUE[0], sensitivity=1, levels={"friend": 1, "press": "1/10"}),
            ut.PlanarRelease([[float(x), 2.0] for x in TRUE]),
            ut.GradualTogether({"n": TRUE, "m": TRUE}, sensitivity=1),
            ut.release_together({"n": TRUE, "m": TRUE}, columns=["n", "m"], epsilon="1/1000000000000", sensitivity=1),
            counted,
            path,
            path.steps,
            *path.steps.jumps[:1],
            ledger,
            ledger.status(),
            ledger.verify(),
            *ledger.releases,
            *ledger.history(),
        ]


class _Balanced(HTMLParser):
    """Counts tags that are open, and refuses scripts."""

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        assert tag != "script"
        if tag not in ("br", "rect", "polyline"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in ("rect", "polyline"):
            assert self.open.pop() == tag


def check_short(value):
    text = repr(value)
    assert len(text) <= LONGEST, text
    assert "\n" not in text


def test_texts_are_one_short_line():
    for value in public():
        check_short(value)


def test_cards_are_well_formed_and_need_no_matplotlib(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    for value in public():
        page = _Balanced()
        page.feed(value._repr_html_())
        assert page.open == []


def test_names_in_cards_are_escaped():
    """A label is text, whatever it looks like."""
    named = ut.Channel([[1, 0], [0, 1]], secrets=["<script>", "b&c"], outcomes=["x", "y"])
    assert "<script>" not in card(named)
    assert "&lt;script&gt;" in card(named)


def test_every_kind_with_a_picture_draws_it():
    """A figure of matplotlib that can be changed, and that a notebook shows by itself."""
    drawn = 0
    for value in public():
        if {kind.__name__ for kind in type(value).__mro__} & set(DRAWN) and "60" not in repr(value):
            figure = value.plot()
            figure.axes[0].set_title("mine")
            drawn += 1
            if drawn % 12 == 0:
                assert figure._repr_png_().startswith(b"\x89PNG")
    assert drawn > 20


def test_pictures_refuse_options_that_they_have_not():
    with pytest.raises(OutOfRange, match="confidence"):
        ut.Geometric(1).plot(colour="red")
    with pytest.raises(Unsupported, match="no picture"):
        ut.releases.path("1/10").plot()
    shaded = ut.Geometric(1).plot(confidence="0.5").axes[0].patches
    assert len({patch.get_facecolor() for patch in shaded}) == 2


def test_pictures_and_cards_are_of_classes_that_there_are():
    """Every name in the two lists is a class of the package that shows itself."""
    written = re.compile(r"^class (\w+)\(([^)]*)\)", re.M)
    files = Path(ut.__file__).parent.rglob("*.py")
    above = {
        name: set(re.findall(r"\w+", kinds)) for path in files for name, kinds in written.findall(path.read_text())
    }
    names = {"Shown"}
    while more := {name for name, kinds in above.items() if kinds & names} - names:
        names |= more
    assert set(CARDS) | set(DRAWN) <= names


def texts_of_figure(value):
    """All numbers and words that a picture holds."""
    try:
        figure = plot(value)
    except UtmostError as refused:
        return [str(refused)]
    found = []
    for axes in figure.axes:
        found += [str(line.get_xydata().tolist()) for line in axes.get_lines()]
        found += [str([patch.get_width(), patch.get_height()]) for patch in axes.patches if hasattr(patch, "get_width")]
        found += [text.get_text() for text in axes.texts] + [axes.get_title()]
        found += [str([path.vertices.tolist() for path in held.get_paths()]) for held in axes.collections]
    return found


def test_no_true_value_and_no_noise_is_shown(planted):
    """Planted values stand in no text, no card and no picture, of whatever holds them."""
    for value in planted:
        check_short(value)
        shown = [repr(value), value._repr_html_(), *texts_of_figure(value)]
        for text in shown:
            for true in TRUE:
                assert str(true) not in text, type(value).__name__
                assert f"{float(true)}" not in text, type(value).__name__


def test_showing_spends_nothing(planted):
    """A release that was only looked at has answered nothing more."""
    for value in planted:
        before = getattr(value, "spent", None)
        value._repr_html_()
        texts_of_figure(value)
        assert getattr(value, "spent", None) == before


def test_a_released_table_shows_its_error_bars(planted):
    page = planted[0]._repr_html_()
    assert page.count("±") == 3 + 1
    assert "epsilon = 1/1000000000000 in all" in page
    bars = planted[0].plot().axes[0]
    assert [label.get_text() for label in bars.get_xticklabels()] == ["p", "q", "r"]


def test_public_classes_that_hold_arrays_do_not_print_them():
    """Of every public dataclass: a text of its own, or `Shown`, where a field may be long."""
    plain = re.compile(r"Array|NDArray|tuple\[|Mapping|Channel|Certificate")
    for room in sorted(path.parent.name for path in Path(ut.__file__).parent.glob("*/__init__.py")):
        for name in getattr(importlib.import_module(f"utmost.{room}"), "__all__", ()):
            kind = getattr(importlib.import_module(f"utmost.{room}"), name)
            if not inspect.isclass(kind) or not is_dataclass(kind) or room in ("exact", "programs"):
                continue
            long = [field.name for field in fields(kind) if field.repr and plain.search(str(field.type))]
            own = any("__repr__" in vars(base) and not _generated(base) for base in kind.__mro__[:-1])
            assert own or not long or kind.__name__ in SMALL, (room, name, long)


def _generated(kind):
    made = vars(kind)["__repr__"]
    return is_dataclass(kind) and "dataclasses" in inspect.unwrap(made).__code__.co_filename + made.__code__.co_filename


SMALL = {"Odds"}
"""Kinds whose fields are few and short."""


def test_brief_words():
    assert brief(Fraction(10**40, 3)) == "~3.33333e+39"
    assert brief(10**400) == "~2^1328"
    assert brief("x" * 100).endswith("...'")
    assert brief(object) == "object"
    assert brief({"a": np.zeros(3)}) == "{'a': 3 array}"
    assert issubclass(ut.Law, Shown)

"""How values show themselves: one short line, a card, a figure; and nothing true or secret in any of them."""

from fractions import Fraction
from functools import cache
from html.parser import HTMLParser

import numpy as np
import pytest

import utmost as ut
from asking import asked
from utmost import losses, priors

# The table of all classes that have a card or a picture: each is tried.
from utmost.core.exact.display import LONGEST, Display, brief
from utmost.errors import OutOfRange, Unsupported, UtmostError
from utmost.interfaces.figures.cards import CARDS
from utmost.interfaces.figures.plots import PLOTS
from utmost.spaces import counts

TOGETHER = ut.Promise(["n", "m"], noise=ut.promises.once_together(["n", "m"], unit=ut.Unit(1, 2)))

TRUE = [918273645564738, 564738291827364, 827364519182736]
"""Values that only noise separates from what is released; at epsilon 10^-12 it is 0 once in 2 10^12 draws."""


@cache
def public():
    """A value of every kind that has a card or a picture, none of which holds a person's data."""
    ptype, consumer = ut.PrivacyType(counts(4), alpha="1/2"), ut.Consumer(priors.uniform(5), losses.absolute)
    lower, higher = (ut.channels.geometric_channel(5, alpha=alpha) for alpha in ("3/4", "1/2"))
    optimum = ut.optimal_mechanism(ptype, consumer)
    small, three = (ut.PrivacyType(space, alpha="1/2") for space in (counts(2), ut.spaces.discrete(3)))
    known, coarse = (ut.channels.geometric_channel(3, alpha=alpha) for alpha in ("1/2", "3/4"))
    floats = higher.to_floats()
    return [
        optimum,
        optimum.certificate,
        optimum.attack(),
        ut.optima.minimax_mechanism(ptype, losses.absolute),
        higher,
        floats,
        ut.channels.Channel([[1, 0], [0, 1]]),
        ut.channels.Channel([[1]]),
        ut.channels.geometric_channel(60, alpha="1/2"),
        ut.noise.Geometric(1),
        ut.noise.Geometric("1/1000000", 10**40),
        ut.noise.Geometric(50),
        ut.noise.Laplace(1),
        ut.noise.Staircase(1, 1, gamma="1/2"),
        ut.noise.DiscreteStaircase(1, 3, step=1),
        ut.refines(better=lower, worse=higher),
        ut.refines(better=higher, worse=lower),
        ut.refines(better=floats, worse=floats),
        ut.refines(better=lower, worse=higher, order="max-case"),
        ut.refines(better=lower, worse=higher, order="privacy"),
        ut.capacity(ptype),
        ut.capacity(higher),
        ut.leakage.hyper(higher, priors.uniform(5)),
        ut.optima.read(ut.level(1), consumer, 2),
        ptype,
        ptype.space,
        consumer,
        ut.universal_mechanism(small, losses.absolute),
        ut.universal_mechanism(three, ut.spaces.losses.binary),
        ut.geometry.universality(small, losses.absolute, known),
        ut.geometry.universality(small, losses.absolute, coarse),
        ut.geometry.decompose(ptype, lower),
        ut.gradual.losslessness(ut.noise.Geometric(1), ut.noise.Geometric(2)),
        ut.gradual.losslessness(ut.noise.Laplace(1), ut.noise.Laplace(2)),
        ut.privacy_types.smallest_epsilon(higher, counts(4)),
        ut.geometry.kernels(ptype),
        ut.geometry.vertices(ptype),
        ut.noise.Combination([1], 1, counts=[3]),
        ut.releases.cell_noise_at(1, unit=ut.Unit(1, 1)),
        ut.choose_plan(ut.Workload(ut.Domain(a=["x", "y"]), {"a": 1, "": 1}), ut.Unit(1, 1), epsilon=1).alternatives(),
    ]


@pytest.fixture
def planted(tmp_path):
    """Values that hold true ones, or noise, and the texts that must not be shown."""
    domain = ut.Domain(department=["A"], sex=["m", "w", "x"])
    workload, unit = ut.Workload(domain, {"department sex": 1}), ut.Unit(1, 1)
    plan = ut.choose_plan(workload, unit, epsilon="1/1000000000000")
    columns = {"id": ["p", "q", "r"], "n": TRUE}
    promise = {"columns": "n", "public": "id", "epsilon": "1/1000000000000", "unit": ut.Unit(1, 1)}
    gradual, path = ut.GradualRelease(TRUE, sensitivity=1), ut.releases.path("1/1000", noise=TRUE[0])
    gradual.at("1/1000000000000")
    counted = ut.counting.cells_table(
        {"sex": ["m", "w", "x"], "n": TRUE}, ut.Domain(sex=["m", "w", "x"]), unit=unit, counts="n"
    )
    with ut.Ledger.open(tmp_path / "l.db", create=True) as ledger:
        ledger.publish("r", columns, **asked(**promise))
        ledger.budget("r", 5)
        yield [
            ut.release(columns, **asked(**promise), once=True),
            asked(**promise)["promise"].at("1/1000000000000"),
            ut.release(np.array([TRUE]), plan, epsilon="1/1000000000000", once=True).table,
            ut.release(np.array([TRUE]), plan, epsilon="1/1000000000000", once=True).clean(),
            ut.release(
                {"x": [float(x) for x in TRUE], "y": [1.0, 2.0, 3.0]},
                ut.Promise(["x", "y"], noise=ut.PointNoise(10**9)),
                epsilon="1/1000",
                once=True,
            ),
            plan,
            workload,
            gradual,
            ut.PlanarRelease([[float(x), 2.0] for x in TRUE]),
            ut.release({"n": TRUE, "m": TRUE}, TOGETHER, epsilon="1/1000000000000", once=True),
            counted,
            path,
            path.steps,
            *path.steps.jumps[:1],
            ledger,
            ledger["r"],
            ut.release(columns, **asked(**promise)),
            ledger.budget("r"),
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
    """A label is text, whatever it looks like: in words, in tables and in charts."""
    name = "<script>"
    table, one = {name: [name, "y"], "n": [1, 2]}, ut.Unit(1, 1)
    workload = ut.Workload(ut.Domain({name: [name, "y"]}), {name: 1})
    for named in (
        ut.channels.Channel([[1, 0], [0, 1]], secrets=[name, "b&c"], outcomes=["x", "y"]),
        ut.Promise(name, public="p", unit=one),
        ut.release(table, ut.Promise("n", public=name, unit=one), epsilon=1).table,
        workload,
        ut.choose_plan(workload, one, epsilon=1),
    ):
        html = named._repr_html_()
        assert name not in html
        assert "&lt;script&gt;" in html


def test_every_kind_with_a_picture_draws_it():
    """A figure of matplotlib that can be changed, and that a notebook shows by itself."""
    drawn, kinds = 0, set()
    for value in public():
        named = {kind.__name__ for kind in type(value).__mro__} & set(PLOTS)
        if named and type(value) not in kinds and "60" not in repr(value):
            kinds.add(type(value))
            figure = ut.plot(value)
            figure.axes[0].set_title("mine")
            drawn += 1
            if drawn % 8 == 0:
                assert figure._repr_png_().startswith(b"\x89PNG")
    assert drawn > 12


def test_pictures_refuse_options_that_they_have_not():
    with pytest.raises(OutOfRange, match="confidence"):
        ut.plot(ut.noise.Geometric(1), numbers=True)
    with pytest.raises(Unsupported, match="it can draw"):
        ut.plot(ut.releases.path("1/10"))
    shaded = ut.plot(ut.noise.Geometric(1), confidence="0.5").axes[0].patches
    assert len({patch.get_facecolor() for patch in shaded}) == 2


def texts_of_figure(value):
    """All numbers and words that a picture holds."""
    try:
        figure = ut.plot(value)
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
    assert "epsilon = 0.000000000001" in page
    bars = ut.plot(planted[0]).axes[0]
    assert [label.get_text() for label in bars.get_xticklabels()] == ["p", "q", "r"]


def test_a_card_says_more_than_a_line(planted):
    """What releases and the ledger's verbs return; of a release the promise and its bar, whatever comes later."""
    for value in planted:
        words_itself = type(value).__repr__ is not Display.__repr__ and type(value).__name__ not in CARDS
        assert "<table>" in value._repr_html_() or words_itself, type(value).__name__
    made = next(value for value in planted if isinstance(value, ut.ledger.Answer) and value.ledger_facts is not None)
    page = made._repr_html_()
    made.release.at("1/2000000000000")
    assert made._repr_html_() == page
    assert f"± {made.margin()} for each released cell" in page
    assert "level=epsilon=1/1000" in page or "1/1000" in page
    assert "multiplies or divides the chance of any result by at most 1.01" in page
    own = ut.Promise(columns="n", unit=ut.Unit(1, 1), individual="one household")
    assert "one household" in ut.release({"n": [7]}, own, epsilon=1, once=True)._repr_html_()
    assert made.release.levels == tuple(map(ut.level, ("1/2000000000000", "1/1000000000000")))
    assert "epsilon=1/2000000000000" in made.release._repr_html_()


@pytest.mark.parametrize(
    "facts",
    [
        {"page": ["A", "B"], "sex": ["men", "women"]},
        {"age group": ["0-4", "5 and over"]},
        {"class": [1, 2, 3]},
        {"employed": [True, False]},
        {"age": {"bins": [0, 100], "width": 10}, "sex": {"values": ["m", "w"], "other": "else"}},
        {"place": {"tree": {"N": ["N1", "N2"], "S": ["S1"]}, "names": ["region", "district"]}},
        {"day": {"periods": ["2024-01", "2025-01"], "every": "month"}},
        {"quote": ["it's", 'a "b"', "line\nbreak"]},
        {},
    ],
    ids=str,
)
def test_a_domain_can_be_typed_back(facts):
    domain = ut.Domain.of_facts(facts)
    check_short(domain)
    assert eval(repr(domain), {"Domain": ut.Domain}).same_as(domain)


def test_a_large_domain_says_how_many_values_its_axes_have():
    names = [f"a long name of a column {k}" for k in range(12)]
    large = ut.Domain({"age": range(200_000), **{name: list("AB") for name in names}})
    check_short(large)
    assert repr(large).startswith("Domain('age': 200000 values, ")
    many = ut.Domain({f"q{at}": list("abcde") for at in range(16)})
    assert repr(many).endswith("'q8': 5 values and 7 more)")


def test_the_legend_of_a_budget_lies_on_no_bar(planted):
    """Below the axes, where no bar can be, however much is spent."""
    (ledger,) = (value for value in planted if isinstance(value, ut.Ledger))
    figure = ut.plot(ledger)
    figure.draw_without_rendering()
    (legend,) = figure.legends
    assert figure.axes[0].get_legend() is None
    assert not legend.get_window_extent().overlaps(figure.axes[0].get_window_extent())


def test_a_design_for_places_is_drawn_on_their_map():
    """Discs as large as the answers' chances at their places; for a place that is chosen, which is marked in red."""
    towns = ut.spaces.places({"Oslo": (59.91, 10.75), "Bergen": (60.39, 5.32), "Hamar": (60.79, 11.07)})
    consumer = ut.Consumer(priors.from_counts([7, 2, 1]), losses.distance(towns))
    design = ut.optimal_mechanism(ut.PrivacyType(towns, "ln 2 per 100 km"), consumer)
    for place, row in ((None, 0), ("Hamar", 2)):
        believed, answers = ut.plot(design, place=place).axes
        discs = answers.collections[1]
        assert answers.get_title() == f"answers for {towns.labels[row]}"
        assert np.allclose(discs.get_offsets(), towns.coordinates[:, ::-1])
        assert believed.collections[1].get_sizes() == pytest.approx(420 * np.array([7, 2, 1]) / 7)
        chances = np.asarray(design.channel.matrix[row], dtype=float)
        assert discs.get_sizes() == pytest.approx(420 * chances / chances.max())
        assert [tuple(colour[:3]) == tuple(discs.get_facecolor()[row][:3]) for colour in discs.get_facecolor()] == [
            k == row for k in range(3)
        ]
    assert [text.get_text().split()[0] for text in answers.texts] == [
        towns.labels[k] for k in np.argsort(-chances, kind="stable") if chances[k] > 0
    ]
    assert ut.plot(design, numbers=True).axes[0].get_xlabel() == "outcome"
    with pytest.raises(OutOfRange, match="'Paris'"):
        ut.plot(design, place="Paris")
    with pytest.raises(Unsupported, match="for places"):
        ut.plot(public()[0], place=1)


def test_a_release_without_an_answer_that_may_be_seen_still_has_its_name():
    """Of a recipient who may see no level, say: text and card say so, and raise nothing."""

    class NothingSeen:
        def levels(self, name, version=None):
            return ()

    release = ut.ledger.Release(NothingSeen(), "visits", 2)
    assert repr(release) == "Release(name='visits', version=2)"
    assert "no answer that you may see" in release._repr_html_()


def test_brief_words():
    assert brief(Fraction(10**40, 3)) == "~3.33333e+39"
    assert brief(10**400) == "~2^1328"
    assert brief("x" * 100).endswith("...'")
    assert brief(object) == "object"
    assert brief({"a": np.zeros(3)}) == "{'a': 3 array}"
    assert issubclass(ut.noise.Distribution, Display)

"""The pictures in the docs are what the commands beside them draw now."""

import re
import runpy
from pathlib import Path

import pytest

import utmost as ut
from running import called
from utmost.interfaces.figures.canvas import write
from utmost.publish.workloads.planning.plan import Alternatives
from utmost.testing import seeded_workload_release

ROOT = Path(__file__).parents[2]
CHANNELS = ROOT / "examples" / "channels"
matplotlib = pytest.importorskip("matplotlib")

HYPERS = {
    "geometric-and-response": ("geometric", "response", "line:3"),
    "geometric-and-coarse": ("geometric", "coarse", "line:3"),
    "response-and-dual": ("response", "dual", "discrete:3"),
}


def check_same(drawn, name):
    """To a thousandth of a point, where the picture was drawn by the matplotlib that is installed.

    Below that a design that is solved in floats hangs on the processor that solved it.
    """
    kept = (ROOT / "docs" / "figures" / name).read_text(encoding="utf-8")
    if re.search(rf"Matplotlib v{re.escape(matplotlib.__version__)},", kept):
        words, numbers = in_words(drawn.read_text(encoding="utf-8"))
        kept_words, kept_numbers = in_words(kept)
        same = words == kept_words and numbers == pytest.approx(kept_numbers, rel=0, abs=1e-3)
        assert same, f"docs/figures/{name} must be drawn again"


def in_words(picture):
    """What a picture says, and its decimals apart."""
    words = re.split(r"(-?[0-9]+\.[0-9]+)", picture)
    return words[::2], [float(number) for number in words[1::2]]


@pytest.mark.parametrize("name", HYPERS)
def test_hypers(name, tmp_path):
    one, other, space = HYPERS[name]
    drawn = tmp_path / f"{name}.svg"
    files = [CHANNELS / f"{title}.csv" for title in (one, other)]
    called("research", "leakage", *files, "--space", space, "--plot", drawn).check_returncode()
    check_same(drawn, drawn.name)


def test_the_front_picture(tmp_path):
    drawn = tmp_path / "admissions.svg"
    runpy.run_path(str(ROOT / ".ci/front_picture.py"))["draw"](drawn)
    check_same(drawn, drawn.name)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_pages_of_the_service(scheme):
    """They show the page and the style sheet as they are now: `python .ci/service_picture.py` draws them again."""
    pytest.importorskip("fastapi")
    from service.visiting import Visitor
    from utmost.service import application

    picture = runpy.run_path(str(ROOT / ".ci/service_picture.py"))
    with picture["shown_service"]() as (service, presented):
        page = Visitor(application(service, picture["SETTINGS"]), presented).get(picture["PAGE"])
    kept = (ROOT / "docs" / "figures" / f"service-{scheme}.png").read_bytes()
    assert picture["digest_in"](kept) == picture["digest_of"](page.text)
    assert len(kept) < 100_000


def test_the_map_of_paris(tmp_path):
    drawn = tmp_path / "paris.svg"
    asked = ["--prior", "column:population", "--loss", "distance", "--epsilon", "ln2 per 2km", "--plot", drawn]
    called("design", "--space", f"places:{ROOT}/examples/paris.csv", *asked).check_returncode()
    check_same(drawn, drawn.name)


def aircraft():
    """The domain, the count and the plan of the tutorial from events to a table."""
    page = (ROOT / "docs" / "tutorial" / "from-events-to-a-table.md").read_text(encoding="utf-8")
    (airlines,) = re.findall(r'airlines = "(.*)"\.split', page)
    domain = ut.Domain(carrier=airlines.split(), month=ut.workloads.bins(1, 13, width=3))
    events = ROOT / "examples" / "flights.csv"
    counted = ut.count_table(events, domain, ut.Counting("aircraft", at_most=4, key=bytes(32)))
    wanted = ut.Workload(domain, {"carrier month": 1, "carrier": 1, "month": 1, "": 1})
    cells = {"carrier month": 20, "carrier": 2, "month": 1, "": 1}
    plan = ut.choose_plan(wanted, counted.unit, epsilon=1, up_to=3)
    chosen = plan.alternatives({"cells first": cells})["cells first"]
    equal = ut.workloads.Plan(
        domain, counted.unit, dict.fromkeys([part.name for part in wanted.parts], "1/4"), wanted, chosen.level
    )
    return counted, chosen, {**plan.alternatives().plans, "cells first": chosen, "equal shares": equal}


def test_plans_and_clean_tables(tmp_path):
    counted, plan, choices = aircraft()
    shown = (
        "cells first", "every part alike", "every answer alike", "least largest error", "cells alone", "equal shares",
    )  # fmt: skip
    drawn = tmp_path / "plans.svg"
    with drawn.open("wb") as file:
        write(ut.plot(Alternatives({name: choices[name] for name in shown})), file, "svg")
    check_same(drawn, drawn.name)
    released = seeded_workload_release(counted, plan, "aircraft")
    drawn = tmp_path / "raw-and-clean.svg"
    with drawn.open("wb") as file:
        figure = ut.plot(released, marginal="carrier month", rows=counted.domain.size)
        (axes,) = figure.axes
        true = counted.domain.sums(counted.summable, counted.domain.marginal("carrier month")).ravel()
        axes.containers[0].set_label("released")
        clean = released.clean()["carrier month"]["clean"]
        axes.plot(range(len(clean)), clean, "_r", markersize=9, markeredgewidth=2, zorder=3, label="clean")
        axes.plot(range(len(true)), true, "xk", markersize=5, zorder=3, label="true")
        axes.legend(frameon=False)
        write(figure, file, "svg")
    check_same(drawn, drawn.name)

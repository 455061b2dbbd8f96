"""The tables of losses and measures, and every place that lists their names: pages, menus."""

import inspect
from pathlib import Path
from typing import get_args

import pytest

from utmost.design.spaces.losses import LOSSES, loss_named
from utmost.interfaces.cli.options import research_options
from utmost.interfaces.documents.measure_names import MEASURES
from utmost.spaces import Loss

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"


def help_of(annotated):
    """The help of an option that stands in `Annotated`."""
    return next(part.help for part in get_args(annotated) if hasattr(part, "help"))


@pytest.mark.parametrize("name", LOSSES)
def test_a_named_loss_is_wherever_losses_are_listed(name):
    row = LOSSES[name]
    assert isinstance(loss_named(row.example), Loss)
    assert row.form.startswith(name)
    assert row.example.startswith(name)
    assert f"`{row.form}`" in (REFERENCE / "cli.md").read_text("utf-8")
    if row.for_readers:
        rows = (REFERENCE / "designs.md").read_text("utf-8").splitlines()
        assert any(line.startswith("| `") and f"`{row.example}`" in line for line in rows)


@pytest.mark.parametrize("name", MEASURES)
def test_a_named_measure_is_wherever_measures_are_listed(name):
    hints = inspect.get_annotations(research_options.AskedMeasure, eval_str=True)
    assert name in help_of(hints["measure"]).replace(",", " ").split()
    assert f"`{name}`" in (REFERENCE / "cli.md").read_text("utf-8")
    assert MEASURES[name].name
    assert MEASURES[name].meaning

"""Pictures of plans and clean tables: of the kind asked for, the same each time, and refused where too large."""

import io
from pathlib import Path

import numpy as np
import pytest

from utmost.errors import OutOfRange

# `ut.plot` chooses among these pictures.
from utmost.interfaces.figures.plan_pictures import clean_figure, plan_figure
from utmost.privacy import Unit
from utmost.testing import seeded_workload_release
from utmost.workloads import Domain, Plan, Workload, choose_plan

DOMAIN = Domain(a=range(3), b=["x", "y"])


def drawn(draw, name, *arguments, **named):
    file = io.BytesIO()
    draw(*arguments, file, Path(name), **named)
    return file.getvalue()


@pytest.fixture(scope="module")
def choices():
    return choose_plan(Workload(DOMAIN, {"a b": 1, "": 1}), Unit(1, 1), epsilon=1).alternatives({"cells": {"a b": 1}})


@pytest.fixture(scope="module")
def released():
    return seeded_workload_release(np.arange(6).reshape(3, 2), Plan(DOMAIN, Unit(1, 1), {"a b": 1}), 1)


@pytest.mark.parametrize(("name", "start"), [("a.svg", b"<?xml"), ("a.png", b"\x89PNG"), ("a.pdf", b"%PDF")])
def test_a_picture_is_of_the_kind_that_its_path_names(name, start, choices, released):
    assert drawn(plan_figure, name, choices).startswith(start)
    assert drawn(clean_figure, name, released, "a b", truth=np.arange(6)).startswith(start)


def test_the_same_picture_is_the_same_file(choices):
    first = drawn(plan_figure, "a.svg", choices, title="alike")
    assert first == drawn(plan_figure, "b.svg", choices, title="alike")


def test_a_total_is_drawn_and_too_many_groups_are_not(released, choices):
    assert drawn(clean_figure, "a.svg", released, "").startswith(b"<?xml")
    with pytest.raises(OutOfRange, match="must end in"):
        drawn(plan_figure, "a.gif", choices)
    large = Domain(a=range(101))
    many = seeded_workload_release(np.zeros(101, dtype=int), Plan(large, Unit(1, 1), {"a": 1}), 1)
    with pytest.raises(OutOfRange, match="100 groups at most"):
        drawn(clean_figure, "a.svg", many, "a")

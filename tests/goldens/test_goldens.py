"""Noise does not move by a bit, and no number of a statement changes, whatever is reorganised."""

import json

import pytest

from goldens.worlds import KEPT, WORLDS, released
from kinds import noise_kinds

FROZEN = json.loads(KEPT.read_text(encoding="utf-8"))


OF_KIND = {
    "cells": "a ledger", "cells at one level": "a table", "sums": "a plan", "together": "a process of columns together",
    "together at one level": "columns together", "selected cells": "named cells", "keys": "named keys",
}  # fmt: skip
"""The world of a kind of noise; that of any other kind has its name."""


def test_every_world_is_frozen():
    assert sorted(FROZEN) == sorted(WORLDS)


def test_every_kind_of_noise_has_a_world():
    assert {*OF_KIND} <= noise_kinds()
    assert {OF_KIND.get(kind, kind) for kind in noise_kinds()} <= {*WORLDS}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", WORLDS)
def test_what_is_released_is_what_it_was(name):
    assert released(name) == FROZEN[name]

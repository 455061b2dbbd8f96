"""List the kinds of noise that a promise may have, and read a noise from JSON.

To add a kind, write its class in a file, a function that imports it, and a row in `KINDS`: the file is then imported
when the kind is first used. docs/howto/add-a-noise.md lists the other places.
"""

from collections.abc import Callable
from typing import Any

from utmost.core.exact.arguments import mapping
from utmost.errors import OutOfRange, UtmostError
from utmost.publish.promises.promised_noise import PlannedNoise


def _cells() -> type[PlannedNoise]:
    from utmost.publish.promises.cell_noise import CellNoise

    return CellNoise


def _sums() -> type[PlannedNoise]:
    from utmost.publish.promises.sum_noise import SumNoise

    return SumNoise


def _points() -> type[PlannedNoise]:
    from utmost.publish.promises.point_noise import PointNoise

    return PointNoise


def _together() -> type[PlannedNoise]:
    from utmost.publish.promises.noise_together import TogetherNoise

    return TogetherNoise


def _keys() -> type[PlannedNoise]:
    from utmost.publish.promises.noise_of_keys import KeyNoise

    return KeyNoise


def _selected_cells() -> type[PlannedNoise]:
    from utmost.publish.promises.noise_of_universe import SelectedCellNoise

    return SelectedCellNoise


def _once_cells() -> type[PlannedNoise]:
    from utmost.publish.promises.cell_noise import OnceCells

    return OnceCells


def _once_together() -> type[PlannedNoise]:
    from utmost.publish.promises.noise_together import OnceTogether

    return OnceTogether


def _cells_of_a_distribution() -> type[PlannedNoise]:
    from utmost.publish.promises.distribution_noise import DistributionNoise

    return DistributionNoise


def _one_draw() -> type[PlannedNoise]:
    from utmost.publish.promises.one_draw_noise import OneDraw

    return OneDraw


def _one_way_draw() -> type[PlannedNoise]:
    from utmost.publish.promises.one_draw_noise import OneWayDraw

    return OneWayDraw


KINDS: dict[str, Callable[[], type[PlannedNoise]]] = {
    "cells": _cells,
    "sums": _sums,
    "points": _points,
    "together": _together,
    "keys": _keys,
    "selected cells": _selected_cells,
    "cells at one level": _once_cells,
    "together at one level": _once_together,
    "cells of a distribution": _cells_of_a_distribution,
    "one draw": _one_draw,
    "one-way tables in one draw": _one_way_draw,
}
"""Functions that import and return the class of each kind, by its name in JSON."""


def kind_named(name: str) -> type[PlannedNoise]:
    return KINDS[name]()


def noise_of_facts(facts: Any) -> PlannedNoise:
    """Read the mapping that `Noise.facts` wrote: the name of a kind of noise, and the fields of this kind."""
    kind = mapping(facts, "noise").get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise OutOfRange(f"the kind of noise must be one of {', '.join(sorted(KINDS))}", came=str(kind), where="noise")
    try:
        return kind_named(kind).of_facts(facts)
    except UtmostError:
        raise
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError):
        raise OutOfRange(
            "the fields of a noise must be those of its kind", came="other fields", where="noise"
        ) from None

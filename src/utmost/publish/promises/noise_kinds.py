"""The kinds of noise that a promise can have: how one is read from words, and from what an event keeps.

Whoever adds a kind writes its class in one file and enters it here.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from utmost.errors import OutOfRange
from utmost.publish.promises.cell_noise import CellNoise, cell_noise
from utmost.publish.promises.noise_of_keys import KeyNoise
from utmost.publish.promises.noise_of_universe import NamedCellNoise
from utmost.publish.promises.noise_together import TogetherNoise
from utmost.publish.promises.point_noise import PointNoise, point_noise
from utmost.publish.promises.promised_noise import Noise
from utmost.publish.promises.sum_noise import SumNoise, sum_noise

KINDS: dict[str, type[Noise]] = {
    "cells": CellNoise,
    "sums": SumNoise,
    "points": PointNoise,
    "together": TogetherNoise,
    "keys": KeyNoise,
    "named cells": NamedCellNoise,
}
"""By the name under which an event keeps it."""


def noise_of_facts(facts: Mapping[str, Any]) -> Noise:
    """The noise that an event keeps.

    Events say nothing of the kind where a strategy or points say it.
    """
    if facts.get("noise") is not None:
        return KINDS[facts["noise"]["kind"]].of_facts(facts)
    written = {"points": facts["points"], "sums": facts["strategy"]}
    return KINDS[next((kind for kind, fact in written.items() if fact is not None), "cells")].of_facts(facts)


def stated_noise(facts: Mapping[str, Any]) -> Noise:
    """The noise that a promise states as facts: of a kind that has no words of its own.

    Raises:
        OutOfRange: for what states none.
    """
    about = facts.get("noise")
    kind = about.get("kind") if isinstance(about, Mapping) else None
    if kind not in KINDS or KINDS[kind].is_worded:
        known = ", ".join(name for name, known_kind in sorted(KINDS.items()) if not known_kind.is_worded)
        raise OutOfRange(
            f"noise without words of its own is one of these kinds: {known}", came=str(kind), where="noise"
        )
    try:
        return KINDS[str(kind)].of_facts(facts)
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError):
        raise OutOfRange("the facts of a noise must be as its kind writes them", came="others", where="noise") from None


def noise_of_words(columns: tuple[str, ...], words: Mapping[str, Any]) -> tuple[tuple[str, ...], Noise]:
    """The columns that are released, and their noise, from the words of a promise.

    Raises:
        OutOfRange, NotANumber, WrongKind: for a word that is no such thing, or goes not with the others.
    """
    if isinstance(words["noise"], Noise):
        _check_alone(
            words, ("noise", "columns", "public", "drop", "id_column"), "noise", "noise says itself whom it protects"
        )
        return words["noise"].released(columns), words["noise"]
    if words["strategy"] is not None:
        noise = sum_noise(words["strategy"], words["largest"])
        beside = {name: value for name, value in words.items() if name != "unit" or value != noise.unit}
        required = "a strategy says itself what is measured, for whom, in integers with geometric noise"
        _check_alone(beside, ("noise", "strategy", "largest"), "strategy", required)
        return noise.released(()), noise
    if words["per"] is not None:
        of_units = ("unit", "sensitivity", "cells", "neighbours", "amount")
        if any(words[name] is not None for name in of_units) or words["numbers"] != "integers" or words["half_step"]:
            remedy = "Leave out unit=, sensitivity=, cells=, neighbours=, numbers= and half_step=."
            raise OutOfRange("points are released at a level for each per= of distance", remedy=remedy)
        points = point_noise(words["per"], max(len(columns), 1), words["grid"], words["largest"])
        return points.released(columns), points
    of_cells = ("unit", "sensitivity", "cells", "neighbours", "amount", "numbers", "grid", "half_step", "largest")
    return columns, cell_noise(**{name: words[name] for name in of_cells})


def _check_alone(words: Mapping[str, Any], fitting: Sequence[str], where: str, required: str) -> None:
    """Check that nothing stands beside noise that says the same itself.

    Raises:
        OutOfRange: for any such word.
    """
    beside = [name for name, value in words.items() if name not in fitting and _says(name, value)]
    if beside:
        remedy = f"Leave out {', '.join(beside)}."
        raise OutOfRange(required, came=f"{beside[0]} beside it", where=where, remedy=remedy)


def _says(name: str, value: Any) -> bool:
    """Whether a word says something: is not what it is where it is left out."""
    left_out = value is None or value is False or (isinstance(value, str | Sequence) and not value)
    return not (left_out or (name == "numbers" and value == "integers"))

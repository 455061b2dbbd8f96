"""The kinds of noise that a promise can have: how one is read from words, and from what an event keeps.

Whoever adds a kind writes its class in one file and enters it here. The file of a kind is loaded when it is asked for.
"""

from collections.abc import Callable, Mapping
from typing import Any

from utmost.errors import OutOfRange
from utmost.publish.promises.promised_noise import Noise, PlannedNoise, check_alone


def _cells() -> type[Noise]:
    from utmost.publish.promises.cell_noise import CellNoise

    return CellNoise


def _sums() -> type[Noise]:
    from utmost.publish.promises.sum_noise import SumNoise

    return SumNoise


def _points() -> type[Noise]:
    from utmost.publish.promises.point_noise import PointNoise

    return PointNoise


def _together() -> type[Noise]:
    from utmost.publish.promises.noise_together import TogetherNoise

    return TogetherNoise


def _keys() -> type[Noise]:
    from utmost.publish.promises.noise_of_keys import KeyNoise

    return KeyNoise


def _named_cells() -> type[Noise]:
    from utmost.publish.promises.noise_of_universe import NamedCellNoise

    return NamedCellNoise


KINDS: dict[str, Callable[[], type[Noise]]] = {
    "cells": _cells,
    "sums": _sums,
    "points": _points,
    "together": _together,
    "keys": _keys,
    "named cells": _named_cells,
}
"""The class of each kind, by the name under which an event keeps it; its file is loaded when the kind is first met."""


def kind_named(name: str) -> type[Noise]:
    """The class of a kind."""
    return KINDS[name]()


def noise_of_facts(facts: Mapping[str, Any]) -> Noise:
    """The noise that an event keeps.

    Events say nothing of the kind where a strategy or points say it.
    """
    if facts.get("noise") is not None:
        return kind_named(facts["noise"]["kind"]).of_facts(facts)
    written = {"points": facts["points"], "sums": facts["strategy"]}
    return kind_named(next((kind for kind, fact in written.items() if fact is not None), "cells")).of_facts(facts)


def stated_noise(facts: Mapping[str, Any]) -> Noise:
    """The noise that a promise states as facts: of a kind that has no words of its own."""
    about = facts.get("noise")
    kind = about.get("kind") if isinstance(about, Mapping) else None
    if kind not in KINDS or kind_named(str(kind)).is_worded:
        known = ", ".join(name for name in sorted(KINDS) if not kind_named(name).is_worded)
        raise OutOfRange(
            f"noise without words of its own is one of these kinds: {known}", came=str(kind), where="noise"
        )
    try:
        return kind_named(str(kind)).of_facts(facts)
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError):
        raise OutOfRange("the facts of a noise must be as its kind writes them", came="others", where="noise") from None


def noise_of_words(columns: tuple[str, ...], words: Mapping[str, Any]) -> PlannedNoise:
    """The noise of these columns, from the words of a promise.

    Raises:
        OutOfRange, NotANumber, WrongKind: for a word that is no such thing, or goes not with the others.
    """
    if isinstance(words["noise"], PlannedNoise):
        beside = ("noise", "columns", "public", "drop", "id_column")
        check_alone(words, beside, "noise", "noise says itself whom it protects")
        return words["noise"]
    says = {"sums": words["strategy"], "points": words["per"]}
    return kind_named(next((kind for kind, word in says.items() if word is not None), "cells")).of_words(columns, words)

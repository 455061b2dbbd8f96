"""The kinds of noise that a promise can have: how one is read from words, and from what an event keeps.

Whoever adds a kind writes its class in one file and enters it here. The file of a kind is loaded when it is asked for.
"""

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from utmost.errors import OutOfRange
from utmost.provided import RoomNames
from utmost.publish.promises.promised_noise import Noise, PlannedNoise, check_alone

if TYPE_CHECKING:
    from utmost.publish.promises.cell_noise import CellNoise
    from utmost.publish.promises.noise_of_keys import KeyNoise
    from utmost.publish.promises.noise_of_universe import NamedCellNoise
    from utmost.publish.promises.noise_together import TogetherNoise
    from utmost.publish.promises.point_noise import PointNoise
    from utmost.publish.promises.sum_noise import SumNoise
else:
    __getattr__ = RoomNames(__name__, __file__)

__all__ = ["CellNoise", "KeyNoise", "NamedCellNoise", "PointNoise", "SumNoise", "TogetherNoise"]

KINDS: dict[str, str | type[Noise]] = {
    "cells": "CellNoise",
    "sums": "SumNoise",
    "points": "PointNoise",
    "together": "TogetherNoise",
    "keys": "KeyNoise",
    "named cells": "NamedCellNoise",
}
"""By the name under which an event keeps it: a class, or the name of one that this file lists."""


def kind_named(name: str) -> type[Noise]:
    """The class of a kind."""
    kind = KINDS[name]
    named: type[Noise] = getattr(sys.modules[__name__], kind) if isinstance(kind, str) else kind
    return named


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

"""Read distances with a unit ("200 m", "10 min") and privacy levels per distance ("1 per 200 m", "ln 2 per 50 km")."""

import re
from fractions import Fraction

from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number, exact
from utmost.errors import NotALevel, NotANumber, OutOfRange

_SCALES: dict[str, dict[str, Fraction]] = {
    "length": {
        "mm": Fraction(1, 1000),
        "cm": Fraction(1, 100),
        "m": Fraction(1),
        "km": Fraction(1000),
        "ft": Fraction(3048, 10_000),
        "yd": Fraction(9144, 10_000),
        "mi": Fraction(1_609_344, 1000),
    },
    "time": {"s": Fraction(1), "min": Fraction(60), "h": Fraction(3600)},
}
_SHORT_NAMES = {
    "metre": "m",
    "meter": "m",
    "kilometre": "km",
    "kilometer": "km",
    "mile": "mi",
    "foot": "ft",
    "feet": "ft",
    "yard": "yd",
    "second": "s",
    "sec": "s",
    "minute": "min",
    "mins": "min",
    "hour": "h",
}
_DISTANCE = re.compile(r"\s*([0-9][0-9./]*(?:[eE][+-]?[0-9]+)?)?\s*([^\W\d][\w ]*)?\s*")
_UNIT = re.compile(r"[^\W\d_]{1,20}")
_LOGARITHM = re.compile(r"\s*([0-9][0-9./]*)?\s*\*?\s*(?:ln|log)\s*\(?\s*([0-9][0-9./]*)\s*\)?\s*", re.IGNORECASE)


def unit_named(text: str) -> str:
    """Return the short name of a unit, such as km for "Kilometres"; return any other text in lower case."""
    word = text.strip().lower()
    if not word:
        raise OutOfRange("a unit must have a name, such as m, km or min", came="an empty text")
    # The unit is printed inside the sentence of a guarantee, so it must not contain text that changes the meaning of
    # this sentence.
    if not _UNIT.fullmatch(word):
        raise OutOfRange("a unit must be one word of at most 20 letters, such as m, km or min", came=text, where="unit")
    singular = word.removesuffix("s") if word != "s" else word
    return _SHORT_NAMES.get(word, _SHORT_NAMES.get(singular, word))


def is_unit(text: str) -> bool:
    """Return whether a text names a unit of length or of time: "minutes" does, "cells" does not."""
    word = text.strip().lower()
    return bool(_UNIT.fullmatch(word)) and any(unit_named(word) in scale for scale in _SCALES.values())


def distance_in(distance: Number, unit: str | None) -> Fraction:
    """Return a distance as an exact number of ``unit``.

    Args:
        distance: Distance as a number in ``unit``, or as text with its own unit: "200 m", "1/2 km", "10 min".
        unit: Unit of the result; None for a space whose distances have no unit.

    Raises:
        OutOfRange: if the text is no distance, if the distance is not positive, or if it is a length but ``unit`` is a
            time.

    >>> distance_in("1/2 km", "m"), distance_in(3, "min"), distance_in("90 s", "min")
    (Fraction(500, 1), Fraction(3, 1), Fraction(3, 2))
    """
    parts = _DISTANCE.fullmatch(distance) if isinstance(distance, str) else None
    if isinstance(distance, str) and (parts is None or not distance.strip()):
        raise OutOfRange("a distance must be a number and a unit, such as 200 m", came=distance)
    number, own = parts.groups() if parts is not None else (distance, None)
    try:
        length = Fraction(1) if number is None else exact(number, "the distance")
    except NotANumber as error:
        raise OutOfRange(error.required, came=error.came) from None
    if length <= 0:
        raise OutOfRange("a distance must be positive", came=distance, remedy="Pass a number above 0.")
    return length if own is None else length * _ratio(unit_named(own), unit)


def _ratio(own: str, unit: str | None) -> Fraction:
    """Return the length of the unit ``own`` in the unit ``unit``: 1000 if ``own`` is km and ``unit`` is m."""
    target = None if unit is None else unit_named(unit)
    if own == target:
        return Fraction(1)
    for scale in _SCALES.values():
        if own in scale and target in scale:
            return scale[own] / scale[target]
    if target is None:
        remedy = "Give the distance as a plain number, or the secrets as `places`, whose distances have a unit."
        raise OutOfRange("the distances of this space have no unit", came=own, remedy=remedy)
    known = ", ".join(next((scale for scale in _SCALES.values() if target in scale), [target]))
    raise OutOfRange(
        f"the distance must be in {target}", came=own, remedy=f"Give the distance in one of these units: {known}."
    )


def level_per(
    epsilon: Number | Level | None = None,
    alpha: Number | None = None,
    *,
    per: Number | None = None,
    unit: str | None = None,
) -> Level:
    """Return the privacy level of one unit of distance, from the level of the distance ``per``.

    Args:
        epsilon: Number; or text such as "ln 2" or "1/2 ln 3", for which alpha is an exact power of a rational; or text
            with a distance, such as "1 per 200 m".
        alpha: Alpha = exp(-epsilon), given in place of epsilon.
        per: Distance for which the given level holds, see `distance_in`; one unit by default.
        unit: Unit of the distances.

    Raises:
        NotALevel: if the level is invalid, or if both ``epsilon`` and ``per`` have a distance.
        OutOfRange: if the distance is invalid.

    >>> level_per("ln 2 per 50 km", unit="m").scaled(50_000), level_per(1, per="200 m", unit="m")
    (level(alpha='1/2'), level(epsilon='1/200'))
    """
    if isinstance(epsilon, str) and re.search(r"\bper\b", epsilon):
        if per is not None:
            raise NotALevel(
                "a level must be stated for one distance",
                came=f"{epsilon!r} and per={per!r}",
                remedy="Write the distance either in the text of epsilon or as per=.",
            )
        epsilon, _, per = (part.strip() for part in re.split(r"\b(per)\b", epsilon, maxsplit=1))
    logarithm = _LOGARITHM.fullmatch(epsilon) if isinstance(epsilon, str) and alpha is None else None
    if logarithm is None:
        stated = level(epsilon, alpha)
    else:
        try:
            factor, argument = exact(logarithm[1] or 1, "epsilon"), exact(logarithm[2], "epsilon")
        except NotANumber as error:
            raise NotALevel(error.required, came=error.came) from None
        if argument <= 1 or factor <= 0:
            raise NotALevel("epsilon must be positive", came=epsilon)
        stated = Level.of_alpha(1 / argument).scaled(factor)
    return stated if per is None else stated.scaled(1 / distance_in(per, unit))

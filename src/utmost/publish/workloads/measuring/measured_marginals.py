"""Marginals that a plan may measure: groups of levels, differences of two values, hat functions, classes of rows."""

from collections.abc import Iterable, Sequence
from typing import Any

from utmost.errors import OutOfRange, Unsupported
from utmost.tables.axes.domain import Domain, Marginal, with_level, words_in
from utmost.tables.axes.hat_functions import CLASS_MARK, DIFFERENCE, DIFFERENCE_MARK, MARK, WIDEST, class_code

_LONGEST = 6  # digits of a class of rows

_MOST_NAMES = 1000


def measured_marginal(domain: Domain, name: Any) -> Marginal:
    """Read the name of a marginal to measure, such as "age~16 sex" with hat functions 16 values apart."""
    if _is_marginal(domain, name):
        return tuple(name)
    words = _words(domain, name)
    marked = [word for word in words if _is_marked(domain, word)]
    if not marked:
        return domain.marginal(name)
    levels = list(domain.marginal([word for word in words if word not in marked]))
    for word in marked:
        axis, spacing = _read(domain, word)
        if levels[axis] != len(domain.axes[axis].levels):
            remedy = f"Leave out {word!r}, or the other level of its axis."
            raise OutOfRange(
                "a table must name one level of each axis",
                came=f"{word!r} and another level of its axis",
                remedy=remedy,
            )
        levels[axis] = -spacing
    return tuple(levels)


def is_hats(marginal: Marginal) -> bool:
    """Whether a marginal measures hat functions on some axis."""
    return any(-WIDEST <= level < DIFFERENCE for level in marginal)


def is_difference(marginal: Marginal) -> bool:
    """Whether a marginal measures, on some axis of two values, the first value minus the second."""
    return DIFFERENCE in marginal


def is_listed(marginal: Marginal) -> bool:
    """Whether a marginal measures classes of rows that the plan lists, see `product_rows`."""
    return any(level < -WIDEST for level in marginal)


def load_of(marginal: Marginal) -> int:
    """Return how much a marginal's sums change in total if one cell changes by 1: 1 for groups, s for hat functions."""
    load = 1
    for level in marginal:
        load *= -level if -WIDEST <= level < DIFFERENCE else 1
    return load


def marginal_in_words(domain: Domain, marginal: Marginal) -> str:
    """Describe a measured marginal in words, such as "hat functions of age, 16 apart, by sex"."""
    place = place_of_hats([marginal])
    if is_difference(marginal):
        differing = [name for name, level in zip(domain.columns, marginal, strict=True) if level == DIFFERENCE]
        axes = zip(domain.axes, marginal, strict=True)
        others = tuple(len(axis.levels) if level == DIFFERENCE else level for axis, level in axes)
        return f"{domain.marginal_name(others) or 'total'}, differences of {' and '.join(differing)}"
    if place is None:
        return domain.marginal_name(marginal)
    others = with_level(marginal, place, len(domain.axes[place].levels))
    crossed = domain.marginal_name(others)
    return f"hat functions of {domain.columns[place]}, {-marginal[place]} apart" + (
        f", by {crossed}" if crossed else ""
    )


def place_of_hats(marginals: Iterable[Marginal]) -> int | None:
    """Return the index of the one axis along which these marginals measure hat functions; None without any."""
    places = {place for marginal in marginals for place, level in enumerate(marginal) if -WIDEST <= level < DIFFERENCE}
    if len(places) > 1:
        remedy = "Measure hat functions on one axis, and groups on the other axes."
        raise Unsupported("hat functions can be measured on one axis only", came=f"{len(places)} axes", remedy=remedy)
    return next(iter(places), None)


def _is_marginal(domain: Domain, name: Any) -> bool:
    if not isinstance(name, tuple) or len(name) != len(domain.axes) or not all(type(level) is int for level in name):
        return False
    return all(
        -2 * WIDEST <= level <= len(axis.levels) and (level != DIFFERENCE or axis.size == 2)
        for axis, level in zip(domain.axes, name, strict=True)
    )


def _words(domain: Domain, name: Any) -> list[Any]:
    if isinstance(name, str):
        levels = {level for axis in domain.axes for level in axis.levels}
        if name in levels or _is_marked(domain, name):
            return [name]
        return list(words_in(name, lambda word: word in levels or _is_marked(domain, word)))
    return list(name) if isinstance(name, Sequence) and len(name) <= _MOST_NAMES else []


def names_hats(domain: Domain, word: Any) -> bool:
    """Whether a word is an axis, then "~" and a number, and is not the name of a level."""
    return _marked(domain, word, MARK)


def names_class(domain: Domain, word: Any) -> bool:
    """Whether a word consists of an axis, the mark of classes and a number, and is not the name of a level."""
    return _marked(domain, word, CLASS_MARK)


def names_difference(domain: Domain, word: Any) -> bool:
    """Whether a word consists of an axis of two values and the mark of differences, and is not the name of a level."""
    if not isinstance(word, str) or any(word in axis.levels for axis in domain.axes):
        return False
    axis = word.removesuffix(DIFFERENCE_MARK)
    return axis != word and axis in domain.columns and domain.shape[domain.columns.index(axis)] == 2


def _is_marked(domain: Domain, word: Any) -> bool:
    return names_hats(domain, word) or names_class(domain, word) or names_difference(domain, word)


def _marked(domain: Domain, word: Any, sign: str) -> bool:
    if not isinstance(word, str) or any(word in axis.levels for axis in domain.axes):
        return False
    axis, mark, number = word.rpartition(sign)
    return bool(mark) and axis in domain.columns and number.isascii() and number.isdigit()


def _read(domain: Domain, word: str) -> tuple[int, int]:
    """Return the axis of a marked word, and its code: the spacing of hat functions, or a class or difference."""
    if names_difference(domain, word):
        return domain.columns.index(word.removesuffix(DIFFERENCE_MARK)), -DIFFERENCE
    if names_class(domain, word):
        axis, _, number = word.rpartition(CLASS_MARK)
        if len(number) > _LONGEST or str(int(number)) != number:
            raise OutOfRange("the index of a class must be written without leading zeros", came=repr(word))
        return domain.columns.index(axis), -class_code(int(number))
    axis, _, number = word.rpartition(MARK)
    spacing = int(number) if len(number) < 9 else WIDEST + 1
    if not 2 <= spacing <= WIDEST or str(spacing) != number:
        remedy = f"Measure {axis!r} itself in place of hat functions of spacing 1."
        raise OutOfRange(
            f"hat functions must be 2 to {WIDEST} values apart", came=number, where=repr(word), remedy=remedy
        )
    return domain.columns.index(axis), spacing

"""Counting by keyword arguments, for tests that merge the same words into many calls."""

from typing import Any

import utmost as ut

_COUNTING = ("person", "each_row", "at_most", "together", "neighbours", "key")
_MEASURE = ("values", "step", "each", "per_cell", "most_events", "in_total")
_SPELLING = ("decimal", "thousands", "missing_marks")


def _taken(words: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: words.pop(name) for name in names if name in words}


def counted_with(events: Any, domain: Any = None, **words: Any) -> Any:
    """`count_table`, or `count_measures` where there are ``measures``, of these words."""
    counting, measure, marks = _taken(words, _COUNTING), _taken(words, _MEASURE), _taken(words, _SPELLING)
    if marks:
        words["spelling"] = ut.Spelling(**marks)
    if words.get("measures") is not None:
        assert not measure, "measures have words of their own"
        return ut.count_measures(events, domain, ut.Counting(**counting), **words)
    words.pop("measures", None)
    if measure:
        words["measure"] = ut.counting.MeasureSpec(**measure)
    return ut.count_table(events, domain, ut.Counting(**counting), **words)


def contributions_with(events: Any, domain: Any = None, *, person: Any, **words: Any) -> Any:
    """`count_contributions` of these words; the limits stand under the name of their bound."""
    counting = ut.Counting(person, **_taken(words, ("neighbours",)))
    measure, marks = _taken(words, ("values", "step", "each")), _taken(words, _SPELLING)
    ((bound, limits),) = _taken(words, ("at_most", "per_cell", "in_total")).items()
    if measure:
        words["measure"] = ut.counting.MeasureSpec(**measure)
    if marks:
        words["spelling"] = ut.Spelling(**marks)
    return ut.count_contributions(events, domain, counting, bound, limits, **words)

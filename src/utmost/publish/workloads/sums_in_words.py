"""Read tables, selections and workloads from lines of text, as users type them.

department sex                 a table of every department and sex
department outcome=admitted    the table of departments, for one outcome
tables of 2 columns            every table of two axes, at their finest level
ranges of age by sex           all runs of bins, for each sex; "ranges of x y": all rectangles; also "prefixes of"
age=20..40 sex=men             one sum over the bins from 20 to below 40
sex=2                          the table of sexes, with weight 2; any line may end in "=2"
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from re import fullmatch
from typing import Any

from utmost.core.exact.numbers import Number, exact
from utmost.errors import NotANumber, OutOfRange
from utmost.publish.workloads.measuring.measured_marginals import measured_marginal, names_difference, names_hats
from utmost.publish.workloads.planning.marginal_search import marginals
from utmost.publish.workloads.workload import Workload
from utmost.tables.axes.axes import label_text
from utmost.tables.axes.clock import UNITS, period_span, shown_time
from utmost.tables.axes.domain import Domain, Marginal
from utmost.tables.axes.ordered_axes import bin_ends

TOTAL_WORD = "total"  # the name of the sum over all cells, unless a level has this name

_STOPS = " ,="
_LABELS_SHOWN = 12
_RUNS = {"ranges of ": Workload.ranges, "prefixes of ": Workload.prefixes}


def read_selection(domain: Domain, texts: Iterable[str]) -> dict[str, Any]:
    """Read texts such as ``LEVEL=LABEL,LOW..HIGH`` into an argument of `Domain.selection`."""
    selection: dict[str, Any] = {}
    for text in texts:
        name, values = _pair_of(domain, text)
        if name in selection:
            remedy = f"Write several labels of one level with commas: {name}={','.join(_labels(domain, name)[:2])}."
            raise OutOfRange("a selection must name each level at most once", came=f"{name!r} twice", remedy=remedy)
        selection[name] = values
    domain.selection(selection)
    return selection


def read_marginal(domain: Domain, text: str) -> tuple[Any, ...]:
    """Read the name of one table into levels and (level, label) pairs; the total is ()."""
    words, weight = _scanned(domain, "" if _is_total(domain, text) else text)
    if weight is not None or any(isinstance(word, tuple) and isinstance(word[1], slice) for word in words):
        remedy = f"Write {domain.columns[0]!r}, or {domain.columns[0]}=LABEL."
        raise OutOfRange("a table must be named by levels and their labels", came=repr(text), remedy=remedy)
    return words


def read_wanted(
    domain: Domain, texts: Iterable[str], *, per_answer: bool = False, without: str | None = None
) -> Workload:
    """Read a workload from texts with optional weights; "tables of 2 columns" leaves out the axis ``without``."""
    wanted = [part for text in texts for part in _wanted(domain, text, per_answer, without).parts]
    if not wanted:
        names = domain.level_names(domain.finest)
        remedy = f'Pass, for example, want="{names[0]}"; the levels are {", ".join(names)}, and "" is the total.'
        raise OutOfRange("want= must name at least one table", came="none", remedy=remedy)
    return Workload.of_parts(domain, wanted)


def read_share(domain: Domain, text: str) -> tuple[Marginal, Fraction]:
    """Read the name of a measured marginal and its budget share."""
    name, equals, share = text.rpartition("=")
    marked = [word for word in name.split() if names_hats(domain, word) or names_difference(domain, word)]
    if marked:
        name = " ".join(word for word in name.split() if word not in marked)
    words, rest = _scanned(domain, "" if _is_total(domain, name) else name)
    if not equals or rest is not None or not all(isinstance(word, str) for word in words):
        remedy = 'Write, for example, "department sex=3/4", or "=1/4" for the total.'
        raise OutOfRange("share must be a table and a number, written TABLE=NUMBER", came=repr(text), remedy=remedy)
    return measured_marginal(domain, [*words, *marked]), exact(share, "share")


def _wanted(domain: Domain, text: str, per_answer: bool, without: str | None) -> Workload:
    tables = fullmatch(r"tables of (\d{1,4}) columns?(?:=(.*))?", text)
    if tables is not None:
        axes = {name: axis for name, axis in zip(domain.columns, domain.axes, strict=True) if name != without}
        meant = domain if without is None else Domain(axes)
        wanted = marginals(meant, int(tables[1]))
        listed: list[Any] = [marginal if without is None else meant.level_names(marginal) for marginal in wanted]
        return Workload(domain, dict.fromkeys(listed, exact(tables[2] or 1, "weight")), per_answer=per_answer)
    start = next((start for start in _RUNS if text.startswith(start)), None)
    if start is not None:
        axis, _, crossed = text.removeprefix(start).partition(" by ")
        names, weight = _scanned(domain, axis)
        by, last = _scanned(domain, crossed)
        if not names or not all(isinstance(name, str) for name in names):
            remedy = f"Write {start.split()[0]} of {domain.columns[0]}."
            raise OutOfRange(f"{start.split()[0]} must name axes", came=repr(axis), where="want", remedy=remedy)
        return _RUNS[start](domain, *names, weight=_given_weight(last, weight), by=by, per_answer=per_answer)
    name, equals, stated = text.rpartition("=")
    if _is_total(domain, text) or (equals and _is_total(domain, name)):
        return Workload(domain, {"": stated if equals else 1}, per_answer=per_answer)
    words, weight = _scanned(domain, text)
    ranges = [word for word in words if isinstance(word, tuple) and isinstance(word[1], slice)]
    if not ranges:
        return Workload(domain, {words: _given_weight(weight)}, per_answer=per_answer)
    if not all(isinstance(word, tuple) for word in words):
        remedy = 'Write "ranges of age by sex", or name a label: "age=20..40 sex=men".'
        raise OutOfRange(
            "want= must not name a range together with a level without a label", came=repr(text), remedy=remedy
        )
    return Workload.sums(domain, [dict(words)], [_given_weight(weight)])


def _named_levels(domain: Domain) -> dict[str, str]:
    """Map the names that people type to levels: a level's own name, or its kind of period, such as "month"."""
    return {level: level for axis in domain.axes for level in axis.levels} | domain.period_names


def _is_total(domain: Domain, text: str) -> bool:
    known = {level for axis in domain.axes for level in axis.levels}
    return text.strip() == TOTAL_WORD and TOTAL_WORD not in known


def _scanned(domain: Domain, text: str) -> tuple[tuple[Any, ...], Number | None]:
    """Split a text into levels, (level, label or range) pairs, and the weight at its end; None without a weight."""
    levels = _named_levels(domain)
    words: list[Any] = []
    at = 0
    while at < len(text):
        if text[at] == "=":
            return tuple(words), _number(text[at + 1 :])
        if text[at] in _STOPS:
            at += 1
            continue
        typed = _longest_name_at(text, at, [*levels])
        if typed is None and _word_at(text, at) in ("ranges", "prefixes"):
            remedy = f'Write "{_word_at(text, at)} of age by sex" for the {_word_at(text, at)} of each sex.'
            raise OutOfRange("'ranges' or 'prefixes' must be the first word", came=repr(text), remedy=remedy)
        if typed is None:
            domain.level_named(_word_at(text, at))  # raises, and suggests the nearest name
        assert typed is not None
        name = levels[typed]
        at += len(typed)
        if not text.startswith("=", at):
            words.append(name)
            continue
        label = _longest_name_at(text, at + 1, _labels(domain, name))
        piece = _word_at(text, at + 1) if label is None else label
        if label is None and not text[at + 1 + len(piece) :].strip() and _is_number(piece):
            return (*words, name), _number(piece)
        words.append((name, piece if label is not None else _label_or_range(domain, name, piece)))
        at += 1 + len(piece)
    return tuple(words), None


def typed_periods(domain: Domain) -> dict[str, str]:
    """Map each period's name to its level; a name without a level, such as ``year``, to the only axis of time.

    >>> from utmost.workloads import periods
    >>> typed_periods(Domain(date=periods("2025", "2026", every="quarter")))["year"]
    'date'
    """
    clocks = [axis.levels[0] for axis in domain.axes if axis.clock is not None]
    found = dict.fromkeys(UNITS, clocks[0]) if len(clocks) == 1 else {}
    known = {level for axis in domain.axes for level in axis.levels}
    return {name: level for name, level in (found | domain.period_names).items() if name not in known}


def _pair_of(domain: Domain, text: str) -> tuple[str, Any]:
    named = typed_periods(domain) | _named_levels(domain)
    levels = {typed: name for typed, name in named.items() if text.startswith(f"{typed}=")}
    if not levels:
        axis = domain.axes[0]
        if "=" in text:
            domain.level_named(text.partition("=")[0].strip())  # raises, and suggests the nearest name
        remedy = f"Write {axis.levels[0]}={label_text(axis.labels[0][0])}, with commas between several labels."
        raise OutOfRange("a selection must be COLUMN=LABEL", came=repr(text), remedy=remedy)
    typed = max(levels, key=len)
    name = levels[typed]
    at, labels, pieces = len(typed) + 1, _labels(domain, name), list[Any]()
    while at < len(text):
        label = _longest_name_at(text, at, labels, ",")
        piece = text[at:].partition(",")[0] if label is None else label
        unit = typed if typed in UNITS and typed != name else None
        pieces.append(piece if label is not None else _label_or_range(domain, name, piece.strip(), unit))
        at += len(piece)
        at += len(text[at:]) - len(text[at:].lstrip(", "))
    return name, pieces[0] if len(pieces) == 1 and isinstance(pieces[0], slice) else pieces


def selected(where: Iterable[str]) -> str:
    """Write selections in words for people: "age=1..3" becomes "age from 1 to before 3"."""
    words = []
    for selection in where:
        name, sign, wanted = selection.partition("=")
        if not sign or ".." not in wanted:
            words.append(selection)
            continue
        ranges = []
        for part in map(str.strip, wanted.split(",")):
            low, dots, high = part.partition("..")
            ends = [f"from {low}" if low else "", f"{'to ' if low else ''}before {high}" if high else ""]
            ranges.append(" ".join(filter(None, ends)) if dots else part)
        words.append(f"{name} {' or '.join(ranges)}")
    return " and ".join(words)


def _label_or_range(domain: Domain, name: str, piece: str, unit: str | None = None) -> Any:
    """Read a label, or a range of bins or periods as a slice; refuse other text and suggest the nearest label."""
    axis, _ = domain.level_named(name)
    if ".." in piece:
        if domain.axes[axis].edges is None:
            labels = _labels(domain, name)
            more = ",..." * (len(labels) > _LABELS_SHOWN)
            remedy = (
                f"Name labels of the level, with commas between them: {name}={','.join(labels[:_LABELS_SHOWN])}{more}."
            )
            raise OutOfRange("a range needs an axis of bins", came=repr(piece), where=repr(name), remedy=remedy)
        low, _, high = piece.partition("..")
        reads = (lambda end: end) if domain.axes[axis].clock is not None else (lambda end: exact(end, name))
        edges = slice(*(reads(end.strip()) if end.strip() else None for end in (low, high)))
        domain.selection({name: edges})
        return edges
    whole = period_span(piece, unit) if domain.axes[axis].clock is not None else bin_ends(piece)
    if domain.axes[axis].edges is not None and whole is not None:
        ends: Sequence[Any] = whole
        if domain.axes[axis].clock is not None:
            same = [label for label in _labels(domain, name) if period_span(label) == whole]
            if same:
                return same[0]
            ends = [shown_time(int(end)) for end in whole]
        try:
            domain.selection({name: slice(*ends)})
        except OutOfRange:  # not a range of bins: read as a label below
            pass
        else:
            return slice(*ends)
    domain.selection({name: piece})
    return piece


def _labels(domain: Domain, name: str) -> list[str]:
    axis, level = domain.level_named(name)
    return [str(label_text(label)) for label in domain.axes[axis].labels[level]]


def _longest_name_at(text: str, at: int, names: Sequence[str], stops: str = _STOPS) -> str | None:
    """Return the longest of ``names`` that begins at a position of the text and ends before a stop character."""
    ends = (name for name in names if text.startswith(name, at) and text[at + len(name) :][:1] in ("", *stops))
    return max(ends, key=len, default=None)


def _word_at(text: str, at: int) -> str:
    """Return the text from a position up to a space, a comma or an equals sign."""
    return text[at : next((place for place in range(at, len(text)) if text[place] in _STOPS), len(text))]


def _given_weight(*weights: Number | None) -> Number:
    """Return the first weight that is not None, else 1; a weight of 0 is returned, and refused later."""
    return next((weight for weight in weights if weight is not None), 1)


def _number(text: str) -> Fraction:
    if not _is_number(text):
        remedy = 'Write "sex=2" for a weight, or "sex=men" for the sum of one label.'
        raise NotANumber(
            "a level must be followed by = and one of its labels, or a weight",
            came=repr(text.strip()),
            where="want",
            remedy=remedy,
        )
    return exact(text.strip(), "weight")


def _is_number(text: str) -> bool:
    try:
        exact(text, "weight")
    except (NotANumber, OutOfRange):
        return False
    return True

"""Workloads: the sums that a release must answer, in parts, each with the weight of its error.

The error of a release is the sum over the parts of weight times mean variance. A **part** takes one kind of sums along
each axis; its answers are all products of such sums. Examples: all groups of a marginal, the groups of a marginal that
have one label, all ranges or prefixes of an axis within each group of the other axes, or one sum over listed cells.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import numpy as np

from utmost.core.exact.arguments import instance, iterable, mapping, sequence_of, text, truth, wrong_kind
from utmost.core.exact.arrays import Array, Floats, frozen, unpickler
from utmost.core.exact.display import LONGEST, Display
from utmost.core.exact.numbers import Number, natural, written_number
from utmost.core.privacy.unit import Unit
from utmost.errors import OutOfRange, WrongKind
from utmost.publish.workloads.measuring.axis_sums import (
    AxisSums,
    Groups,
    Prefixes,
    Ranges,
    Weighed,
    Windows,
    count_of,
    sum_of_values,
)
from utmost.publish.workloads.measuring.variance_components import VarianceComponents, chains_of
from utmost.tables.axes.axes import Label, label_text
from utmost.tables.axes.domain import Domain, Marginal, Where, with_level, words_in

MOST_ENTRIES = 10**8


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WantedSums(Display):
    """A part of a workload: sums of one kind, with a name and a weight."""

    name: str  # text of levels, labels and ranges; "" for the total
    weight: Fraction  # the weight of the sums' mean variance, > 0
    sums: tuple[AxisSums, ...] = field(repr=False)  # the kind of sums along each axis
    answers: int  # number of sums

    def marginal(self, domain: Domain) -> Marginal:
        """Return the coarsest marginal whose sums determine these sums."""
        return tuple(sums.level(axis) for sums, axis in zip(self.sums, domain.axes, strict=True))

    def spectrum(self, blocks: VarianceComponents) -> Array:
        """For each eigenspace T, return the mean of |Q_T w|^2 over the sums w; (eigenspaces,), Fractions."""
        factors = [sums.spectrum(chain) for sums, chain in zip(self.sums, blocks.chains, strict=True)]
        squares = np.empty(len(blocks.eigenspaces), dtype=object)
        squares[:] = [Fraction(square) / self.answers for square in blocks.spectrum(factors)]
        return frozen(squares)

    def sizes(self, domain: Domain, places: Iterable[int] | None = None) -> dict[int, int]:
        """Return {number of cells of a sum: number of such sums}, along the axes ``places`` (default: all)."""
        counts = {1: 1}
        for sums, axis in [(self.sums[at], domain.axes[at]) for at in places or range(len(self.sums))]:
            if isinstance(sums, Groups) and sums.at == len(axis.levels):
                counts = {size * axis.size: times for size, times in counts.items()}
                continue
            lengths, grown = sums.lengths(axis), dict[int, int]()
            for (size, times), (length, rows) in product(counts.items(), lengths.items()):
                grown[size * length] = grown.get(size * length, 0) + times * rows
            counts = grown
        return dict(sorted(counts.items()))

    def matrix(self, domain: Domain) -> Floats:
        """Return the sums as rows of weights of the cells; (answers, cells)."""
        _check_entries(self.answers * domain.size)
        return _crossed([sums.matrix(axis) for sums, axis in zip(self.sums, domain.axes, strict=True)])

    def gram(self, domain: Domain) -> Floats:
        """Return the mean of w w' over the sums w; (cells, cells)."""
        _check_entries(domain.size**2)
        return _crossed([sums.gram(axis) for sums, axis in zip(self.sums, domain.axes, strict=True)]) / self.answers


@dataclass(frozen=True, slots=True, eq=False)
class Workload(Display):
    """The sums that a release must answer, and the weight of the error of each.

    Args:
        domain: Declared domain.
        wanted: Weight of each wanted table, > 0, by the table's name. The name lists levels of axes, and may restrict a
            level to one label: ``"department sex outcome=admitted"``. If names or labels have spaces, pass a tuple:
            ``("department", ("outcome", "not admitted"))``. The empty text names the total.
        per_answer: True if a weight multiplies the variance of each answer, False if a weight multiplies the mean
            variance of the table's answers.

    Raises:
        OutOfRange, NotANumber, WrongKind: if the domain does not have a name or a label, if a table is named twice, if
            a weight is not positive, or if the mapping is empty.

    >>> domain = Domain(department=list("ABC"), outcome=["admitted", "rejected"])
    >>> wanted = Workload(domain, {"department outcome=admitted": 1, "outcome=admitted": 1, "": "1/2"})
    >>> [(part.name, part.answers, str(part.weight)) for part in wanted.parts]
    [('department outcome=admitted', 3, '1'), ('outcome=admitted', 1, '1'), ('', 1, '1/2')]
    """

    domain: Domain
    parts: tuple[WantedSums, ...]

    def __init__(self, domain: Domain, wanted: Mapping[Any, Number], *, per_answer: bool = False) -> None:
        if not isinstance(domain, Domain):
            raise wrong_kind("domain", "a Domain", domain)
        if not isinstance(wanted, Mapping):
            raise WrongKind(
                "wanted= must map names of tables to weights", came=type(wanted).__name__, remedy='Pass {"": 1}.'
            )
        parts = [_part_of(domain, *narrowed(domain, name), weight, per_answer) for name, weight in wanted.items()]
        if len({part.sums for part in parts}) < len(parts):
            raise OutOfRange(
                "wanted= must name each table once",
                came="one table twice",
                remedy="Name each table once, with the sum of its weights.",
            )
        _set(self, domain, parts)

    def __reduce__(self) -> tuple[Any, ...]:
        return _workload, (self.domain, self.parts)

    @classmethod
    def ranges(
        cls, domain: Domain, *axes: str, weight: Number = 1, by: Any = "", per_answer: bool = False
    ) -> "Workload":
        """Return a workload of all sums of neighbouring values of an axis.

        With several axes, the sums are over all boxes: products of a range along each axis. All sums are wanted for
        each group of the marginal ``by`` of other axes.

        >>> from utmost.workloads import bins
        >>> domain = Domain(x=bins(4), y=bins(3), sex=["men", "women"])
        >>> Workload.ranges(domain, "x", by="sex"), Workload.ranges(domain, "x", "y")
        (Workload(ranges of x by sex: 20 answers, weight 1), Workload(ranges of x y: 60 answers, weight 1))
        """
        return _along(
            domain, dict.fromkeys(sequence_of(axes, text, "axes"), Ranges()), "ranges", weight, by, per_answer
        )

    @classmethod
    def prefixes(
        cls, domain: Domain, *axes: str, weight: Number = 1, by: Any = "", per_answer: bool = False
    ) -> "Workload":
        """Return a workload of the sums of the first 1, 2, ... values of an axis.

        With several axes, the sums are over all boxes that contain the first value of each axis. All sums are wanted
        for each group of the marginal ``by`` of other axes. If the domain has only one axis, its name may be left out.

        >>> from utmost.workloads import bins
        >>> Workload.prefixes(Domain(age=bins(4)), weight=2)
        Workload(prefixes of age: 4 answers, weight 2)
        """
        if not axes and len(instance(domain, Domain, "domain").columns) == 1:
            axes = domain.columns
        return _along(
            domain, dict.fromkeys(sequence_of(axes, text, "axes"), Prefixes()), "prefixes", weight, by, per_answer
        )

    @classmethod
    def windows(
        cls, domain: Domain, lengths: Mapping[str, int], weight: Number = 1, *, by: Any = "", per_answer: bool = False
    ) -> "Workload":
        """Return a workload of all sums of a fixed number of neighbouring values.

        With several axes, the sums are over all boxes of one size.

        Args:
            domain: Domain of the table.
            lengths: Number of values along each axis, from 1 to its size.
            weight: Weight of the mean variance of these sums; with ``per_answer``, of the variance of each.
            by: Marginal of other axes; the sums are wanted in each of its groups.
            per_answer: Whether ``weight`` multiplies the variance of each sum, not the mean of these variances.

        >>> from utmost.workloads import bins
        >>> Workload.windows(Domain(day=bins(28)), {"day": 7})
        Workload(windows of day 7: 22 answers, weight 1)
        """
        instance(domain, Domain, "domain")
        mapping(lengths, "lengths")
        read = {name: Windows(natural(length, f"length along {name!r}", least=1)) for name, length in lengths.items()}
        for name, windows in read.items():
            values = domain.axes[domain.level_named(name)[0]].size
            if windows.length > values:
                raise OutOfRange(
                    f"a window on this axis may have at most {values} values", came=windows.length, where=repr(name)
                )
        return _along(domain, read, "windows", weight, by, per_answer)

    @classmethod
    def weighed(
        cls,
        domain: Domain,
        rows: Mapping[str, Any],
        weight: Number = 1,
        *,
        by: Any = "",
        per_answer: bool = False,
        name: str = "rows",
    ) -> "Workload":
        """Return a workload of weighted sums: each row of an axis' matrix has the weights of the axis' values in a sum.

        Args:
            domain: Domain of the table.
            rows: Dict from the name of each axis to a matrix (rows, values) of integers below 2^31 in absolute value,
                without a row of zeros. With several axes, an answer takes one row of each matrix; the weight of a cell
                is the product of the rows' weights.
            weight: Weight of the mean variance of these sums; with ``per_answer``, of the variance of each.
            by: Marginal of other axes; the sums are wanted in each of its groups.
            per_answer: Whether ``weight`` multiplies the variance of each sum, not the mean of these variances.
            name: Name for the rows, used in the name of the part.

        >>> Workload.weighed(Domain(grade=range(3)), {"grade": [[-1, 0, 1], [0, 1, 2]]})
        Workload(rows of grade: 2 answers, weight 1)
        """
        instance(domain, Domain, "domain")
        mapping(rows, "rows")
        read = {name: Weighed.of(domain.axes[domain.level_named(name)[0]], matrix) for name, matrix in rows.items()}
        return _along(domain, read, text(name, "name"), weight, by, per_answer)

    @classmethod
    def hierarchy(
        cls, domain: Domain, axis: str, weight: Number = 1, *, by: Any = "", per_answer: bool = False
    ) -> "Workload":
        """Return a workload of the sums over the groups of every level of an axis, and of the total.

        Each level is a part of the workload with the weight ``weight``, and so is the total.

        >>> from utmost.workloads import hierarchy
        >>> place = hierarchy({"North": ["N1", "N2"], "South": ["S1"]}, names=["region", "district"])
        >>> Workload.hierarchy(Domain(place=place), "district")
        Workload(district: 3 answers, weight 1; region: 2 answers, weight 1; total: 1 answer, weight 1)
        """
        instance(domain, Domain, "domain")
        place, _ = domain.level_named(text(axis, "axis"))
        per_answer = truth(per_answer, "per_answer")
        marginal, only = _crossing(domain, [place], by)
        levels = range(len(domain.axes[place].levels) + 1)
        marginals = [with_level(marginal, place, level) for level in levels]
        return _workload(domain, [_part_of(domain, chosen, only, weight, per_answer) for chosen in marginals])

    @classmethod
    def sums(cls, domain: Domain, wheres: Iterable[Where], weights: Sequence[Number] | None = None) -> "Workload":
        """Return a workload of single sums, one for each selection in ``wheres``: the sum of the selected cells.

        Args:
            domain: Domain of the table.
            wheres: Selections, each as `Domain.selection` takes it.
            weights: Weight of each sum; None means 1 each.

        Raises:
            OutOfRange: if a selection has no cells, or if the numbers of weights and selections differ.

        >>> from utmost.workloads import bins
        >>> Workload.sums(Domain(age=bins(4), sex=["men", "women"]), [{"age": slice(1, 3)}, {"sex": "men"}])
        Workload(age=1..3: 1 answer, weight 1; sex=men: 1 answer, weight 1)
        """
        if not isinstance(domain, Domain):
            raise wrong_kind("domain", "a Domain", domain)
        if not isinstance(wheres, Iterable) or isinstance(wheres, str | Mapping):
            raise wrong_kind("wheres", "a list of selections", wheres)
        listed = list(wheres)
        counted = [1] * len(listed) if weights is None else list(weights)
        if len(counted) != len(listed):
            raise OutOfRange(
                f"weights must have {len(listed)} numbers, one for each sum",
                came=len(counted),
                remedy="Pass one weight for each sum; or leave out weights=, and each weight is 1.",
            )
        parts = []
        for where, weight in zip(listed, counted, strict=True):
            taken = domain.selection(where)
            if not all(row.any() for row in taken):
                raise OutOfRange(
                    "a sum must contain at least one cell",
                    came="none",
                    where=_where_name(where),
                    remedy="Select labels or a range of the axis.",
                )
            sums = tuple(sum_of_values(axis, row) for axis, row in zip(domain.axes, taken, strict=True))
            parts.append(_part(domain, _where_name(where), sums, weight, per_answer=False))
        return _workload(domain, parts)

    @classmethod
    def of_parts(cls, domain: Domain, parts: Iterable[WantedSums]) -> "Workload":
        """Return the workload of these parts; equal parts become one, with the sum of their weights."""
        instance(domain, Domain, "domain")
        iterable(parts, "parts")
        return _workload(domain, parts)

    def __add__(self, other: "Workload") -> "Workload":
        """Return a workload with the parts of both; if both have a part, its weights are added up."""
        if not isinstance(other, Workload):
            return NotImplemented
        if not self.domain.same_as(other.domain):
            raise OutOfRange(
                "both workloads must have the same domain",
                came="two domains",
                remedy="Make both workloads over the same Domain.",
            )
        return _workload(self.domain, (*self.parts, *other.parts))

    def __repr__(self) -> str:
        part_texts = (
            f"{part.name or 'total'}: {part.answers} answer{'s' * (part.answers > 1)}, weight {part.weight}"
            for part in self.parts
        )
        line = f"Workload({'; '.join(part_texts)})"
        return line if len(line) <= LONGEST else f"Workload({len(self.parts)} parts, {self.answers} answers)"

    @property
    def weight(self) -> Fraction:
        """The sum of the weights of the parts."""
        return sum((part.weight for part in self.parts), start=Fraction(0))

    @property
    def answers(self) -> int:
        """The number of wanted answers."""
        return sum(part.answers for part in self.parts)

    def check_adds(self, unit: Unit) -> None:
        """Check that no answer is a sum of several cells if the cells are distinct counts.

        Raises:
            NotDetermined: if the cells are distinct counts, and an answer adds up several cells, because these may
                count one value twice.
        """
        for part in self.parts if unit.is_distinct else ():
            unit.check_adds(is_one_cell=set(part.sizes(self.domain)) <= {1}, came=part.name or "the total")

    @property
    def marginals(self) -> tuple[Marginal, ...]:
        """For each part, the coarsest marginal that determines its answers; each marginal occurs once."""
        return tuple(dict.fromkeys(part.marginal(self.domain) for part in self.parts))

    @property
    def eigenspaces(self) -> tuple[Marginal, ...]:
        """The eigenspaces that are not orthogonal to all answers: only these matter for the variances of answers.

        Raises:
            Unsupported: if the groups of a level differ in size.
        """
        chains, spaces = chains_of(self.domain), dict[Marginal, None]()
        known: dict[tuple[int, AxisSums], list[int]] = {}
        for part in self.parts:
            for key in enumerate(part.sums):
                if key not in known:
                    place, sums = key
                    known[key] = [level for level, square in enumerate(sums.spectrum(chains[place])) if square]
            spaces.update(dict.fromkeys(product(*(known[key] for key in enumerate(part.sums)))))
        return tuple(sorted(spaces))

    def spectrum(self, blocks: VarianceComponents) -> Array:
        """For each T, return the sum over the parts of weight times the mean of |Q_T w|^2 over the part's sums w."""
        rows = [part.weight * part.spectrum(blocks) for part in self.parts]
        return frozen(np.asarray(sum(rows[1:], start=rows[0]), dtype=object))

    def gram(self) -> Floats:
        """Return the sum over the parts of weight times the mean of w w' over the part's sums w; (cells, cells)."""
        return np.asarray(sum(float(part.weight) * part.gram(self.domain) for part in self.parts))

    def reweighted(self, weights: Mapping[str, Number]) -> "Workload":
        """Return the workload of the parts that ``weights`` names, with these weights.

        >>> domain = Domain(sex=["men", "women"])
        >>> Workload(domain, {"sex": 1, "": 1}).reweighted({"sex": 3})
        Workload(sex: 2 answers, weight 3)
        """
        known = {part.name: part for part in self.parts}
        for name in weights:
            if name not in known:
                raise OutOfRange(
                    "weights must name parts of the workload",
                    came=repr(name),
                    remedy=f"Name parts of the workload: {list(known)}.",
                )
        parts = [replace(known[name], weight=_weight(weight, name)) for name, weight in weights.items()]
        return _workload(self.domain, parts)


def narrowed(domain: Domain, name: Any) -> tuple[Marginal, dict[int, int]]:
    """Read a table's name: return its marginal, and for each axis restricted to a label the index of its group."""
    if isinstance(name, tuple) and name and all(isinstance(word, int) for word in name):
        return domain.marginal(name), {}
    levels, labels = [], dict[str, Label]()
    known = {level for axis in domain.axes for level in axis.levels}
    if not isinstance(name, str):
        parts = list(name) if isinstance(name, Sequence) else [name]
    elif name in known:
        parts = [name]
    else:

        def is_word(word: str) -> bool:
            with_label = (word.startswith(f"{level}=") and " " not in word[len(level) :] for level in known)
            return word in known or any(with_label)

        words = words_in(name, is_word)
        parts = [word if word in known or "=" not in word else _level_and_label(word, known) for word in words]
    for word in parts:
        if isinstance(word, str):
            levels.append(word)
        elif isinstance(word, tuple) and len(word) == 2:
            levels.append(str(word[0]))
            labels[str(word[0])] = word[1]
        else:
            raise WrongKind(
                "a wanted table must be given by names of levels",
                came=type(word).__name__,
                remedy='Pass, for example, "sex age".',
            )
    only = {}
    for name_of_level, label in labels.items():
        axis, level = domain.level_named(name_of_level)
        taken = domain.selection({name_of_level: label})[axis]
        only[axis] = int(domain.axes[axis].group_of(level)[taken.argmax()])
    return domain.marginal(levels), only


def _level_and_label(word: str, known: Iterable[str]) -> tuple[str, str]:
    """Split ``level=label``; either of them may contain an equals sign."""
    level = max((level for level in known if word.startswith(f"{level}=")), key=len, default=word.split("=")[0])
    return level, word[len(level) + 1 :]


def _part_of(
    domain: Domain, marginal: Marginal, only: Mapping[int, int], weight: Number, per_answer: bool
) -> WantedSums:
    sums = tuple(Groups(level, only.get(place)) for place, level in enumerate(marginal))
    words = [
        axis.levels[level] + (f"={label_text(axis.labels[level][only[place]])}" if place in only else "")
        for place, (axis, level) in enumerate(zip(domain.axes, marginal, strict=True))
        if level < len(axis.levels)
    ]
    return _part(domain, " ".join(words), sums, weight, per_answer)


def _along(
    domain: Domain, sums: Mapping[str, AxisSums], kind: str, weight: Number, by: Any, per_answer: bool
) -> "Workload":
    """Return the workload of one part: sums of a kind along some axes, for each group of the marginal ``by``."""
    instance(domain, Domain, "domain")
    per_answer = truth(per_answer, "per_answer")
    places: dict[int, AxisSums] = {}
    for axis, along in sums.items():
        place, level = domain.level_named(axis)
        if level:
            raise OutOfRange(
                f"{kind} must name the finest level of an axis",
                came=repr(axis),
                remedy=f"Name {domain.columns[place]!r}.",
            )
        places[place] = along
    if not places:
        raise OutOfRange(f"{kind} must name an axis", came="none", remedy=f"Name one of {', '.join(domain.columns)}.")
    marginal, only = _crossing(domain, places, by)
    crossing = _part_of(domain, marginal, only, 1, per_answer=False)
    lengths = {place: f" {along.length}" if isinstance(along, Windows) else "" for place, along in places.items()}
    names = [f"{domain.columns[place]}{length}" for place, length in lengths.items()]
    name = f"{kind} of {' '.join(names)}" + (f" by {crossing.name}" if crossing.name else "")
    chosen = tuple(places.get(place, beside) for place, beside in enumerate(crossing.sums))
    return _workload(domain, [_part(domain, name, chosen, weight, per_answer)])


def _crossing(domain: Domain, places: Iterable[int], by: Any) -> tuple[Marginal, dict[int, int]]:
    """Return the marginal ``by`` and its labels as `narrowed` does; refuse a marginal with an axis of ``places``."""
    marginal, only = narrowed(domain, by)
    if any(marginal[place] < len(domain.axes[place].levels) for place in places):
        raise OutOfRange(
            "by= must not name the axis of the ranges", came=repr(by), remedy="Leave out the axis of the ranges."
        )
    return marginal, only


def _part(domain: Domain, name: str, sums: tuple[AxisSums, ...], weight: Number, per_answer: bool) -> WantedSums:
    answers = prod(count_of(along, axis) for along, axis in zip(sums, domain.axes, strict=True))
    return WantedSums(name, _weight(weight, name) * (answers if per_answer else 1), sums, answers)


def _weight(weight: Number, name: str) -> Fraction:
    number = written_number(weight, "weight")
    if number <= 0:
        remedy = "Leave out tables that you do not want."
        raise OutOfRange("a weight must be positive", came=weight, where=name or "total", remedy=remedy)
    if not 1 / _LARGEST_WEIGHT <= number <= _LARGEST_WEIGHT:
        raise OutOfRange(
            "a weight must lie between 1e-100 and 1e100",
            came=weight,
            where=name or "total",
            remedy="Pass, for example, 1.",
        )
    return number


_LARGEST_WEIGHT = Fraction(10**100)  # larger weights might overflow: floats must hold sums of squared weights


def _where_name(where: Where) -> str:
    words = []
    for name, wanted in where.items():
        if isinstance(wanted, slice):
            shown = "..".join("" if end is None else str(end) for end in (wanted.start, wanted.stop))
        else:
            shown = str(wanted) if isinstance(wanted, str | int | np.integer) else "|".join(map(str, wanted))
        words.append(f"{name}={shown}")
    return " ".join(words)


@unpickler
def _workload(domain: Domain, parts: Iterable[WantedSums]) -> Workload:
    # Equal parts become one part, with the sum of their weights.
    merged: dict[tuple[AxisSums, ...], WantedSums] = {}
    for part in parts:
        same = merged.get(part.sums)
        merged[part.sums] = part if same is None else replace(same, weight=same.weight + part.weight)
    workload = object.__new__(Workload)
    _set(workload, domain, merged.values())
    return workload


def _set(workload: Workload, domain: Domain, parts: Iterable[WantedSums]) -> None:
    listed = tuple(parts)
    if not listed:
        raise OutOfRange("a workload must name at least one table", came="none", remedy='Pass {"": 1} for the total.')
    if len({part.name for part in listed}) < len(listed):
        raise OutOfRange(
            "the parts of a workload must have different names", came="one name for two parts", remedy="Rename a label."
        )
    object.__setattr__(workload, "domain", domain)
    object.__setattr__(workload, "parts", listed)


def _crossed(factors: Sequence[Array]) -> Floats:
    product_matrix: Floats = np.ones((1, 1))
    for factor in factors:
        product_matrix = np.asarray(np.kron(product_matrix, factor), dtype=float)
    return product_matrix


def _check_entries(entries: int) -> None:
    if entries > MOST_ENTRIES:
        raise OutOfRange(
            "a dense matrix may have at most 10^8 entries",
            came=entries,
            remedy="Pass the workload itself to ut.choose_plan, which needs no matrix.",
        )

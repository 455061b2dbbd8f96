"""Options for counting events of people, and for reading tables that were counted elsewhere."""

import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from utmost.errors import BadTable, FewEventsKept, NothingCounted, OutOfRange, RowsLeftOut, UtmostError
from utmost.interfaces.cli.options import file_options
from utmost.interfaces.cli.options.option_kinds import flag, option
from utmost.interfaces.cli.screens.control_characters import harmless

if TYPE_CHECKING:
    from utmost.publish.counting.counted import CountedTable
    from utmost.publish.counting.counted_measures import MeasureSpec
    from utmost.tables.axes.domain import Domain
    from utmost.tables.cells.spelling import Spelling


_MISSING_LEFT_OUT = 'missing="leave out" in ut.mean or ut.sum'

_KEY = "(missing|step|values|each|per_cell|most_events|in_total|at_most|of)"
_KEY_ALONE = re.compile(rf"\b{_KEY}=(?= |,|;|$)|^{_KEY}(?= must )")
_KEY_VALUE = rf'{_KEY}=("[^"]*"|\([^)]*\)|[\d./]*\d)'
_KEY_VALUES = re.compile(rf"\b{_KEY_VALUE}(?:, {_KEY_VALUE})*(?: in ut\.mean or ut\.sum)?")

_ALL_BUT_AMOUNTS = "nothing but amounts"
_STRICT = ["nothing"], [_ALL_BUT_AMOUNTS]
"""Words of --leave-out by which a lost event is an error."""

LeftOut = Annotated[
    list[str] | None,
    option(
        "WHAT",
        "Data to leave out: outside (undeclared or missing values), amounts (missing amounts; persons still count), "
        "nothing, or 'nothing but amounts'. With the last two, bounds that remove over half of the data are refused.",
    ),
]


@dataclass(frozen=True, slots=True)
class PersonOptions:
    """Options that define one person, the domain of the counts, and how many cells one person may change."""

    title: ClassVar[str] = "Counting people"

    person: Annotated[
        str | None,
        option(
            "COLUMN",
            "Column that identifies persons. Without --in-total, a person counts once in a cell.",
        ),
    ] = None
    each_row: Annotated[bool, flag("Each row is a different person.")] = False
    domain: file_options.DomainFile = None
    by: Annotated[
        list[str] | None,
        option("NAMES", "Columns to count by: sex,region; default: all."),
    ] = None
    at_most: Annotated[int | None, option("K", "Number of cells that one person may change.")] = None
    in_total: Annotated[
        str | None,
        option("S", "One person's largest number of events in all cells (with --values: largest sum)."),
    ] = None
    mean: Annotated[
        list[str] | None,
        option(
            "COLUMN=LOW,HIGH",
            "Column to sum and average, clipped to LOW,HIGH: income=0,200000; "
            "if it has decimals: income=0,200000,0.01.",
        ),
    ] = None
    leave_out: LeftOut = None
    neighbours: Annotated[
        str | None,
        option("NAME", "Neighbours: add-remove (default), or change-one (twice the noise)."),
    ] = None

    per_cell: Annotated[str | None, option("S", "One person's largest change of a cell, say 1, or LOW,HIGH.")] = None

    @property
    def are_events(self) -> bool:
        return self.each_row or self.person is not None

    @property
    def relation(self) -> str:
        return self.neighbours or "add-remove"

    @property
    def people(self) -> "CountingOptions":
        """Return these options as `CountingOptions` in which each event counts as 1."""
        shared_fields = self.person, self.each_row, self.domain, self.by, self.at_most, self.in_total
        return CountingOptions(*shared_fields, self.mean, self.leave_out, self.neighbours, self.per_cell)


@dataclass(frozen=True, slots=True)
class CountingOptions(PersonOptions):
    """All options for counting events and amounts, and for reading tables that were counted elsewhere."""

    values: Annotated[str | None, option("COLUMN", "Column of amounts to sum; by default events are counted.")] = None
    step: Annotated[str | None, option("STEP", "Step to which amounts are rounded, say 0.01.")] = None
    each: Annotated[
        str | None, option("HIGH", "Range to which each amount is clipped: HIGH (from 0), or LOW,HIGH.")
    ] = None
    most_events: Annotated[
        int | None,
        option("M", "Also count the events, at most M of one person in a cell."),
    ] = None
    measures: Annotated[
        Path | None,
        option(
            "FILE",
            "JSON file of named measures, all counted in one pass.",
            exists=True,
            dir_okay=False,
        ),
    ] = None
    count_key: Annotated[
        Path | None,
        option(
            "FILE",
            "File of 32 random bytes, with which re-runs keep the same cells.",
            exists=True,
            dir_okay=False,
        ),
    ] = None

    counts: Annotated[
        str | None, option("COLUMN", "Column of the counts, if each row is a cell.", "--count-column")
    ] = None
    nested: Annotated[
        str | None,
        option("AXIS=NAMES", "Make an axis of columns that each count some of the next: outcome=admitted,applicants."),
    ] = None

    individual: Annotated[str | None, option("TEXT", 'Words for one individual, say "one household".')] = None

    def counted(
        self,
        events: Path,
        domain: "Domain",
        spelling: "Spelling",
        part: str | None = None,
        together: str | None = None,
        key: bytes | None = None,
    ) -> Any:
        """Count the events of a file over a domain; return a table, or tables by measure or by label of a part."""
        # `together` is an axis of two to five values along which a person's cells are kept by rows, see `count_table`.
        # `key` is the counting key of a ledger; if it is None, the key of --count-key is used, if there is one.
        from utmost.publish.counting.counted_events import count_measures, count_table
        from utmost.publish.counting.counting import Counting

        if self.counts is not None or self.nested is not None:
            return replace(self._read(events, domain, spelling), together=together)
        if self.individual is not None:
            remedy = "Leave out --individual: if events are counted, an individual is a person."
            raise OutOfRange("--individual needs --count-column or --nested", came="events", remedy=remedy)
        for name, value in (("--person", self.person), ("--at-most", self.at_most)):
            is_bounded = name == "--at-most" and not (self.in_total is None and self.measures is None)
            if value is None and not self.each_row and not is_bounded:
                remedy = (
                    "Say who is one person: add --each-row if each row is another person, or --person COLUMN."
                    if name == "--person"
                    else "Add the number of cells that one person may change, for example --at-most 1."
                )
                raise OutOfRange("counting people needs --person and --at-most", came=f"no {name}", remedy=remedy)
        self._check_left_out()
        if self.each_row and self.count_key is not None:
            remedy = "Leave out --count-key: with --each-row every row is kept."
            raise OutOfRange("--count-key needs --person", came="--each-row", remedy=remedy)
        counting = Counting(self.person, self.each_row, self.at_most, together, self.relation, key or self.key)
        by = None if self.by is None else split_names(self.by)
        with (
            self._in_words_of_options(),
            warnings.catch_warnings(record=self.is_strict) as lost,
        ):
            if not self.is_strict:
                warnings.filterwarnings("ignore", category=FewEventsKept)  # `show_report` says so
            if self.outside is None:
                # A table without events is a day on which nothing happened: it is published, with the warning.
                warnings.filterwarnings("error", "Every event lies outside", NothingCounted)
            if (measures := self.several) is None:
                tables: Any = count_table(
                    events,
                    domain,
                    counting,
                    measure=self.measure,
                    by=by,
                    part=part,
                    spelling=spelling,
                    outside=self.outside,
                )
            else:
                tables = count_measures(
                    events,
                    domain,
                    counting,
                    measures,
                    by=by,
                    part=part,
                    spelling=spelling,
                    outside=self.outside,
                )
        first: Any = tables
        while isinstance(first, dict):
            first = next(iter(first.values()))
        each = tables.items() if self.several is not None and part is None else [("", first)]
        sum_bound = self._sum_bound(measures)
        columns = [text.partition("=")[0].strip() for text in self.mean or ()]
        for name, counted in each:
            amount_bound = "--each" if not columns else f"--mean {name if name in columns else columns[0]}"
            show_report(counted, name, amount_bound, sum_bound)
        if self.each_row:
            self._warn_of_repeats(events, domain)
        losses = (FewEventsKept, NothingCounted, RowsLeftOut)
        for warning in lost or ():
            if not issubclass(warning.category, losses):
                warnings.warn(warning.message, stacklevel=2)
            else:
                # --leave-out nothing makes the warnings of lost events errors (code 1), before anything is written.
                lost_events = str(warning.message).partition(". ")[0]
                instead = "--leave-out outside,amounts" if self.leaves_amounts else "--leave-out outside"
                remedy = f"Nothing was written. Correct the domain or the bounds, or write {instead}."
                named = f'"{_ALL_BUT_AMOUNTS}"' if self.leaves_amounts else "nothing"
                required = f"--leave-out {named} refuses events outside the domain, and bounds that keep "
                required += "less than half"
                raise BadTable(f"{required}. {lost_events}", remedy=remedy)
        return tables

    def contributions(self, events: Path, domain: "Domain", spelling: "Spelling", bounds: str) -> "CountedTable":
        """Count how many persons each bound leaves unchanged; ``bounds`` is a text such as "at-most=1,2,5"."""
        from utmost.interfaces.cli.options.shared_options import refuse
        from utmost.publish.counting.contributions import count_contributions
        from utmost.publish.counting.counting import Counting

        name, _, listed = bounds.partition("=")
        if name not in ("at-most", "per-cell", "in-total"):
            remedy = "Write --contributions at-most=1,2,5,10, per-cell=10,100 or in-total=30,100,300."
            raise OutOfRange(
                "--contributions must name one bound", came=repr(bounds), where="--contributions", remedy=remedy
            )
        if not self.are_events:
            remedy = "Say who is one person: add --each-row if each row is another person, or --person COLUMN."
            raise OutOfRange("--contributions needs --person or --each-row", came="neither of them", remedy=remedy)
        other = replace(self, person=None, each_row=False, domain=None, by=None, values=None, step=None, each=None)
        refuse("does not go with --contributions", replace(other, leave_out=None, neighbours=None))
        self._check_left_out()
        limits: Any = split_names([listed])
        table = count_contributions(
            events,
            domain,
            Counting(self.person, self.each_row, neighbours=self.relation),
            name.replace("-", "_"),
            limits,
            measure=self.measure,
            by=None if self.by is None else split_names(self.by),
            spelling=spelling,
            outside=self.outside,
        )
        show_report(table, "", "--each", None)  # contributions are measured without any bound
        return table

    def _warn_of_repeats(self, events: Path, domain: "Domain") -> None:
        """Warn on a terminal if --each-row may be wrong: nearly all rows have their own value in a column, and the rest
        repeat one, so that some persons may have several rows.
        """
        from utmost.interfaces.cli.screens.screen import screen
        from utmost.interfaces.cli.screens.terminal import ScreenText
        from utmost.tables.files import files

        terminal = screen(stderr=True)
        if not (terminal.is_terminal and sys.stderr.isatty() and events.is_file()):
            return  # confidential counts are for the terminal only, never for a log
        if events.stat().st_size > _READ_AGAIN:
            return
        read = files.columns(files.read(events, as_events=True))
        amounts = {text.partition("=")[0].strip() for text in self.mean or ()} | {self.values}
        counted = {name for axis in domain.axes for name in axis.columns} | amounts
        for name, column in read.items():
            cells = [str(cell) for cell in column if cell is not None and str(cell) not in ("", "nan")]
            once = len(set(cells))
            is_number = any("." in cell or "," in cell for cell in cells)
            if name not in counted and not is_number and len(cells) >= _FEWEST and once < len(cells) <= once * 10 / 9:
                warning = f"Some persons may have several rows: {name} differs in nearly all rows, and "
                warning += f"{len(cells) - once} rows repeat one of its values. If {name} names persons, write "
                warning += f"--person {name} in place of --each-row."
                terminal.print(ScreenText(harmless(warning), style="bold"))

    def _sum_bound(self, measures: "dict[str, MeasureSpec] | None") -> str | None:
        """Return the options that bound a person's sum in a cell; None if a person counts once in a cell."""
        from utmost.publish.counting.counted_measures import MeasureSpec

        if all(measure == MeasureSpec() for measure in (measures or {"": self.measure}).values()):
            return None
        if self.measures is not None:
            return "--measures"
        by_options = {"--per-cell": self.per_cell, "--most-events": self.most_events, "--in-total": self.in_total}
        bounds = [name for name, value in by_options.items() if value is not None]
        if self.mean is not None and not bounds:
            return None  # each person counts once in a cell, with the average of all their amounts there
        return " or ".join(bounds) or "--per-cell"  # sums have a bound of 1 by default

    @property
    def outside(self) -> str | None:
        """ "leave out" if events outside the domain are left out; None if these events are refused."""
        return "leave out" if "outside" in self._left_out else None

    @property
    def is_strict(self) -> bool:
        """Whether a lost event is an error."""
        return self._left_out in _STRICT

    @property
    def leaves_amounts(self) -> bool:
        """Whether missing amounts are left out of sums and means."""
        return "amounts" in self._left_out or self._left_out == [_ALL_BUT_AMOUNTS]

    @property
    def _left_out(self) -> list[str]:
        """The words that --leave-out has: any of "outside" and "amounts", or one word of `_STRICT`."""
        words = split_names(self.leave_out or [])
        for word in words:
            if word not in ("outside", "amounts") and words not in _STRICT:
                remedy = "Write --leave-out outside, --leave-out amounts, both, or --leave-out nothing."
                if "amounts" in words and "nothing" in words:
                    remedy = f'Write --leave-out "{_ALL_BUT_AMOUNTS}".'
                required = f"--leave-out must be outside, amounts, both, nothing, or '{_ALL_BUT_AMOUNTS}'"
                raise OutOfRange(required, came=", ".join(words), remedy=remedy)
        return words

    def _check_left_out(self) -> None:
        if self.leaves_amounts and self.values is None and self.mean is None and self.measures is None:
            words = ",".join(self._left_out)
            words = f'"{words}"' if " " in words else words
            remedy = f"Leave out --leave-out {words}; or name the column: --mean income=0,200000."
            raise OutOfRange(f"--leave-out {words} needs a column of amounts", came="none", remedy=remedy)

    @property
    def measure(self) -> "MeasureSpec":
        from utmost.publish.counting.counted_measures import MeasureSpec

        if self.mean is not None:
            return self._averaged(self.mean[0])[1]
        return MeasureSpec(
            values=self.values,
            step=self.step,
            each=_ends(self.each),
            per_cell=_ends(self.per_cell),
            most_events=self.most_events,
            in_total=self.in_total,
            missing="leave out" if self.leaves_amounts else None,
        )

    @contextmanager
    def _in_words_of_options(self) -> Iterator[None]:
        """Replace an error of counting by one about the options; turn the warning of a table of zeros into an error."""
        try:
            yield
        except NothingCounted as warning:  # raised by a warning filter, before any draw
            required, _, remedy = str(warning).partition(": every cell is 0. ")
            remedy += " Or pass --leave-out outside to publish zeros."
            raise BadTable(
                "some event must lie in the declared domain",
                came="none",
                where=required.partition("domain, on ")[2],
                remedy=remedy,
            ) from None
        except UtmostError as error:
            if self.is_strict and error.remedy is not None:
                error.remedy = error.remedy.replace(_MISSING_LEFT_OUT, f'--leave-out "{_ALL_BUT_AMOUNTS}"')
            if self.mean is None and self.measures is None:
                raise
            if self.mean is not None and error.required.startswith(("each ", "step ", "the step ")):
                required = (
                    "LOW, HIGH and STEP must be numbers, LOW below HIGH, and both multiples of STEP (1 if left out)"
                )
                remedy = "Write, for example, --mean income=0,200000 or --mean income=0,200000,0.01."
                raise OutOfRange(required, came=", ".join(self.mean), where="--mean", remedy=remedy) from None
            remedy = self._with_step(error.remedy or "", error.where or "")
            required, came = error.required, error.came
            if self.measures is not None:
                required, remedy = _as_keys(required), _as_keys(remedy)
                came = _as_keys(came) if isinstance(came, str) else came
            named = type(error)(required, came=came, where=error.where, remedy=remedy)
            for note in getattr(error, "__notes__", ()):
                named.add_note(self._with_step(note, note))
            raise named from None

    def _with_step(self, remedy: str, where: str) -> str:
        """Return the advice to add the step to the `--mean` option of the column that the error names."""
        mean = next((text for text in self.mean or () if f"column {text.partition('=')[0].strip()!r}" in where), None)
        return remedy if mean is None else remedy.replace('add step="0.01"', f"write --mean {mean},0.01")

    @property
    def several(self) -> "dict[str, MeasureSpec] | None":
        """{name: measure} if several measures are counted in one pass; None for one."""
        from utmost.core.exact.arguments import wrong_kind
        from utmost.publish.counting.counted_measures import MeasureSpec
        from utmost.tables.files.json_files import read_json

        if self.mean is not None and len(self.mean) > 1:
            named = [self._averaged(text) for text in self.mean]
            if len(dict(named)) < len(named):
                raise OutOfRange(
                    "--mean must name each column only once", came="one twice", remedy="Leave one of them out."
                )
            return dict(named)
        if self.measures is None:
            return None
        known = [field.name for field in fields(MeasureSpec)]
        if given := [name for name in known if getattr(self.measure, name) is not None]:
            keys = ['"missing": "leave out"' if name == "missing" else f'"{name}"' for name in given]
            options = ["--leave-out amounts" if name == "missing" else f"--{name.replace('_', '-')}" for name in given]
            required, came = (
                "the file of --measures must have all settings of each measure",
                f"{', '.join(options)} outside this file",
            )
            remedy = f"In place of the option, write {', '.join(keys)} in the file of --measures."
            raise OutOfRange(required, came=came, remedy=remedy)
        facts = read_json(self.measures, "measures must")
        example = '{"spent": {"values": "paid", "per_cell": 100}}'
        if not isinstance(facts, dict):
            raise wrong_kind("measures", f"the keys of each measure by its name: {example}", facts)
        for name, words in facts.items():
            if not isinstance(words, dict):
                raise wrong_kind(f"measure {name!r}", f"an object of keys, as in {example}", words)
            if unknown := [key for key in words if key not in known]:
                required, remedy = f"measure {name!r} must have known keys", f"Its keys are {', '.join(known)}."
                raise OutOfRange(required, came=repr(unknown[0]), where="--measures", remedy=remedy)
        return {name: MeasureSpec(**words) for name, words in facts.items()}

    def _averaged(self, text: str) -> "tuple[str, MeasureSpec]":
        """Return the column and the measure of a `--mean`: counts, sums and means of a column, with shared noise."""
        from utmost.interfaces.cli.options.shared_options import named_value, refuse
        from utmost.publish.counting.counted_measures import mean

        refuse(
            "cannot be combined with --mean",
            CountingOptions(
                per_cell=self.per_cell, values=self.values, step=self.step, each=self.each, measures=self.measures
            ),
        )
        example = f"--mean {'income' if '=' in text else text}=0,200000"
        column, ends = named_value(text, "a mean must be written as COLUMN=LOW,HIGH", "--mean", example)
        parts = [part.strip() for part in ends.split(",")]
        if len(parts) not in (2, 3) or not all(parts):
            required = "a mean must be written as COLUMN=LOW,HIGH, or COLUMN=LOW,HIGH,STEP"
            raise OutOfRange(required, came=repr(text), where="--mean", remedy=f"Write {example}.")
        missing = "leave out" if self.leaves_amounts else None
        step, most = parts[2] if len(parts) == 3 else None, self.most_events or 1
        return column, mean(
            column, each=parts[:2], step=step, most_events=most, in_total=self.in_total, missing=missing
        )

    @property
    def key(self) -> bytes | None:
        from utmost.tables.files.secret_file import counting_key

        return None if self.count_key is None else counting_key(self.count_key)

    def _read(self, table: Path, domain: "Domain", spelling: "Spelling") -> "CountedTable":
        """Read a table that was counted elsewhere, with the privacy unit that the options state."""
        from utmost.core.privacy.unit import Unit
        from utmost.publish.counting.cell_tables import cells_table
        from utmost.tables.files import files

        if self.counts is not None and self.nested is not None:
            raise OutOfRange("only one of --count-column and --nested may be given", came="both")
        if self.at_most is None:
            remedy = (
                "Add, for example, --at-most 1: utmost cannot check what one person changes in a table that was "
                "counted elsewhere."
            )
            raise OutOfRange("--count-column and --nested need --at-most", came="none", remedy=remedy)
        known = CountingOptions(
            domain=self.domain, at_most=self.at_most, neighbours=self.neighbours, per_cell=self.per_cell
        )
        if self != replace(known, counts=self.counts, nested=self.nested, individual=self.individual):
            raise OutOfRange(
                "--person, --each-row, --by, --mean, --values, --step, --each, --most-events, --in-total, --measures, "
                "--leave-out and --count-key need events to count",
                came="--count-column or --nested, for a table of cells",
                remedy="Leave out these options; or, to count events, leave out --count-column and --nested.",
            )
        nested = None
        if self.nested is not None:
            axis, equals, columns = self.nested.partition("=")
            if not equals:
                remedy = "Write, for example, --nested outcome=admitted,applicants."
                raise OutOfRange("--nested must be AXIS=NAMES", came=repr(self.nested), remedy=remedy)
            nested = {axis.strip(): split_names([columns])}
        unit = Unit(self.per_cell or 1, min(self.at_most, domain.size), self.relation)
        read = files.read(table, as_events=True)
        return cells_table(
            read,
            domain,
            unit=unit,
            counts=self.counts,
            nested=nested,
            spelling=spelling,
            individual=self.individual,
        )


_READ_AGAIN = 50_000_000  # bytes of the largest file that is read again to look for repeated persons
_FEWEST = 20  # smallest number of rows for such a search


def _as_keys(text: str) -> str:
    """In a sentence of the library, write the arguments of a measure as keys of the file of --measures."""

    def pairs(match: re.Match[str]) -> str:
        found = re.finditer(_KEY_VALUE, match[0])
        written = ", ".join(
            f'"{name}": {value.replace("(", "[").replace(")", "]")}'
            for name, value in (each.groups() for each in found)
        )
        return f"{written} in the file of --measures"

    return _KEY_ALONE.sub(lambda match: f'"{match[1] or match[2]}"', _KEY_VALUES.sub(pairs, text))


def _ends(text: str | None) -> Any:
    """Split "LOW,HIGH" into a list of both ends; return a single bound, or None, unchanged."""
    return text if text is None or "," not in text else text.split(",")


def show_report(counted: "CountedTable", measure: str, amount_bound: str, sum_bound: str | None) -> None:
    """Print the counting report on standard error: complete on a terminal, without numbers elsewhere."""
    from utmost.interfaces.cli.screens.screen import facts, screen
    from utmost.interfaces.cli.screens.terminal import ScreenText, write_note

    if counted.report is None:
        return
    named = f"{measure}: " if measure else ""
    some, hint = "not everything", ""
    if not counted.report.keeps_half:
        some, hint = "less than half", " `utmost bounds` tests larger bounds."
    terminal = screen(stderr=True)
    if terminal.is_terminal and sys.stderr.isatty():
        terminal.print(ScreenText(f"{named}{counted.report.notice}{hint}", style="bold"), facts(counted.report.rows))
    elif losses := counted.report.losses(amount_bound, sum_bound):  # a pipe may end in logs, so no number
        line = f"{named}{some} is counted, because of {', '.join(losses)}"
        write_note(f"{line}. `utmost count --report FILE` shows how much.{hint}")


def split_names(texts: list[str]) -> list[str]:
    """Split names at commas; a name in quotes stays as it is."""
    parts = [part for text in texts for part in _NAME.finditer(text)]
    names = [part["plain"].strip() if part["quoted"] is None else part["quoted"].replace('""', '"') for part in parts]
    return list(filter(None, names))


_NAME = re.compile(r'\s*(?:"(?P<quoted>(?:[^"]|"")*)"\s*(?=,|$)|(?P<plain>[^,]*))(?:,|$)')

"""`utmost count --unknown-keys`: select values of a column that nobody can list, at (epsilon, delta)."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from utmost.errors import OutOfRange
from utmost.interfaces.cli.options import people_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import option
from utmost.interfaces.cli.screens.screen import facts, grid, number, promised, screen
from utmost.interfaces.cli.screens.terminal import ScreenGroup, ScreenText
from utmost.interfaces.documents.reports import print_json
from utmost.publish.counting.key_counts import count_keys
from utmost.publish.ledger.releasing import release
from utmost.publish.promises.noise_at_level import warn_of_weakness
from utmost.publish.promises.noise_of_keys import key_noise
from utmost.publish.promises.promise import Promise
from utmost.publish.statements.counted_files import read_domain
from utmost.tables.axes.domain import Domain
from utmost.tables.cells.spelling import Spelling
from utmost.tables.files import files
from utmost.tables.files.atomic import check_absent, write_together
from utmost.tables.files.json_files import write_json
from utmost.tables.files.sidecars import sidecar_path, table_writers

FIXED = (
    "The selection of keys cannot be relaxed: a second selection at a larger epsilon adds its epsilon. Counts "
    "over the selected keys can be relaxed without a loss."
)

_SHOWN = 30  # selected keys on the screen


@dataclass(frozen=True, slots=True)
class UnknownKeys:
    """Options for selecting keys, the values of a column that nobody listed."""

    column: Annotated[
        str | None,
        option("COLUMN", "Column whose values nobody can list; frequent values are selected.", "--unknown-keys"),
    ] = None
    delta: Annotated[
        str | None, option("NUMBER", "Probability of selecting a value that only one person has, say 1e-6.")
    ] = None
    shares: Annotated[
        int | None,
        option("N", "Number of shares that each person divides equally among the person's values, say 60."),
    ] = None

    def check_unused(self, level: options.LevelOptions) -> None:
        """Refuse options for selecting keys if no column of keys is given."""
        given = {"--epsilon": level.epsilon, "--delta": self.delta, "--shares": self.shares}
        for name, value in given.items():
            if value is not None:
                remedy = f"Leave out {name}: counting spends no epsilon."
                raise OutOfRange(f"{name} needs --unknown-keys", came=str(value), remedy=remedy)

    def select(
        self,
        events: Path,
        people: people_options.CountingOptions,
        level: options.LevelOptions,
        out: Path | None,
        *,
        spelling: Spelling,
        as_json: bool,
        dry_run: bool,
        yes: bool,
    ) -> None:
        """Select keys, and write a domain with them; other axes come from a domain file."""
        column = str(self.column)
        if self.delta is None or people.at_most is None or people.person is None or not level.is_given:
            needed = {"--person": people.person, "--at-most": people.at_most}
            needed |= {"--epsilon": level.epsilon, "--delta": self.delta}
            missing = " and no ".join(name for name, value in needed.items() if value is None)
            example = {"--person": "user", "--at-most": "3", "--epsilon": "1", "--delta": "1e-6"}
            added = " ".join(f"{name} {example[name]}" for name, value in needed.items() if value is None)
            remedy = f"Add, for example, {added}."
            raise OutOfRange(
                "--unknown-keys needs --person, --at-most, --epsilon and --delta", came=f"no {missing}", remedy=remedy
            )

        plain = people_options.CountingOptions(people.person, domain=people.domain, at_most=people.at_most)
        plain = replace(plain, count_key=people.count_key)
        if people != plain:
            raise OutOfRange(
                "--unknown-keys takes no counting options except --person, --at-most, --domain and --count-key",
                came="another one",
                remedy="Leave out the other counting options, and add them when you count the selected keys.",
            )

        at, counts_are = level.read(), "persons" if self.shares is None else "shares"
        names = [column, counts_are if column != counts_are else "count"]
        noise = key_noise(names, delta=self.delta, keys=people.at_most, shares=self.shares)
        with options.refusing_weak_levels(yes):
            warn_of_weakness(noise.at(at).weakness())
        axes = {} if people.domain is None else dict(read_domain(people.domain).facts())
        if out is not None and out.suffix.lower() != ".json":
            required, remedy = (
                "--out must be a domain's file, which ends in .json",
                "Write, for example, --out keys.json.",
            )
            raise OutOfRange(required, came=out.name, remedy=remedy)
        # Check the files before the draw: a draw that cannot be written would spend its level for nothing.
        for path in () if out is None else (out, _table_beside(out), sidecar_path(_table_beside(out))):
            check_absent(path, draws=True)

        counts = count_keys(
            events,
            person=people.person,
            column=column,
            at_most=people.at_most,
            shares=self.shares,
            counts=noise.columns[-1],
            key=people.key,
            spelling=spelling,
        )
        if dry_run:
            guarantee, threshold = noise.guarantee(at, noise.columns), noise.distribution(at).threshold
            if as_json:
                report = {"dry_run": True, "guarantee": guarantee, "relaxable": False, "threshold": threshold}
                return print_json(report)
            headline = "Nothing was drawn. The selection of keys would promise the following."
            above = f"a key is selected if its noisy number of {noise.columns[-1]} exceeds {threshold}"
            rows = {"threshold": above, "later": FIXED}
            return screen().print(promised(headline, guarantee, rows))
        with options.refusing_weak_levels(yes=True):  # a large level was refused above, before the file was read
            selected = release(counts, Promise(noise=noise), epsilon=at, once=True)

        del counts  # true numbers
        keys, statement = list(selected.table[column]), selected.statement
        domain = Domain.of_facts({**axes, column: keys}).facts() if keys else None
        if out is not None:
            writers, statement = table_writers(selected.table, selected.statement_with, _table_beside(out))
            if domain is not None:
                writers = {out: lambda file: write_json(domain, file)} | writers
            write_together(writers)
        if out is not None and not keys:
            least = f"A key needs about {noise.distribution(at).threshold} {noise.columns[-1]}"
            remedy = f"{least}. The empty list is published in {_table_beside(out)}, and its epsilon is spent."
            raise OutOfRange(
                "a domain needs at least one key", came="none: no noisy count was above the threshold", remedy=remedy
            )

        if as_json:
            return print_json({"statement": statement, "table": files.columns(selected.table), "domain": domain})
        if domain is not None and out is None:
            print_json(domain)

        what = noise.columns[-1]
        pairs = sorted(zip(selected.table[what], keys, strict=True), reverse=True)
        above = (
            f"a key is selected if its noisy number of {what} exceeds {noise.distribution(selected.level).threshold}"
        )
        rows = {
            "promise": f"({selected.level}, delta = {noise.delta})",
            "selected": f"{len(pairs)} keys of {column}",
            "threshold": f"{above}, so that the noisy number of a rare key is too large",
            "later": FIXED,
        }
        if out is not None:
            rows["written"] = f"{out}, the domain; {_table_beside(out)}, the noisy counts; and their statement"
            rows["next"] = f"utmost count EVENTS --domain {out} --person ... --at-most ..."
        shown = ScreenGroup(
            ScreenText("Selected." if pairs else "No key was selected: none is frequent enough.", style="bold"),
            grid([column, f"noisy {what}"], [[key, number(noisy)] for noisy, key in pairs[:_SHOWN]]),
            ScreenText(f"and {len(pairs) - _SHOWN} more" if len(pairs) > _SHOWN else ""),
            ScreenText(f"{selected.statement['guarantee']}\n"),
            facts(rows),
        )
        screen(stderr=out is None).print(shown)


def _table_beside(domain: Path) -> Path:
    return domain.with_suffix(".csv")

"""`utmost count --unknown-keys`: naming the values of a column that nobody can list, at (epsilon, delta)."""

from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

from utmost.core.exact.levels import Level
from utmost.core.exact.progress_bar import progress_bar
from utmost.errors import OutOfRange
from utmost.interfaces.cli.options import people_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import option
from utmost.interfaces.cli.screens.screen import facts, grid, number, screen
from utmost.interfaces.cli.screens.terminal import ScreenGroup, ScreenText
from utmost.interfaces.documents.reports import print_json
from utmost.publish.counting.key_counts import count_keys
from utmost.publish.promises.key_distribution import naming_law, read_delta
from utmost.publish.promises.noise_of_keys import select_keys
from utmost.publish.promises.partition_selection import keys_of_one, promise_of_keys, shares_of_one
from utmost.publish.statements.counted_files import read_domain
from utmost.tables.axes.domain import Domain
from utmost.tables.cells.spelling import Spelling
from utmost.tables.files.atomic import check_absent, write_together
from utmost.tables.files.json_files import encoded, write_json
from utmost.tables.files.sidecars import sidecar_path

FIXED = (
    "The choice of keys cannot be relaxed: a second choice at a larger epsilon adds its epsilon. Counts over these "
    "keys can be relaxed without a loss."
)

_SHOWN = 30


@dataclass(frozen=True, slots=True)
class UnknownKeys:
    """The options for naming the keys of a column that nobody listed."""

    column: Annotated[
        str | None, option("COLUMN", "Column whose values nobody can list; frequent ones are named.", "--unknown-keys")
    ] = None
    delta: Annotated[str | None, option("NUMBER", "Chance of naming a key of one person alone: 1e-6.")] = None
    shares: Annotated[
        int | None,
        option("N", "Equal parts that a person divides among their keys: 60."),
    ] = None

    def check_unused(self, level: options.AskedLevel) -> None:
        """Refuse options for naming keys if no column of keys is given."""
        told = {"--epsilon": level.epsilon, "--delta": self.delta, "--shares": self.shares}
        for name, value in told.items():
            if value is not None:
                remedy = f"Leave out {name}: counting spends nothing."
                raise OutOfRange(f"{name} needs --unknown-keys", came=str(value), remedy=remedy)

    def name(
        self,
        events: Path,
        people: people_options.People,
        level: options.AskedLevel,
        out: Path | None,
        *,
        spelling: Spelling,
        as_json: bool,
        dry_run: bool,
    ) -> None:
        """Name keys, and write a domain with them; other axes come from a domain file."""
        column = str(self.column)
        if self.delta is None or people.at_most is None or people.person is None or not level.is_given:
            needed = {"--person": people.person, "--at-most": people.at_most}
            needed |= {"--epsilon": level.epsilon, "--delta": self.delta}
            missing = " and no ".join(name for name, value in needed.items() if value is None)
            example = {"--person": "user", "--at-most": "3", "--epsilon": "1", "--delta": "1e-6"}
            remedy = (
                f"Add {' '.join(f'{name} {example[name]}' for name, value in needed.items() if value is None)}, say."
            )
            raise OutOfRange(
                "--unknown-keys needs --person, --at-most, --epsilon and --delta", came=f"no {missing}", remedy=remedy
            )
        plain = people_options.People(people.person, domain=people.domain, at_most=people.at_most)
        plain = replace(plain, count_key=people.count_key)
        if people != plain:
            raise OutOfRange(
                "--unknown-keys takes --person, --at-most, --domain and --count-key alone of the counting options",
                came="another one",
                remedy="Leave the others out: give them when you count the named keys.",
            )
        at = level.read()
        axes = {} if people.domain is None else dict(read_domain(people.domain).facts())
        shares = None if self.shares is None else shares_of_one(self.shares, keys_of_one(people.at_most))
        # Before the draw, because a draw that cannot be written is spent for nothing.
        for path in () if out is None else (out, sidecar_path(out)):
            check_absent(path, draws=True)
        with progress_bar(f"Counting {events.name}") as progress:
            counts = count_keys(
                events,
                person=people.person,
                column=column,
                at_most=people.at_most,
                shares=shares,
                key=people.key,
                spelling=spelling,
                progress=progress,
            )
        if dry_run:
            return self._promise(at, people.at_most, shares, as_json=as_json)
        selection = select_keys(counts, epsilon=at, delta=self.delta, keys=people.at_most, shares=shares)
        del counts  # true numbers
        domain = None if not selection.keys else Domain.of_facts({**axes, column: list(selection.keys)})
        report = selection.said(None, column)
        if domain is None and out is not None:
            raise OutOfRange(
                "a domain needs at least one key",
                came="none: no noisy count was above the threshold",
                remedy=f"A key needs about {selection.threshold} {_of(shares)}. The level stays spent.",
            )
        if domain is not None and out is not None:
            declared = encoded(domain.facts())
            report = selection.said({"of": "file", "sha256": sha256(declared).hexdigest()}, column)
            statement = sidecar_path(out)
            write_together({out: lambda file: file.write(declared), statement: lambda file: write_json(report, file)})
        if as_json:
            return print_json(report | {"out": out and str(out)})
        if domain is not None and out is None:
            print_json(domain.facts())
        _show(report, out)

    def _promise(self, at: Level, keys: int, shares: int | None, *, as_json: bool) -> None:
        delta = read_delta(str(self.delta))
        law, promised = naming_law(at, delta, keys, shares), promise_of_keys(at, delta, keys, shares)
        report: dict[str, Any] = {"dry_run": True, "statement": promised, "relaxable": False}
        report |= {"threshold": law.threshold}
        if as_json:
            return print_json(report)
        headline = ScreenText("Nothing was drawn. This is what naming keys would promise.", style="bold")
        rows = {"threshold": f"{_of(shares)} and their noise together exceed {law.threshold}", "later": FIXED}
        screen().print(ScreenGroup(headline, ScreenText(f"{report['statement']}\n"), facts(rows)))


def _of(shares: int | None) -> str:
    return "persons" if shares is None else "shares"


def _show(report: dict[str, Any], out: Path | None) -> None:
    shares = report.get("shares_of_one_individual")
    rows = {
        "promise": f"(epsilon = {report['epsilon']}, delta = {report['delta']})",
        "named": f"{len(report['keys'])} keys of {report['column']}",
        "threshold": f"{_of(shares)} and their noise together exceed {report['threshold']}; so rare keys look more "
        "frequent",
        "later": FIXED,
    }
    if out is not None:
        rows["written"] = f"{out} and {sidecar_path(out)}"
        rows["count over it"] = f"utmost count EVENTS --domain {out} --person ... --at-most ..."
    pairs = sorted(zip(report["noisy"], report["keys"], strict=True), reverse=True)
    shown = [[key, number(noisy)] for noisy, key in pairs[:_SHOWN]]
    more = ScreenText(f"and {len(pairs) - _SHOWN} more" if len(pairs) > _SHOWN else "")
    headline = ScreenText("Named." if pairs else "No key was named: none is frequent enough.", style="bold")
    table = grid([report["column"], "noisy count" if shares is None else "noisy shares"], shown)
    words = ScreenText(f"{report['guarantee']}\n")
    screen(stderr=out is None).print(ScreenGroup(headline, table, more, words, facts(rows)))

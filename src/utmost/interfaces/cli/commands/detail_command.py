"""`utmost detail`: release large groups in more detail than small ones; noisy sums decide which groups are large."""

from typing import Annotated

from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.numbers import between_0_and_1
from utmost.core.exact.progress_bar import progress_bar
from utmost.core.exact.written_levels import level_text
from utmost.errors import OutOfRange
from utmost.interfaces.cli.options import file_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import option
from utmost.interfaces.cli.options.people_options import PersonOptions
from utmost.interfaces.cli.options.shared_options import named_values
from utmost.interfaces.cli.options.table_options import NumberSpelling
from utmost.interfaces.cli.release_ways import counted_table
from utmost.interfaces.cli.screens.published_screen import show_detailed
from utmost.interfaces.cli.screens.screen import DRY, facts, number, screen
from utmost.interfaces.cli.screens.terminal import ScreenGroup, ScreenText
from utmost.interfaces.cli.screens.workload_screens import check_document
from utmost.interfaces.documents.reports import print_json
from utmost.publish.counting.counted import CountedTable
from utmost.publish.releases.detailed_release import DetailRule, rehearse_detailed, release_detailed

FIRST = ("--person", "--each-row", "--at-most", "--domain", "--group", "--detail", "--epsilon")
AS_IN = {"utmost release": ("--domain", "--by", "--mean", "--leave-out")}
RARE = ("--per-cell", "--in-total", "--neighbours", "--yes")


def detail(
    table: file_options.TableOrFolder,
    *,
    group: Annotated[
        str,
        option(
            "LEVEL[=SHARE]",
            "Axis whose sums are released first, and their share of epsilon: county=1/4; default share 1/8.",
        ),
    ],
    breakdowns: Annotated[
        list[str],
        option(
            "NAMES=NUMBER",
            "Axes that break down a group whose noisy sum is at least NUMBER: 'age sex=500'.",
            "--detail",
        ),
    ],
    people: PersonOptions,
    level: options.LevelOptions,
    spelling: NumberSpelling,
    answer: options.Output,
    sign: options.Sign = None,
    confidence: options.Confidence = DEFAULT_CONFIDENCE,
    dry_run: options.DryRun = False,
    yes: options.Yes = False,
) -> None:
    """Release large groups in more detail than small ones, in two stages.

    utmost detail events.csv --person user --at-most 1 --domain domain.json --group county --detail 'age sex=500'
    --epsilon 1 --out released.json

    Noisy sums of the groups decide which groups are broken down.

    More: docs/reference/tables.md
    """
    at, (name, _, share) = level.read(), group.partition("=")
    if share:
        between_0_and_1(share, "the share in --group")
    rule = DetailRule(
        name, named_values(breakdowns, "a detail must be written as NAMES=NUMBER", "--detail", "--detail 'age sex=500'")
    )
    check_document(answer.file, sign, draws=True)
    if people.mean or people.people.leaves_amounts:
        came = "--mean" if people.mean else "--leave-out amounts"
        remedy = f"Leave out {came}; utmost release publishes the sums and means of a column."
        raise OutOfRange("utmost detail publishes only counts", came=came, remedy=remedy)
    counted = counted_table(spelling.of(table, is_counted=people.are_events), people, spelling.cells)
    if not isinstance(counted, CountedTable):
        remedy = "Add --person, --by, --at-most and --domain to count events here; or name the output of utmost count."
        raise OutOfRange("utmost detail needs events to count, or a counted table", came=table.name, remedy=remedy)
    if dry_run:
        first, margins = rehearse_detailed(counted, rule, at, share or "1/8", confidence)
        report = {"dry_run": True, "level": level_text(at), "share": str(first), "margins": margins}
        rows = {f"margin of {marginal}": f"± {number(margin)}" for marginal, margin in margins.items()}
        shown = ScreenGroup(
            ScreenText(DRY, style="bold"), facts({"level": f"{at}; the first stage gets {first} of it", **rows})
        )
        return print_json(report) if answer.as_json else screen().print(shown)
    with options.refusing_weak_levels(yes), progress_bar("Noising"):
        release = release_detailed(counted, name, rule.details, epsilon=at, first=share or "1/8", confidence=confidence)
    if answer.file is None and not answer.as_json:
        return print_json(release.facts())
    if answer.file is not None:
        release.save(answer.file, sign=sign)
    show_detailed(release, as_json=answer.as_json, written="" if answer.file is None else str(answer.file))

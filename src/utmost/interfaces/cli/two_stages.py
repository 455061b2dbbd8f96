"""`utmost release --group`: noisy sums of groups choose in how much detail each group is counted."""

from utmost.core.exact.progress_bar import progress_bar
from utmost.core.exact.written_levels import level_text
from utmost.interfaces.cli.options.release_options import Details, ReleaseOptions
from utmost.interfaces.cli.options.shared_options import named_values
from utmost.interfaces.cli.screens.published_screen import show_detailed
from utmost.interfaces.cli.screens.screen import DRY, facts, number, screen
from utmost.interfaces.cli.screens.terminal import Group, Text
from utmost.interfaces.cli.screens.workload_screens import check_document
from utmost.interfaces.documents.reports import print_json
from utmost.publish.counting.counted import CountedTable
from utmost.publish.releases.detailed_release import DetailRule, rehearse_detailed, release_detailed


def publish_detailed(counted: CountedTable, told: ReleaseOptions) -> None:
    """Release a counted table in two stages, into one .json file."""
    answer, details = told.answer, told.details
    group, share_of_groups = details.groups
    check_document(answer.file, answer.sign)
    if told.dry_run:
        rule, level = DetailRule(group, read_details(details)), told.level.read()
        share, margins = rehearse_detailed(counted, rule, level, share_of_groups, answer.confidence)
        report = {"dry_run": True, "level": level_text(level), "share": str(share), "margins": margins}
        rows = {f"margin of {name}": f"± {number(margin)}" for name, margin in margins.items()}
        shown = Group(Text(DRY, style="bold"), facts({"level": f"{level}, {share} of it first", **rows}))
        return print_json(report) if answer.as_json else screen().print(shown)
    with progress_bar("Noising"):
        release = release_detailed(
            counted,
            group,
            read_details(details),
            epsilon=told.level.read(),
            first=share_of_groups,
            confidence=answer.confidence,
        )
    if answer.file is not None:
        release.save(answer.file, sign=answer.sign)
    elif not answer.as_json:
        print_json(release.facts())
    show_detailed(release, as_json=answer.as_json, written="" if answer.file is None else str(answer.file))


def read_details(details: Details) -> dict[str, str]:
    """The breakdowns and their bounds, as people write them."""
    return named_values(details.detail, "a detail is written NAMES=NUMBER", "--detail", "--detail 'age sex=500'")

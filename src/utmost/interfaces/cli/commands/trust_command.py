"""`utmost trust`: give each member of a network a level, check what coalitions learn, and share a value."""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import exact_integer, spelled
from utmost.core.exact.written_levels import level_text
from utmost.errors import BadTable, NotALevel, NotANumber, OutOfRange
from utmost.interfaces.cli.options import file_options, table_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import option
from utmost.interfaces.cli.screens.screen import facts, grid, number, others, screen
from utmost.interfaces.documents.reports import print_json
from utmost.interfaces.documents.space_names import edges_file
from utmost.publish.releases.gradual_release import GradualRelease
from utmost.publish.releases.trust import check_coalitions, levels_by_distance
from utmost.tables.files.atomic import check_absent, write_together
from utmost.tables.files.json_files import write_json

_SHOWN, _LONGEST = 12, 1 << 16
# The check enumerates 4^k probabilities for k levels.
_MOST_LEVELS = 8


def show_trust(report: dict[str, Any], out: Path | None) -> None:
    coalitions = report["coalitions"]
    checked = coalitions["checked"]
    shown = {
        "owner": report["owner"],
        "recipients": f"{len(report['recipients']):,}; there is no path to {len(report['unreached']):,} other members",
        "loss to all recipients together": f"epsilon = {report['together']}, the level of the nearest recipient",
        "the same with independent noise": f"epsilon = {number(report['independent'], 6)}, the sum of all levels",
        "coalitions": f"{coalitions['count']:,}",
        "checked": f"yes: all {coalitions['distributions']} joint distributions were enumerated, "
        + ("in fractions" if coalitions["exact"] else f"to {coalitions['discrepancy']:.0e}")
        if checked
        else f"only by the theorem: more than {_MOST_LEVELS} levels are not enumerated",
        **({"views written": f"{out}, confidential: only its owner may read it"} if out is not None else {}),
    }
    console = screen()
    console.print(facts(shown))
    counted = Counter((recipient["distance"], recipient["epsilon"]) for recipient in report["recipients"])
    rows = [[str(distance), epsilon, f"{size:,}"] for (distance, epsilon), size in sorted(counted.items())]
    console.print(
        grid(["distance", "epsilon", "recipients"], rows[:_SHOWN], left=0),
        *others(len(rows) - _SHOWN, "more distances"),
    )


def trust(
    network: Annotated[
        file_options.File,
        file_options.file_argument("NETWORK", "File of edges, two names in each row (.csv)."),
    ],
    *,
    owner: Annotated[str, option("NAME", "Member of NETWORK whose value is shared.")],
    level: options.LevelOptions,
    at: Annotated[
        list[str] | None,
        option("DISTANCE=EPSILON", "Epsilon of members at DISTANCE or farther from the owner; repeatable."),
    ] = None,
    value: Annotated[
        file_options.File | None, file_options.file_option("FILE", "File with the integer to share.")
    ] = None,
    sensitivity: Annotated[str | None, option("NUMBER", "One person's largest change of the value.")] = None,
    spelling: table_options.DecimalSpelling,
    out: Annotated[Path | None, option("FILE", "File for all noisy copies (.json); keep it secret.")] = None,
    as_json: options.AsJson = False,
) -> None:
    """Plan the level of each member of a network, check every coalition, and share a value.

    utmost trust edges.csv --owner ann --epsilon 1

    A member at distance d gets epsilon / d.

    More: docs/howto/keep-a-ledger.md
    """
    if value is None and (sensitivity is not None or out is not None):
        raise OutOfRange(
            "--sensitivity and --out need --value",
            came="none",
            remedy="Add --value FILE, or leave out --sensitivity and --out.",
        )
    if value is not None and (sensitivity is None or out is None):
        remedy = "Add, for example, --sensitivity 1 --out views.json."
        raise OutOfRange("--value needs --sensitivity and --out", came="not both of them", remedy=remedy)
    file = file_options.file_of(out)
    if file is not None:
        check_absent(file)

    edges = edges_file(spelling.of(network))
    members = {str(end): end for edge in edges for end in edge}
    if owner not in members:
        remedy = "Write the name as in the file of edges."
        raise BadTable("--owner must name a member of the network", came=repr(owner), remedy=remedy)
    member = members[owner]  # as the file spells members: a number if all names are numbers
    of_distance = _levels(at, level)
    levels = levels_by_distance(edges, member, of_distance)
    # The default levels are 1 / distance, so their inverses are the distances.
    hops = levels_by_distance(edges, member)
    distances = {recipient: int(1 / Fraction(hop.epsilon)) for recipient, hop in hops.items()}

    coalitions: dict[str, Any] = {"count": 2 ** len(levels) - 1, "checked": len(set(levels.values())) <= _MOST_LEVELS}
    if coalitions["checked"]:
        check = check_coalitions(levels)
        coalitions |= {"distributions": check.distributions, "exact": check.exact, "discrepancy": check.discrepancy}
    report = {
        "owner": owner,
        "together": level_text(max(levels.values())),
        "independent": sum((each.epsilon_float for each in levels.values()), 0.0),
        "unreached": sorted(members.keys() - set(map(str, levels)) - {owner}),
        "coalitions": coalitions,
        "recipients": [
            {"name": str(recipient), "distance": distances[recipient], "epsilon": level_text(levels[recipient])}
            for recipient in sorted(levels, key=lambda who: (distances[who], str(who)))
        ],
    }

    if value is not None:
        if file is None or file.suffix.lower() != ".json":
            raise OutOfRange("--out must be a .json file", came=str(file or "none"), remedy="Write --out views.json.")
        with value.open("rb") as read:
            text = read.read(_LONGEST).decode("utf-8-sig", "replace").strip()
        try:
            integer = exact_integer(text)
        except NotANumber:
            required = "the file of --value must hold one integer"
            raise BadTable(
                required, came="something else", where=str(value), remedy="Write, for example, 42."
            ) from None
        shared = GradualRelease(integer, str(sensitivity))
        views = {str(recipient): int(shared.at(level)) for recipient, level in levels.items()}
        document = {"kind": "utmost trust views", "format": 1, "sensitivity": sensitivity, "views": views}
        write_together({file: lambda opened: write_json(document, opened)}, owner_only=True)
    if as_json:
        print_json(report)
    else:
        show_trust(report, file)


def _levels(at: list[str] | None, level: options.LevelOptions) -> Callable[[int], Level]:
    """Return the function from distance d to level: that of the largest listed distance <= d, or epsilon / d."""
    if not at:
        nearest = level.read()
        return lambda d: nearest.scaled(Fraction(1, d))
    if level.is_given:
        raise OutOfRange("only one of --at and --epsilon may be given", came="both", remedy="Leave out --epsilon.")
    listed: dict[int, Level] = {}
    for text in at:
        distance, _, epsilon = text.partition("=")
        far = spelled(distance)
        if not epsilon or far is None or far < 1 or far % 1 or int(far) in listed:
            remedy = "Give each distance once, for example --at 1=1 --at 2=1/4."
            raise OutOfRange("--at must be DISTANCE=EPSILON", came=repr(text), remedy=remedy)
        try:
            listed[int(far)] = options.written_level(epsilon)
        except (NotALevel, NotANumber):
            required, remedy = (
                "--at must give an epsilon above 0 for a distance",
                "Write, for example, --at 1=1 --at 2=1/4.",
            )
            raise OutOfRange(required, came=repr(text), remedy=remedy) from None
    if 1 not in listed:
        remedy = "Add, for example, --at 1=1."
        raise OutOfRange("--at must name the level at distance 1", came=", ".join(at), remedy=remedy)
    return lambda d: listed[max(below for below in listed if below <= d)]

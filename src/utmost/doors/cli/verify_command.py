"""`utmost verify`: whether a published table is what its statement says, and who signed it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from rich.console import Group
from rich.padding import Padding
from rich.text import Text

from utmost.doors.cli import file_options, options, table_options
from utmost.doors.cli.option_kinds import option
from utmost.doors.cli.screen import facts, few, screen
from utmost.errors import BadTable, OutOfRange
from utmost.publish.promises.older_words import margin_word
from utmost.publish.promises.statement_kinds import CLEAN_KIND, DETAILED_KIND, WITHHELD_KIND
from utmost.publish.releases import WorkloadRelease
from utmost.publish.releases.release_facts import Facts
from utmost.publish.statements import statement_files
from utmost.publish.statements.clean_check import check_clean
from utmost.publish.statements.codec import read_json
from utmost.publish.statements.detailed_check import check_detailed
from utmost.publish.statements.published_files import read_release
from utmost.publish.statements.released_table import ReleasedTable
from utmost.publish.statements.statement_readers import READERS, stated_release
from utmost.publish.statements.withheld_check import check_withheld
from utmost.publish.statements.workload_files import ON_TRUST_OF_SUMS, check_workload, is_workload, kind_of_document
from utmost.publish.tables import files

Release = Annotated[file_options.File, file_options.file_argument("RELEASE", "A released table; - for the pipe.")]
PublicKey = Annotated[
    Path | None,
    option("FILE", "The curator's Ed25519 public key: check the signature, too.", exists=True, dir_okay=False),
]


Of = Annotated[
    Path | None,
    option(
        "FILE",
        "Of a clean table, or one with withheld cells: the whole release that it is made of.",
        "--release",
        exists=True,
        dir_okay=False,
    ),
]


def verify(
    release: Release,
    *,
    statement: file_options.StatementFile = None,
    public_key: PublicKey = None,
    of: Of = None,
    spelling: table_options.Spelling,
    answer: options.Answer,
) -> None:
    """Check a published table: the statement's figures, that the table is unchanged, and who signed it.

    The level, the noise, the error bar and the sentences of the statement are computed again and compared. What no
    check can show, such as how many cells one individual changes, is listed as taken on trust. A release by a plan is
    one file, which holds its statement. A clean table is made again from its release and compared. Of a table with
    withheld cells no shown one may break the rule; beside the release just the right ones must be missing.
    """
    if kind_of_document(release) == DETAILED_KIND:
        report = _detailed_report(release, public_key)
        return answer.give(report, lambda: _show(report))
    if is_workload(release):
        if of is not None:
            raise OutOfRange("a clean table is compared with its release", came="a release", where=str(release))
        report = _workload_report(release, statement, public_key)
        return answer.give(report, lambda: _show_workload(report))
    if statement is None and isinstance(release, file_options.StandardInput):
        raise OutOfRange("a table from the pipe needs its statement", came="none", where="--statement")
    path = statement or statement_files.statement_beside(release)
    stated = statement_files.read(path)
    kind = stated["kind"]
    if kind == WITHHELD_KIND:
        statement_files.check_unchanged(release, stated)
        report = _withheld_report(release, spelling.of(release), path, stated, of, public_key)
        return answer.give(report, lambda: _show(report))
    if (kind == CLEAN_KIND) != (of is not None):
        raise OutOfRange("a clean table is compared with its release", came=str(of or "none"), where="--release")
    if of is not None:
        statement_files.check_unchanged(release, stated)
        document = read_json(of, "a release must")
        clean = check_clean(stated, files.read(spelling.of(release)), document)
        compared = _clean_report(release, path, of, public_key) | {
            "guarantee": document["guarantee"] if clean.guarantee is None else clean.guarantee,
            "on_trust": [*ON_TRUST_OF_SUMS, *(["that the public facts are true"] if clean.given is not None else [])],
        }
        return answer.give(compared, lambda: _show(compared))
    report = _other_report(release, spelling.of(release), stated, path, public_key)
    return answer.give(report, lambda: _show(report))


def _other_report(
    release: Path, spelled: Path, statement: dict[str, Any], path: Path, public_key: Path | None
) -> dict[str, Any]:
    """What was found of all but clean tables and those with withheld cells."""
    if statement.get("table") is None:
        raise BadTable("a statement must hold a digest of its table", came="none: format 1 had none", where=str(path))
    stated = stated_release(statement)
    statement_files.check_unchanged(release, statement)
    READERS[statement["kind"]].check(statement, release, spelled)
    return _report(release, statement, stated, path, public_key)


def _detailed_report(release: Path, public_key: Path | None) -> dict[str, Any]:
    """What was found of a release in two stages."""
    document = read_json(release, "a release must")
    detailed = check_detailed(document)
    rule = detailed.rule.facts()
    return {
        "release": str(release),
        "statement": "consistent",
        "format": document["format"],
        "signature": _signature(release, public_key),
        "guarantee": document["guarantee"],
        "law": f"that of two releases by a plan, {detailed.first.level} and then what is left, each checked",
        "rule": f"each {rule['group']} has the detail that its released sum chooses: {rule['details']}",
        "on_trust": list(ON_TRUST_OF_SUMS),
    }


def _clean_report(table: Path, statement: Path, release: Path, public_key: Path | None) -> dict[str, Any]:
    """What was found of a clean table, and of the release that it is made of."""
    return {
        "release": str(table),
        "statement": "consistent",
        "table": "computed again",
        "made_of": str(release),
        "signature": _signature(statement, public_key),
        "law": "none of its own: a function of the release, which was checked",
    }


def _withheld_report(
    table: Path, spelled: Path, path: Path, statement: dict[str, Any], of: Path | None, public_key: Path | None
) -> dict[str, Any]:
    """What was found of a table with withheld cells, beside the whole release where it is at hand."""
    whole = None if of is None else read_release(of)
    if whole is not None and not isinstance(whole, ReleasedTable | WorkloadRelease):
        raise OutOfRange("withheld cells are compared with a release", came=type(whole).__name__, where="--release")
    described = check_withheld(statement, files.read(spelled), whole)
    stated = stated_release(statement)
    verdict = f"no shown cell breaks it; {described.shown} of {described.cells} are shown"
    return {
        **_report(table, statement, stated, path, public_key),
        "rule": verdict if of is None else f"{verdict}, and just the right ones are missing of {of}",
        "on_trust": [line for line in stated.on_trust if of is None or line != stated.on_trust[-1]],
    }


def _report(
    release: Path, statement: Mapping[str, Any], stated: Facts, path: Path, public_key: Path | None
) -> dict[str, Any]:
    """What was found, once all of it was."""
    return {
        "release": str(release),
        "statement": "consistent",
        "format": statement["format"],
        "table": "unchanged",
        "sha256": statement["table"]["sha256"],
        "signature": _signature(path, public_key),
        "guarantee": stated.guarantee,
        "law": stated.drawn,
        "on_trust": list(stated.on_trust),
    }


def _show(report: dict[str, Any]) -> None:
    """Print what was computed again and compared, and what could not be."""
    rows = {
        "statement": "every number and sentence follows from level, unit, cost and domain",
        "table": "unchanged: its SHA-256, columns, rows and margins are those stated",
        "signature": report["signature"],
        "noise": report["law"],
        **({"rule": report["rule"]} if "rule" in report else {}),
        "on trust": "; ".join(report["on_trust"]),
    }
    headline = Text(f"{report['release']} is what its statement says.", style="bold")
    screen().print(Group(headline, Padding(Text(report["guarantee"]), (0, 0, 1, 0)), facts(rows)))


def _workload_report(release: Path, statement: Path | None, public_key: Path | None) -> dict[str, Any]:
    """What was found of a release by a plan."""
    if statement is not None:
        remedy = "Leave it out: the release holds its statement."
        raise OutOfRange("a release by a plan is one file", came=str(statement), where="--statement", remedy=remedy)
    document = read_json(release, "a release must")
    release_read, word = check_workload(document), margin_word(document)
    return {
        "release": str(release),
        "statement": "consistent",
        "format": document["format"],
        "sums": "unchanged",
        "sha256": document["measured"]["sha256"],
        "signature": _signature(release, public_key),
        "guarantee": document["guarantee"],
        "epsilon": document["epsilon"],
        "families": [
            {"family": release_read.strategy.family_words(family), "share": stated["share"], "margin": stated[word]}
            for family, stated in zip(release_read.strategy.shares, document["families"], strict=True)
        ],
        "part": None if release_read.part is None else list(release_read.part),
        "on_trust": list(ON_TRUST_OF_SUMS),
    }


def _show_workload(report: dict[str, Any]) -> None:
    """Print what was computed again of a release by a plan, and what could not be."""
    shares = [f"{family['family'] or 'total'} {family['share']}" for family in report["families"]]
    rows = {
        "statement": "every number and sentence follows from level, unit, domain, shares and sums",
        "sums": "as stated: their SHA-256, and the weights with which tables are made of them",
        "signature": report["signature"],
        "measured": few(shares),
        "on trust": "; ".join(report["on_trust"]),
    }
    headline = Text(f"{report['release']} is what its statement says.", style="bold")
    screen().print(Group(headline, Padding(Text(report["guarantee"]), (0, 0, 1, 0)), facts(rows)))


def _signature(statement: Path, public_key: Path | None) -> str:
    """Whether the statement was signed by the owner of the key; without a key, only whether there is a signature."""
    signature = statement_files.signature_path(statement)
    if public_key is None:
        return "not checked, for want of a public key" if signature.exists() else "none"
    if not signature.exists():
        raise BadTable("the statement must be signed", came="no signature", where=str(signature))
    from utmost.publish.statements.statement_files import check_signature

    check_signature(signature.read_bytes(), statement.read_bytes(), public_key, str(signature))
    return "valid"

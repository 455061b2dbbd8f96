"""`utmost research capacity`: find the capacities of a privacy type, with proofs and mechanisms that attain them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from utmost.core.exact.progress_bar import progress_bar
from utmost.core.exact.written_levels import level_facts
from utmost.design.capacities.capacity import capacity as capacity_of
from utmost.design.capacities.capacity_evidence import TypeCapacity
from utmost.errors import OutOfRange
from utmost.interfaces.cli.options import file_options, research_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import flag, option
from utmost.interfaces.cli.screens.screen import facts, number, screen, with_exact
from utmost.interfaces.cli.screens.terminal import ScreenText
from utmost.interfaces.documents import capacities
from utmost.interfaces.documents.channel_files import document as channel_document
from utmost.interfaces.documents.measure_names import prior_of
from utmost.interfaces.documents.reports import exact_text
from utmost.interfaces.documents.space_names import distances_words

_MEANINGS = {
    "multiplicative": "no mechanism multiplies an attacker's gain by more than this",
    "additive": "no mechanism adds more than this to a vulnerability between 0 and 1",
}
_LONGEST = 40

INSTEAD = "For one channel use utmost research leakage CHANNEL.csv. For all mechanisms add --space and --epsilon."


def show_capacities(report: dict[str, Any], out: Path | None) -> None:
    console = screen()
    console.print(
        facts(
            {
                "secrets": f"{report['space']}, {report['secrets']:,} of them",
                "level": f"epsilon = {report['epsilon']}",
                **({"distances": report["distances"]} if "distances" in report else {}),
                **({"written": str(out)} if out is not None else {}),
            }
        )
    )
    for capacity in report["capacities"]:
        console.print(ScreenText(f"\nThe {capacity['capacity']} capacity", style="bold"))
        shown = {"capacity": _value(capacity), "meaning": _MEANINGS[capacity["capacity"]]}
        if capacity["lower"] != capacity["value"]:
            shown["a mechanism leaks at least"] = number(capacity["lower"], 16)
        if "method" in capacity:
            shown["found by"] = capacity["method"]
        shown |= {
            "theorem": capacity["theorem"] or "none: a mechanism and a dual prove the capacity",
            "outcomes": f"{capacity['outcomes']:,}",
            "checked": "yes, by the mechanism and the dual, without a solver" if capacity["verified"] else "NO",
        }
        console.print(facts(shown))


def _value(capacity: dict[str, Any]) -> str:
    return with_exact(capacity["value"], capacity["value_exact"], 16, _LONGEST)


def capacity(
    *,
    asked: research_options.PrivacyTypeOptions,
    multiplicative: Annotated[bool, flag("Find only the largest factor (multiplicative capacity).")] = False,
    additive: Annotated[bool, flag("Find only the largest difference (additive capacity).")] = False,
    measure: research_options.MeasureOptions,
    prior: options.PriorName = "uniform",
    out: Annotated[Path | None, option("FILE", "File for mechanisms and proofs (.json).")] = None,
    check: file_options.Check = None,
    as_json: options.AsJson = False,
) -> None:
    """Find the most that any mechanism of a privacy type leaks, with proof.

    utmost research capacity --space grid:4x4 --epsilon 1/2

    More: docs/howto/compare-two-mechanisms.md
    """
    answer = options.Output(out, as_json)
    if check is not None:
        given = {"--space": asked.space is not None, "--epsilon": asked.level.is_given, "--prior": prior != "uniform"}
        given |= {"--multiplicative": multiplicative, "--additive": additive, "--measure": measure.measure is not None}
        given |= {"--gain": measure.gain is not None, "--loss": measure.loss is not None}
        research_options.check_unused(given, "with --check, because the file contains the space and the level")
    if measure.is_given or prior != "uniform":
        if multiplicative:
            remedy = "Leave out --multiplicative."
            raise OutOfRange(
                "--measure, --gain, --loss and --prior find only the additive capacity",
                came="--multiplicative",
                remedy=remedy,
            )
        spelled, ptype = asked.read()
        by, belief = measure.read(), prior_of(prior, ptype.space.size, ptype.space.names)
        with progress_bar(f"Listing the vertices of {spelled}"):
            found = capacity_of(ptype, by, "additive", belief)
            verified = bool(found.certificate.verify())
        report = {
            "space": spelled,
            "secrets": ptype.space.size,
            **level_facts(ptype.level),
            "measure": by.name,
            "prior": prior,
            "before": float(by.prior(belief)),
            "capacity": "additive",
            "value": float(found.value),
            "value_exact": exact_text(found.value),
            "outcomes": found.mechanism.shape[1],
            "verified": verified,
        }
        if answer.give(report, channel_document(found.mechanism)):
            shown = {
                "secrets": f"{spelled}, {ptype.space.size:,} of them",
                "level": f"epsilon = {report['epsilon']}",
                "measure": by.name + (f": {by.meaning}" if by.meaning else ""),
                "prior": f"{prior}; the measure of the prior is {number(report['before'], 12)}",
                "capacity": _value(report),
                "meaning": "no mechanism of the type changes the measure by more, in the mean over outcomes",
                "outcomes": f"{report['outcomes']:,}",
                "checked": "yes, the mechanism and a bound for every vertex" if verified else "NO",
                **({"mechanism written": str(answer.file)} if answer.file is not None else {}),
            }
            screen().print(facts(shown))
        return

    per_type: Sequence[TypeCapacity]
    if check is not None:
        spelled, per_type = check.name, capacities.read(check)
    else:
        spelled, ptype = asked.read()
        both = multiplicative == additive
        per_type = [capacity_of(ptype, kind="multiplicative")] if multiplicative or both else []
        per_type += [capacity_of(ptype, kind="additive")] if additive or both else []

    ptype = per_type[0].certificate.ptype
    distances = distances_words(ptype.space)
    report = {
        "space": spelled,
        "secrets": ptype.space.size,
        **level_facts(ptype.level),
        **({} if distances is None else {"distances": distances}),
        "capacities": [
            {
                "capacity": each.certificate.kind,
                "value": float(each.value),
                "value_exact": exact_text(each.value) if each.is_exact else None,
                "lower": float(each.lower),
                # A file does not prove by which method a capacity was found.
                **({"method": each.method} if check is None else {}),
                "theorem": each.theorem,
                "outcomes": each.mechanism.shape[1],
                "verified": True,  # the bounds come from the check of the certificate
            }
            for each in per_type
        ],
    }
    document = None if check is not None else capacities.document(per_type)
    if answer.give(report, document):
        show_capacities(report, answer.file)
    if document is not None and answer.file is not None:
        capacities.read(answer.file)

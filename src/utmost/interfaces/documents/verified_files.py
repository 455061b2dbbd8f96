"""Verification of published files of every kind, for `utmost verify` and the web page."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from utmost.errors import BadTable, OutOfRange
from utmost.interfaces.documents.published_files import read_release
from utmost.interfaces.documents.statement_readers import READERS, stated_release
from utmost.publish.promises.promise import Promise
from utmost.publish.promises.statement import read_statement
from utmost.publish.promises.statement_kinds import (
    CLEAN_KIND,
    DETAILED_KIND,
    NOISY_TABLE_KIND,
    STATEMENT_KIND,
    WITHHELD_KIND,
)
from utmost.publish.promises.table_statements import cells_digest, promise_line
from utmost.publish.releases.answer import Answer
from utmost.publish.releases.detailed_release import DetailedSums, whole_release
from utmost.publish.releases.noisy_sums import NoisySums
from utmost.publish.releases.noisy_table import NOISY_TABLE_FORM, NoiseDeclaration, NoisyTable, check_noisy_table
from utmost.publish.releases.release_facts import UNSIGNED, UNSIGNED_TRUST, ReleaseFacts
from utmost.publish.statements.clean_check import check_clean
from utmost.publish.statements.stated_words import sums_in_words
from utmost.publish.statements.withheld_check import check_withheld
from utmost.publish.statements.workload_files import trust_of_sums, whole_document
from utmost.tables.files import files, sidecars, signatures
from utmost.tables.files.json_files import read_json


def verified(
    release: Path,
    statement: Path | None = None,
    *,
    of: Path | None = None,
    public_key: Path | None = None,
    spelled: Path | None = None,
) -> dict[str, Any]:
    """Verify a published file: make every figure and sentence again, compare, and report."""
    # `of` is the whole release of a clean or withheld table, `spelled` is `release` with its text options.
    document = whole_document(release)
    if document is not None:
        if of is not None:
            remedy = "Leave out --release: it is for clean and withheld tables."
            raise OutOfRange(
                "a release must be verified by itself", came="--release", where=str(release), remedy=remedy
            )
        if statement is not None:
            remedy = "Leave out --statement."
            raise OutOfRange("a release by a plan holds its own statement", came=str(statement), remedy=remedy)
        return _WHOLE[document["kind"]](release, document, public_key)
    path = statement or sidecars.statement_beside(release)
    facts, spelled = read_statement(path), spelled or release
    if facts["kind"] == NOISY_TABLE_KIND:
        if of is not None:
            remedy = "Leave out --release: it is for clean and withheld tables."
            raise OutOfRange("a noisy table must be verified by itself", came="--release", remedy=remedy)
        _check_unchanged(release, spelled, facts)
        return _noisy_report(
            check_noisy_table(facts, files.read(spelled)).declaration, release, facts, path, public_key
        )
    if facts["kind"] == WITHHELD_KIND:
        _check_unchanged(release, spelled, facts)
        return _of_withheld(release, spelled, path, facts, of, public_key)
    if (facts["kind"] == CLEAN_KIND) != (of is not None):
        clean = facts["kind"] == CLEAN_KIND
        required = (
            "a clean table needs --release, from which it was made"
            if clean
            else "only a clean or withheld table takes --release"
        )
        remedy = "Add --release release.json." if clean else "Leave out --release."
        raise OutOfRange(required, came=str(of or "none"), remedy=remedy)
    if of is not None:
        _check_unchanged(release, spelled, facts)
        return _of_clean(release, spelled, path, facts, of, public_key)
    if facts.get("table") is None:
        raise BadTable(
            "a statement must hold a digest of its table",
            came="none",
            where=str(path),
            remedy="Get table and statement again from where they were published.",
        )
    stated = stated_release(facts)
    _check_unchanged(release, spelled, facts)
    READERS[facts["kind"]].check(facts, spelled)
    return _of_table(release, facts, stated, path, public_key)


def verified_in_words(report: Mapping[str, Any]) -> dict[str, str]:
    """Return in words the parts that were compared, and the parts that could not be."""
    of_sums = "sums" in report
    follows = "level, unit, domain, shares and sums" if of_sums else "level, unit, cost and domain"
    return {
        **({"released": report["released"]} if "released" in report else {}),
        **report.get("texts", {}),
        "statement": f"every number and sentence follows from {report.get('follows', follows)}",
        **(
            {"sums": "as stated: their SHA-256, and the weights by which tables are computed from them"}
            if of_sums
            else {}
        ),
        **({"table": "matches its statement: SHA-256, columns, rows and margins"} if "table" in report else {}),
        "signature": UNSIGNED if report["signature"] == "none" else report["signature"],
        **({} if of_sums else {"noise": report["law"]}),
        **({"rule": report["rule"]} if "rule" in report else {}),
        "on trust": "; ".join([*report["on_trust"], *([UNSIGNED_TRUST] if report["signature"] == "none" else [])]),
    }


def _check_unchanged(release: Path, spelled: Path, facts: dict[str, Any]) -> None:
    """Check the digest of a table: of its file, or of its cells if the table was in memory."""
    digest = facts.get("table")
    if not isinstance(digest, dict) or digest.get("of") != "cells":
        sidecars.check_unchanged(release, facts)
    elif cells_digest(files.columns(files.read(spelled))) != digest:
        came = "another SHA-256 of its cells than the statement's"
        raise BadTable(
            "the table was changed after it was released, or belongs to another statement",
            came=came,
            where=str(release),
        )


def _report(
    release: Path,
    compared: Mapping[str, Any],
    signature: str,
    promised: tuple[str, str, str],
    on_trust: Sequence[str],
    promise: Promise | None,
) -> dict[str, Any]:
    """Return the findings on a publication: compared parts, promise, and facts that no check can show."""
    # `promised` has the promise in one line, the guarantee, and the distribution.
    consistent = {"release": str(release), "statement": "consistent", **compared, "signature": signature}
    texts = {} if promise is None else promise.texts
    words = dict(zip(("promise", "guarantee", "law"), promised, strict=True))
    return {**consistent, **words, **({"texts": texts} if texts else {}), "on_trust": [*on_trust]}


def _of_table(
    release: Path, facts: Mapping[str, Any], stated: ReleaseFacts, path: Path, public_key: Path | None
) -> dict[str, Any]:
    table = {"table": "unchanged", "sha256": facts["table"]["sha256"]}
    compared = {"format": facts["format"], "released": stated.released, **table}
    promised = stated.line, stated.guarantee, stated.drawn
    return _report(release, compared, _signature(path, public_key), promised, stated.on_trust, stated.promise)


def _noisy_report(
    declared: NoiseDeclaration, release: Path, facts: Mapping[str, Any], path: Path, public_key: Path | None
) -> dict[str, Any]:
    law = "; ".join(f"{name}: {noise.words}" for name, noise in declared.noise.items())
    promised = "no promise by utmost", declared.guarantee, f"{law}, as declared by {declared.source}"
    compared = {
        "format": facts["format"],
        "released": ", ".join(declared.noise),
        "follows": "the declared noise; nothing about privacy was checked",
        "table": "unchanged",
        "sha256": facts["table"]["sha256"],
    }
    return _report(release, compared, _signature(path, public_key), promised, declared.on_trust, None)


def _of_withheld(
    table: Path, spelled: Path, path: Path, facts: dict[str, Any], of: Path | None, public_key: Path | None
) -> dict[str, Any]:
    """Return the findings on a table with withheld cells; `of` is its whole release, if available."""
    whole = None if of is None else read_release(of)
    if whole is not None and not isinstance(whole, Answer | NoisyTable):
        raise OutOfRange(
            "--release must name a released table or a release by a plan",
            came=type(whole).__name__,
            remedy="Name the release from which cells were withheld.",
        )
    described = check_withheld(facts, files.read(spelled), whole)
    verdict = f"no shown cell breaks it; {described.shown} of {described.cells} are shown"
    if described.release["kind"] == NOISY_TABLE_KIND:
        declared = NOISY_TABLE_FORM.checked(described.release)
        rule = verdict if of is None else f"{verdict}, and just the right ones are missing of {of}"
        return {**_noisy_report(declared, table, facts, path, public_key), "rule": rule}
    stated = stated_release(facts)
    return {
        **_of_table(table, facts, stated, path, public_key),
        "rule": verdict if of is None else f"{verdict}, and just the right ones are missing of {of}",
        "on_trust": [line for line in stated.on_trust if of is None or line != stated.on_trust[-1]],
    }


def _of_clean(
    table: Path, spelled: Path, path: Path, facts: dict[str, Any], of: Path, public_key: Path | None
) -> dict[str, Any]:
    """Return the findings on a clean table; its certificate proves its distance from its release."""
    if of.suffix.lower() != ".json":
        noisy = read_release(of)
        if not isinstance(noisy, NoisyTable):
            remedy = "Name the .json file of the release by a plan."
            raise OutOfRange("--release must name what the table was made of", came=str(of), remedy=remedy)
        check_clean(facts, files.read(spelled), noisy)
        report = _noisy_report(noisy.declaration, table, facts, path, public_key)
        return report | {"table": "as near to the release as it says: its certificate proves it", "made_of": str(of)}
    document = read_json(of, "a release must")
    clean = check_clean(facts, files.read(spelled), document)
    # Among equally near tables the choice could reveal data, and no certificate shows how it was made.
    alone = "the choice between equally near tables was made by the release and the public facts alone"
    given = [alone, *([] if clean.given is None else ["the public facts are true"])]
    guarantee = document["guarantee"] if clean.guarantee is None else clean.guarantee
    whole = whole_release(document)
    first, law = whole.first if isinstance(whole, DetailedSums) else whole, "none of its own: it is made of the release"
    line = promise_line(whole.level, first.unit.neighbours)
    compared = {"table": "as near to the release as it says: its certificate proves it", "made_of": str(of)}
    promised = line, guarantee, law
    return _report(
        table, compared, _signature(path, public_key), promised, [*trust_of_sums(first.promise), *given], first.promise
    )


def _of_detailed(release: Path, document: Mapping[str, Any], public_key: Path | None) -> dict[str, Any]:
    detailed = DetailedSums.of_facts(document)
    rule, line = detailed.rule.facts(), promise_line(detailed.level, detailed.first.unit.neighbours)
    law = f"that of two releases by a plan, {detailed.first.level} and then what is left, each checked"
    promised, signature = (line, document["guarantee"], law), _signature(release, public_key)
    return _report(
        release,
        {"format": document["format"]},
        signature,
        promised,
        trust_of_sums(detailed.first.promise),
        detailed.first.promise,
    ) | {"rule": f"each {rule['group']} has the detail that its released sum chooses: {rule['details']}"}


def _of_sums(release: Path, document: Mapping[str, Any], public_key: Path | None) -> dict[str, Any]:
    whole, noise = NoisySums.of_facts(document), document["noise"]
    facts, digest = sums_in_words(document, whole), document["table"]["sha256"]
    compared = {"format": document["format"], "released": facts.released, "sums": "unchanged", "sha256": digest}
    promised = facts.line, document["guarantee"], noise["drawn"]
    return _report(
        release, compared, _signature(release, public_key), promised, trust_of_sums(whole.promise), whole.promise
    ) | {
        "epsilon": document["epsilon"],
        "families": [
            {"family": whole.plan.family_words(family), "share": stated["share"], "noise_margin": stated["margin"]}
            for family, stated in zip(whole.plan.shares, noise["families"], strict=True)
        ],
        "part": None if whole.promise.part is None else list(whole.promise.part),
    }


_WHOLE = {DETAILED_KIND: _of_detailed, STATEMENT_KIND: _of_sums}
"""Kinds whose single file holds its own statement."""


def _signature(statement: Path, public_key: Path | None) -> str:
    """Return the result of checking the signature; without a key, whether there is a signature."""
    signature = signatures.signature_path(statement)
    if public_key is None:
        return "not checked, for want of a public key" if signature.exists() else "none"
    if not signature.exists():
        raise BadTable(
            "the statement must be signed",
            came="no signature",
            where=str(signature),
            remedy="Put the signature beside it, or leave out public_key=.",
        )
    signatures.check_signature(signature.read_bytes(), statement.read_bytes(), public_key, str(signature))
    return "valid"

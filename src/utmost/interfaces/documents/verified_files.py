"""Verify published files of every kind, for `utmost verify` and the web page."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from utmost.errors import BadTable, OutOfRange
from utmost.interfaces.documents.published_files import read_release
from utmost.interfaces.documents.statement_readers import STATEMENT_READERS, stated_release
from utmost.publish.promises.promise import Promise
from utmost.publish.promises.statement import read_statement
from utmost.publish.promises.statement_kinds import (
    ANSWERS_KIND,
    CLEAN_KIND,
    DETAILED_KIND,
    NOISY_TABLE_KIND,
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
    whole: Path | None = None,
    public_key: Path | None = None,
    text_file: Path | None = None,
) -> dict[str, Any]:
    """Verify a published file: compute every figure and sentence again, compare them with the file, and report."""
    # `whole` is the release of a clean or withheld table, or the mechanism of answers.
    # `text_file` is `release` with separator and encoding.
    document = whole_document(release)
    if document is not None:
        if whole is not None:
            remedy = "Leave out --release, which is only for clean tables, withheld tables and answers."
            raise OutOfRange(
                "a release by a plan or in two stages must be verified without --release",
                came="--release",
                where=str(release),
                remedy=remedy,
            )
        if statement is not None:
            remedy = "Leave out --statement."
            raise OutOfRange("a release by a plan contains its own statement", came=str(statement), remedy=remedy)
        report = _detailed_report if document["kind"] == DETAILED_KIND else _sums_report
        return report(release, document, public_key)
    path = statement or sidecars.statement_beside(release)
    facts, text_file = read_statement(path), text_file or release
    kind = facts["kind"]
    if whole is not None and kind not in (CLEAN_KIND, WITHHELD_KIND, ANSWERS_KIND):
        required = "only a clean or withheld table, or a table of answers, takes --release"
        raise OutOfRange(required, came=str(whole), remedy="Leave out --release.")
    if kind == NOISY_TABLE_KIND:
        _check_unchanged(release, text_file, facts)
        noisy = check_noisy_table(facts, files.read(text_file))
        return _noisy_report(noisy.declaration, release, facts, path, public_key)
    if kind == WITHHELD_KIND:
        _check_unchanged(release, text_file, facts)
        return _withheld_report(release, text_file, path, facts, whole, public_key)
    if kind == CLEAN_KIND:
        if whole is None:
            required = "a clean table needs --release, from which it was made"
            raise OutOfRange(required, came="none", remedy="Name the whole release: --release release.json.")
        _check_unchanged(release, text_file, facts)
        return _clean_report(release, text_file, path, facts, whole, public_key)
    if facts.get("table") is None:
        raise BadTable(
            "a statement must contain a digest of its table",
            came="none",
            where=str(path),
            remedy="Get table and statement again from where they were published.",
        )
    stated = stated_release(facts)
    _check_unchanged(release, text_file, facts)
    STATEMENT_READERS[kind].check(facts, text_file)
    if whole is not None:
        return _answers_report(release, text_file, path, facts, whole, stated, public_key)
    return _table_report(release, facts, stated, path, public_key)


def verified_in_words(report: Mapping[str, Any]) -> dict[str, str]:
    """Return in words which parts were compared, and what must be trusted without a check."""
    of_sums = "sums" in report
    follows = "level, unit, domain, shares and sums" if of_sums else "level, unit, cost and domain"
    return {
        **({"released": report["released"]} if "released" in report else {}),
        **report.get("texts", {}),
        "statement": f"every number and sentence follows from {report.get('follows', follows)}",
        **(
            {"sums": "match the statement: their SHA-256, and the weights by which tables are computed from them"}
            if of_sums
            else {}
        ),
        **({"table": "matches its statement: SHA-256, columns, rows and margins"} if "table" in report else {}),
        "signature": UNSIGNED if report["signature"] == "none" else report["signature"],
        **({} if of_sums else {"noise": report["distribution"]}),
        **({"rule": report["rule"]} if "rule" in report else {}),
        "on trust": "; ".join([*report["on_trust"], *([UNSIGNED_TRUST] if report["signature"] == "none" else [])]),
    }


def _check_unchanged(release: Path, text_file: Path, facts: dict[str, Any]) -> None:
    """Check the digest of a table's file, or, if the table was in memory, the digest of its cells."""
    digest = facts.get("table")
    if not isinstance(digest, dict) or digest.get("of") != "cells":
        sidecars.check_unchanged(release, facts)
    elif cells_digest(files.columns(files.read(text_file))) != digest:
        came = "cells with another SHA-256 than that of the statement"
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
    words = dict(zip(("promise", "guarantee", "distribution"), promised, strict=True))
    return {**consistent, **words, **({"texts": texts} if texts else {}), "on_trust": [*on_trust]}


def _table_report(
    release: Path, facts: Mapping[str, Any], stated: ReleaseFacts, path: Path, public_key: Path | None
) -> dict[str, Any]:
    table = {"table": "unchanged", "sha256": facts["table"]["sha256"]}
    compared = {"format": facts["format"], "released": stated.released, **table}
    promised = stated.line, stated.guarantee, stated.drawn
    return _report(release, compared, _signature(path, public_key), promised, stated.on_trust, stated.promise)


def _noisy_report(
    declared: NoiseDeclaration, release: Path, facts: Mapping[str, Any], path: Path, public_key: Path | None
) -> dict[str, Any]:
    distribution = "; ".join(f"{name}: {noise.words}" for name, noise in declared.noise.items())
    promised = "no promise by utmost", declared.guarantee, f"{distribution}, as declared by {declared.source}"
    compared = {
        "format": facts["format"],
        "released": ", ".join(declared.noise),
        "follows": "the declared noise; nothing about privacy was checked",
        "table": "unchanged",
        "sha256": facts["table"]["sha256"],
    }
    return _report(release, compared, _signature(path, public_key), promised, declared.on_trust, None)


def _withheld_report(
    table: Path, text_file: Path, path: Path, facts: dict[str, Any], whole: Path | None, public_key: Path | None
) -> dict[str, Any]:
    answer = None if whole is None else read_release(whole)
    if answer is not None and not isinstance(answer, Answer | NoisyTable):
        raise OutOfRange(
            "--release must name a released table or a release by a plan",
            came=type(answer).__name__,
            remedy="Name the release from which cells were withheld.",
        )
    described = check_withheld(facts, files.read(text_file), answer)
    rule = f"every shown cell satisfies the rule; {described.shown} of {described.cells} cells are shown"
    if whole is not None:
        rule += f"; exactly those cells of {whole} that the rule withholds are missing"
    if described.release["kind"] == NOISY_TABLE_KIND:
        declared = NOISY_TABLE_FORM.checked(described.release)
        return {**_noisy_report(declared, table, facts, path, public_key), "rule": rule}
    stated = stated_release(facts)
    # The last assumption, that only such cells are missing, is checked with the whole release.
    on_trust = list(stated.on_trust if whole is None else stated.on_trust[:-1])
    return {**_table_report(table, facts, stated, path, public_key), "rule": rule, "on_trust": on_trust}


def _answers_report(
    table: Path,
    text_file: Path,
    path: Path,
    facts: dict[str, Any],
    mechanism: Path,
    stated: ReleaseFacts,
    public_key: Path | None,
) -> dict[str, Any]:
    """Return the findings on answers whose mechanism is in the file `mechanism`."""
    # Only answers import the modules of mechanisms.
    from utmost.interfaces.documents.answers import check_mechanism
    from utmost.interfaces.documents.answers_statement import MECHANISM_TRUSTED

    check_mechanism(facts, mechanism, files.columns(files.read(text_file)))
    on_trust = tuple(trusted for trusted in stated.on_trust if trusted != MECHANISM_TRUSTED)
    checked = {"rule": f"{mechanism} has the stated SHA-256, secrets and level; every answer is one of its answers"}
    return {**_table_report(table, facts, replace(stated, on_trust=on_trust), path, public_key), **checked}


def _clean_report(
    table: Path, text_file: Path, path: Path, facts: dict[str, Any], whole: Path, public_key: Path | None
) -> dict[str, Any]:
    """Return the findings on a clean table that was made from the release in the file `whole`."""
    compared = {"table": "it is as near to the release as stated: its certificate proves it", "made_of": str(whole)}
    if whole.suffix.lower() != ".json":
        noisy = read_release(whole)
        if not isinstance(noisy, NoisyTable):
            remedy = "Name the .json file of the release by a plan."
            required = "--release must name the release from which the table was made"
            raise OutOfRange(required, came=str(whole), remedy=remedy)
        check_clean(facts, files.read(text_file), noisy)
        return _noisy_report(noisy.declaration, table, facts, path, public_key) | compared
    document = read_json(whole, "a release must")
    clean = check_clean(facts, files.read(text_file), document)
    # The choice among equally near tables could reveal data, and no certificate shows how it was made.
    trusted_choice = "the choice between equally near tables was made by the release and the public facts alone"
    given = [trusted_choice, *([] if clean.given is None else ["the public facts are true"])]
    guarantee = document["guarantee"] if clean.guarantee is None else clean.guarantee
    release = whole_release(document)
    first = release.first if isinstance(release, DetailedSums) else release
    line = promise_line(release.level, first.unit)
    promised = line, guarantee, "none: the table was computed from the release"
    return _report(
        table, compared, _signature(path, public_key), promised, [*trust_of_sums(first.promise), *given], first.promise
    )


def _detailed_report(release: Path, document: Mapping[str, Any], public_key: Path | None) -> dict[str, Any]:
    detailed = DetailedSums.of_facts(document)
    rule, line = detailed.rule.facts(), promise_line(detailed.level, detailed.first.unit)
    distribution = (
        f"the levels of two releases by a plan, which were both checked: the first at "
        f"{detailed.first.level}, the second at the rest of epsilon"
    )
    promised, signature = (line, document["guarantee"], distribution), _signature(release, public_key)
    return _report(
        release,
        {"format": document["format"]},
        signature,
        promised,
        trust_of_sums(detailed.first.promise),
        detailed.first.promise,
    ) | {"rule": f"each {rule['group']} has the detail that its released sum chooses: {rule['details']}"}


def _sums_report(release: Path, document: Mapping[str, Any], public_key: Path | None) -> dict[str, Any]:
    whole, noise = NoisySums.of_facts(document), document["noise"]
    facts, digest = sums_in_words(document, whole), document["table"]["sha256"]
    compared = {"format": document["format"], "released": facts.released, "sums": "unchanged", "sha256": digest}
    promised = facts.line, document["guarantee"], noise["drawn"]
    return _report(
        release, compared, _signature(release, public_key), promised, trust_of_sums(whole.promise), whole.promise
    ) | {
        "epsilon": document["epsilon"],
        "marginals": [
            {
                "marginal": whole.plan.marginal_words(marginal),
                "share": stated["share"],
                "noise_margin": stated["margin"],
            }
            for marginal, stated in zip(whole.plan.shares, noise["marginals"], strict=True)
        ],
        "part": None if whole.promise.part is None else list(whole.promise.part),
    }


def _signature(statement: Path, public_key: Path | None) -> str:
    """Return the result of checking the signature; without a key, whether there is a signature."""
    signature = signatures.signature_path(statement)
    if public_key is None:
        return "not checked: no public key was given" if signature.exists() else "none"
    if not signature.exists():
        raise BadTable(
            "the statement must be signed",
            came="no signature",
            where=str(signature),
            remedy="Copy the signature into the same folder, or leave out public_key=.",
        )
    signatures.check_signature(signature.read_bytes(), statement.read_bytes(), public_key, str(signature))
    return "valid"

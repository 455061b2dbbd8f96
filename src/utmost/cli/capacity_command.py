"""`utmost capacity`: each capacity, what attains it, and whether the proof was checked."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from utmost.cli import options
from utmost.cli.screen import facts, number, screen
from utmost.documents.reports import print_json
from utmost.errors import OutOfRange, PromiseBroken

if TYPE_CHECKING:
    from utmost.capacities import TypeCapacity


_MEANINGS = {
    "multiplicative": "no mechanism multiplies anyone's gain by more",
    "additive": "no mechanism adds more to anyone's gain",
}
_LONGEST = 40


def show_capacities(report: dict[str, Any], certificate: Path | None) -> None:
    """Print what `utmost capacity` reports."""
    console = screen()
    console.print(
        facts(
            {
                "secrets": f"{report['space']}, {report['secrets']:,} of them",
                "level": f"epsilon = {report['epsilon']}",
                **({"written": str(certificate)} if certificate is not None else {}),
            }
        )
    )
    for found in report["capacities"]:
        console.print(Text(f"\nThe {found['capacity']} capacity", style="bold"))
        console.print(facts(_facts(found)))


def _facts(found: dict[str, Any]) -> dict[str, str]:
    return {
        "capacity": _value(found),
        "which says": _MEANINGS[found["capacity"]],
        **({} if found["lower"] == found["value"] else {"one leaks at least": number(found["lower"], 16)}),
        "found by": found["method"],
        "theorem": found["theorem"] or "none: mechanism and dual decide",
        "outcomes": f"{found['outcomes']:,}",
        "checked": "yes, from mechanism and dual alone" if found["verified"] else "NO",
    }


def _value(found: dict[str, Any]) -> str:
    exactly, short = found["value_exact"], number(found["value"], 16)
    return short + (f" = {exactly}" if exactly not in (None, short) and len(exactly or "") <= _LONGEST else "")


Multiplicative = Annotated[
    bool, typer.Option("--multiplicative", help="Only the largest factor on anyone's gain; both when left out.")
]
Additive = Annotated[bool, typer.Option("--additive", help="Only the most that is added to anyone's gain.")]
CertificateFile = Annotated[
    Path | None,
    typer.Option("--certificate", metavar="FILE", help="Write mechanisms and proofs as JSON, and check them."),
]
Check = Annotated[
    Path | None,
    typer.Option(metavar="FILE", exists=True, dir_okay=False, help="Check what --certificate wrote, nothing else."),
]


def capacity(
    line: options.Line = None,
    counts: options.Counts = None,
    discrete: options.Discrete = None,
    hamming: options.Hamming = None,
    grid: options.Grid = None,
    manhattan: options.Manhattan = None,
    graph: options.Graph = None,
    distances: options.Distances = None,
    space: options.SpaceSpec = None,
    epsilon: options.Epsilon = None,
    alpha: options.Alpha = None,
    multiplicative: Multiplicative = False,
    additive: Additive = False,
    certificate: CertificateFile = None,
    check: Check = None,
    as_json: options.AsJson = False,
) -> None:
    """Find the most that any mechanism of a privacy type leaks, or two bounds of it, and prove them.

    A capacity is exact where all is rational; elsewhere it is a float that no mechanism exceeds, beside what the
    mechanism found is sure to leak. Both are checked apart from how they were found.
    """

    if check is not None:
        found, shown = _checked(check), check.name
    else:
        from utmost.documents.space_names import one_space

        kinds = {"line": line, "counts": counts, "discrete": discrete, "hamming": hamming, "grid": grid}
        shown, secrets = one_space(
            {**kinds, "manhattan": manhattan, "graph": graph, "distances": distances, "space": space}
        )
        wanted = {"multiplicative": multiplicative or not additive, "additive": additive or not multiplicative}
        found = _capacities(secrets, epsilon, alpha, [kind for kind, is_wanted in wanted.items() if is_wanted])
        if certificate is not None:
            _write(found, certificate)
    report = _report(found, shown)
    if as_json:
        return print_json(report)
    show_capacities(report, certificate)


def _capacities(secrets: Any, epsilon: str | None, alpha: str | None, kinds: list[str]) -> "list[TypeCapacity]":
    from utmost.capacities import capacity
    from utmost.exact import level
    from utmost.privacy import PrivacyType

    ptype = PrivacyType(secrets, level(epsilon, alpha))
    return [capacity(ptype, kind=kind) for kind in kinds]


def _report(found: "list[TypeCapacity]", shown: str) -> dict[str, Any]:
    from utmost.documents.reports import exact_text
    from utmost.release.statements import level_facts

    ptype = found[0].certificate.ptype
    return {
        "space": shown,
        "secrets": ptype.space.size,
        **level_facts(ptype.level),
        "capacities": [
            {
                "capacity": one.certificate.kind,
                "value": float(one.value),
                "value_exact": exact_text(one.value) if one.is_exact else None,
                "lower": float(one.lower),
                "method": one.method,
                "theorem": one.theorem,
                "outcomes": one.mechanism.shape[1],
                "verified": one.certificate.verify(),
            }
            for one in found
        ],
    }


def _write(found: "list[TypeCapacity]", path: Path) -> None:
    """Write the certificates, and check what stands in the file."""
    from utmost.documents import capacities, statement_files
    from utmost.tables.atomic import write_together

    if path.suffix.lower() != ".json":
        raise OutOfRange("a certificate is written as .json", came=path.name, where="--certificate")
    written = capacities.document(found)
    write_together({path: lambda file: statement_files.write(written, file)})
    _checked(path)


def _checked(path: Path) -> "list[TypeCapacity]":
    """The capacities in a file, refused where one does not prove what it states."""
    from utmost.documents import capacities

    found = capacities.read(path)
    for one in found:
        if not one.certificate.verify():
            raise PromiseBroken(
                f"the certificate must prove the {one.certificate.kind} capacity that it states", where=str(path)
            )
    if not found:
        raise OutOfRange("the file must hold a capacity", came="none", where=str(path))
    return found

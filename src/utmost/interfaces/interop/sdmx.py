"""Write a released table as an SDMX-CSV 2.0 data message, for an existing structure.

Format: the SDMX-CSV field guide, version 2.0 (SDMX 3.0), https://github.com/sdmx-twg/sdmx-csv; the codes of OBS_STATUS
are those of the cross-domain code list CL_OBS_STATUS, version 2.2.
"""

import csv
import io
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from utmost.core.exact.arguments import mapping, one_of, optional, text
from utmost.core.exact.arguments import path as as_path
from utmost.core.exact.numbers import read_confidence
from utmost.errors import BadTable, OutOfRange, Unsupported
from utmost.interfaces.documents.published_files import read_release
from utmost.publish.promises.statement import is_blank, read_statement
from utmost.publish.releases.withholding import SHOWN, UNRELIABLE
from utmost.tables.files import files, sidecars
from utmost.tables.frames.adapters import no_column

SdmxAction = Literal["I", "A", "R"]
"""Actions of a data message: information, append, replace."""

_STRUCTURE = re.compile(
    r"[A-Za-z][A-Za-z0-9_-]*(\.[A-Za-z][A-Za-z0-9_-]*)*:[A-Za-z0-9_@$-]+"
    r"\([0-9]+(\.[0-9]+){1,2}(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?\)"
)
_COMPONENT = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_HEAD = ("STRUCTURE", "STRUCTURE_ID", "ACTION")
_NORMAL, _SUPPRESSED, _LOW = "A", "Q", "U"
MEASURE, STATUS, MARGIN, CONFIDENCE = "OBS_VALUE", "OBS_STATUS", "MARGIN_OF_ERROR", "CONFIDENCE_LEVEL"


def sdmx_csv(
    path: Path | str,
    structure: str,
    *,
    components: Mapping[str, str] | None = None,
    column: str | None = None,
    kind: Literal["dataflow", "datastructure", "dataprovision"] = "dataflow",
    action: SdmxAction = "I",
) -> str:
    """Return a released table as an SDMX-CSV 2.0 message: dimensions, value, status, and margin as an attribute.

    Columns are STRUCTURE, STRUCTURE_ID and ACTION; a dimension for each public column; OBS_VALUE; and the attributes
    OBS_STATUS (A for a value, Q for a withheld cell, U for a value that is marked unreliable), MARGIN_OF_ERROR and
    CONFIDENCE_LEVEL. Labels are written as they were published: if a dimension is coded, the labels must be its codes.

    Args:
        path: Released table with its statement beside it; both are checked.
        structure: Identification of the structure, AGENCY:ID(VERSION), such as "ESTAT:NA_MAIN(1.6.0)".
        components: Dict from columns to identifiers of dimensions and attributes: {"sex": "SEX", "MARGIN_OF_ERROR":
            "MOE"}. The identifier of a column that is left out is its name in capitals.
        column: Released column that is the measure; needed if there are several released columns.
        kind: Kind of the structure.
        action: "I" for information, "A" to append, "R" to replace.

    Returns:
        The message; lines end as RFC 4180 says, so that it is written with ``newline=""``.

    Raises:
        OutOfRange: if the name of a structure or component is invalid, if two components have one name, or if
            ``column`` is left out and there are several released columns.
        BadTable: if the statement is inconsistent, or is about another table; if the table lacks a column that
            ``components`` or ``column`` names; or if two rows have the same labels.
        Unsupported: if the release is one document (then save one of its tables).

    >>> import tempfile, utmost as ut
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     promise = ut.Promise("n", public="sex", unit=ut.Unit(1, 1))
    ...     _ = ut.release({"sex": ["F", "M"], "n": [7, 5]}, promise, epsilon=40).save(f"{folder}/r.csv")
    ...     print(sdmx_csv(f"{folder}/r.csv", "IAEG:DF_N(1.0.0)").replace("\\r", ""))
    STRUCTURE,STRUCTURE_ID,ACTION,SEX,OBS_VALUE,OBS_STATUS,MARGIN_OF_ERROR,CONFIDENCE_LEVEL
    dataflow,IAEG:DF_N(1.0.0),I,F,7,A,0,95
    dataflow,IAEG:DF_N(1.0.0),I,M,5,A,0,95
    <BLANKLINE>
    """
    file = Path(as_path(path, "path"))
    if not _STRUCTURE.fullmatch(text(structure, "structure")):
        remedy = 'Pass, for example, structure="ESTAT:NA_MAIN(1.6.0)" (--structure).'
        raise OutOfRange("structure must be AGENCY:ID(VERSION)", came=repr(structure)[:60], remedy=remedy)
    one_of(kind, Literal["dataflow", "datastructure", "dataprovision"], "kind")
    one_of(action, SdmxAction, "action")
    if file.suffix.lower() == ".json":
        remedy = "Save one of its tables: answer.save(path, marginal=...), or utmost total RELEASE --tables DIR."
        raise Unsupported("an SDMX message needs one table", came="a release by a plan", remedy=remedy)
    read_release(file)
    statement, columns = read_statement(sidecars.statement_beside(file)), files.columns(files.read(file))
    measure, dimensions = _parts(columns, optional(column, text, "column"))

    # `named` has the identifier of each component, by its column or its usual name.
    named = {name: name.upper() for name in dimensions} | {name: name for name in (MEASURE, STATUS, MARGIN, CONFIDENCE)}
    for name, identifier in ({} if components is None else mapping(components, "components")).items():
        if name not in named:
            raise no_column(name, list(named))
        named[name] = text(identifier, "components")
    for name, identifier in named.items():
        if not _COMPONENT.fullmatch(identifier) or identifier in _HEAD:
            remedy = f"Pass, for example, components={{{name!r}: 'REF_AREA'}} (--component)."
            required = "the name of a component must be a letter, followed by letters, digits, - and _"
            raise OutOfRange(required, came=repr(identifier)[:60], where=repr(name), remedy=remedy)
    if len(set(named.values())) < len(named):
        remedy = "Pass components= with a different name for each column (--component)."
        raise OutOfRange("components must have different names", came=", ".join(named.values()), remedy=remedy)

    margins = columns.get(f"{measure}_margin")
    body: dict[str, list[Any]] = {named[name]: columns[name] for name in dimensions}
    body[named[MEASURE]] = ["" if is_blank(cell) else cell for cell in columns[measure]]
    marks = columns.get(f"{measure}_mark", [SHOWN] * len(columns[measure]))
    # OBS_STATUS is A for a value, U for one that is marked unreliable, and Q where a cell is withheld.
    codes = {SHOWN: _NORMAL, UNRELIABLE: _LOW}
    body[named[STATUS]] = [codes.get(str(mark), _SUPPRESSED) for mark in marks]
    if margins is not None:
        body[named[MARGIN]] = margins
        stated: Mapping[str, Any] = statement
        while "confidence_exactly" not in stated:
            stated = stated["release"] if "release" in stated else next(iter(stated["releases"].values()))
        percent = 100 * read_confidence(stated["confidence_exactly"])
        shown = str(int(percent)) if percent.denominator == 1 else repr(float(percent))
        body[named[CONFIDENCE]] = [shown] * len(margins)
    written = io.StringIO(newline="")
    writer = csv.writer(written)  # lines end in CR LF, as RFC 4180 says
    writer.writerow([*_HEAD, *body])
    writer.writerows([kind, structure, action, *row] for row in zip(*body.values(), strict=True))
    return written.getvalue()


def _parts(columns: Mapping[str, list[Any]], column: str | None) -> tuple[str, list[str]]:
    """Return the measure, and as dimensions all columns that are not released and are no margin, bound or mark."""
    released = [name for name in columns if f"{name}_margin" in columns or (name == "clean" and column in (None, name))]
    if column is not None and column not in columns:
        raise no_column(column, list(columns))
    if column is None and "clean" in released:
        column = "clean"
    if column is None and len(released) != 1:
        remedy = f"Pass, for example, column={released[0]!r}." if released else "Name a released table."
        raise OutOfRange(
            "column must name the column of the measure", came=f"{len(released)} released columns", remedy=remedy
        )
    measure = released[0] if column is None else column
    if measure not in released:
        raise OutOfRange(f"column must be one of {', '.join(released)}", came=repr(measure), where="column")
    others = {f"{name}{end}" for name in (*released, "clean") for end in ("", "_margin", "_mark", "_lower", "_upper")}
    dimensions = [name for name in columns if name not in others]
    keys = list(zip(*(columns[name] for name in dimensions), strict=True)) if dimensions else []
    if len(set(keys)) < len(keys) or (not dimensions and len(columns[measure]) > 1):
        remedy = "Publish the table with columns that identify its rows."
        raise BadTable(
            "the dimensions must identify each observation", came="two rows with the same key", remedy=remedy
        )
    return measure, dimensions

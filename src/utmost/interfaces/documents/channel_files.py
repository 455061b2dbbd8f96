"""Read and write files of channels, and compare two channels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, BinaryIO

from utmost.design.channels.channel import Channel
from utmost.design.channels.on_counts import geometric_channel
from utmost.design.geometry.orders import MaxCaseVerdict, PrivacyOrderVerdict
from utmost.design.geometry.refining import RefinementVerdict, refines
from utmost.design.optima.best_actions import expected_loss
from utmost.errors import BadTable, NotAChannel, OutOfRange
from utmost.interfaces.documents import designs
from utmost.interfaces.documents.reports import exact_text
from utmost.publish.promises import codec
from utmost.publish.promises.codec import Form, plain
from utmost.tables.files import files
from utmost.tables.files.json_files import read_json, write_json
from utmost.tables.files.small_tables import number_in, small_table

KIND = "utmost channel"
ENDINGS = (".csv", ".tsv", ".txt", ".json")

# Decimals in a file may be rounded: a row whose sum differs from 1 by at most this makes the channel float64.
_ROUNDED = Fraction(1, 10**9)
# Headers of a column of row labels.
_CORNERS = ("", "secret", "secrets")


@dataclass(frozen=True, slots=True)
class _Cells:
    """A matrix as text, with the names of its rows and columns if the file has them."""

    rows: list[list[Any]]
    locations: list[str]  # of each row, for messages
    secrets: list[str] | None
    outcomes: list[str] | None


def read(path: Path) -> Channel:
    """Read a channel: rows are secrets, columns outcomes, every cell a rational or a decimal ("1/3", "0.25")."""
    # CSV: the first row holds names if its first cell is empty or "secret", or if none of its cells is a number. The
    # first column holds labels if the cell above it is empty or "secret", if the row of names is one cell short, or if
    # one of its cells is no number.
    # JSON: a list of rows; an object with "matrix" and optional "secrets" and "outcomes"; a file of `write`; or a
    # design.
    if path.suffix.lower() not in ENDINGS:
        raise OutOfRange(f"a channel file must end in {', '.join(ENDINGS)}", came=path.name)
    return _read_json(path) if path.suffix.lower() == ".json" else _channel(_csv_cells(path), path)


def write(channel: Channel, file: BinaryIO, path: Path) -> None:
    """Write a channel into an open file, as JSON or CSV by the ending of `path`; exact numbers are written as text."""
    if path.suffix.lower() == ".json":
        write_json(document(channel), file)
    elif path.suffix.lower() in ENDINGS:
        written = document(channel)
        rows = [[name, *map(str, row)] for name, row in zip(written["secrets"], written["matrix"], strict=True)]
        files.write_rows(["secret", *written["outcomes"]], rows, file, path)
    else:
        raise OutOfRange(f"a channel file must end in {', '.join(ENDINGS)}", came=path.name)


def document(channel: Channel) -> dict[str, Any]:
    """Return a channel as plain data: exact numbers as text, floats as they are."""
    return CHANNEL.document(channel)


def _facts(channel: Channel) -> dict[str, Any]:
    n, m = channel.shape
    names = {"secrets": _texts(channel.secrets, n), "outcomes": _texts(channel.outcomes, m)}
    return {**names, "matrix": plain(channel.matrix)}


def channel_of(written: Mapping[str, Any]) -> Channel:
    return Channel(written["matrix"], written["secrets"], written["outcomes"])


CHANNEL = Form(KIND, "a channel", _facts, channel_of)


def _texts(names: Sequence[object] | None, size: int) -> list[str]:
    return [str(name) for name in (range(size) if names is None else names)]


def _csv_cells(path: Path) -> _Cells:
    table = small_table(path)
    records = table.rows
    if not records:
        raise BadTable(
            "a channel file must contain numbers",
            came="none",
            where=str(path),
            remedy="Write a row for each secret: 2/3,1/3.",
        )
    head = records[0][1]
    named = head[0].lower() in _CORNERS or not any(map(table.is_number, head))
    body = records[1:] if named else records
    if not body:
        remedy = "Write a row of probabilities for each secret: 2/3,1/3."
        raise BadTable(
            "a channel file must have a row for each secret", came="only a row of names", where=str(path), remedy=remedy
        )
    width = len(body[0][1])
    labelled = (
        (named and (head[0].lower() in _CORNERS or len(head) == width - 1))
        or any(not table.is_number(record[0]) for _, record in body)
    ) and width > 1
    for line, record in body:
        if len(record) != width:
            came = f"a row of {len(record)} cells after rows of {width}"
            raise BadTable("all rows must have the same number of cells", came=came, where=f"{path}, line {line}")
    outcomes = (head[-(width - labelled) :] if len(head) in (width, width - labelled) else head) if named else None
    rows = [
        [table.number(cell, line, k + 1 + labelled) for k, cell in enumerate(record[labelled:])]
        for line, record in body
    ]
    secrets = [record[0] for _, record in body] if labelled else None
    return _Cells(rows, [f"{path}, line {line}" for line, _ in body], secrets, outcomes)


def _read_json(path: Path) -> Channel:
    document = read_json(path, "a channel must")
    if isinstance(document, dict) and "kind" in document:
        if document["kind"] != designs.KIND:
            return CHANNEL.of(document, str(path))
        certificate = designs.read(path)
        if certificate.matrix is not None:
            return Channel(certificate.matrix)
        assert certificate.remap is not None, "a design has a remap or a matrix"
        return geometric_channel(certificate.ptype.space.size, certificate.ptype.level) @ certificate.remap
    document = read_json(path, "a channel must", parse_float=str)
    rows = document.get("matrix") if isinstance(document, dict) else document
    if not isinstance(rows, list) or not rows or not all(isinstance(row, list) and row for row in rows):
        raise BadTable(
            'a channel must be a list of rows, or an object whose "matrix" is a list of rows', where=str(path)
        )
    for x, row in enumerate(rows):
        if len(row) != len(rows[0]):
            came = f"a row of {len(row)} cells after rows of {len(rows[0])}"
            raise BadTable("all rows must have the same number of cells", came=came, where=f"{path}, row {x}")
    cells = [
        [number_in(cell, f"{path}, row {x}, column {y}") for y, cell in enumerate(row)] for x, row in enumerate(rows)
    ]
    names = [document.get(key) if isinstance(document, dict) else None for key in ("secrets", "outcomes")]
    return _channel(_Cells(cells, [f"{path}, row {x}" for x in range(len(rows))], *names), path)


def _channel(cells: _Cells, path: Path) -> Channel:
    # Names must be distinct, one for each row and each column.
    sizes = {"secrets": len(cells.rows), "outcomes": len(cells.rows[0])}
    for what, names in (("secrets", cells.secrets), ("outcomes", cells.outcomes)):
        if names is None:
            continue
        if not isinstance(names, list) or len(names) != sizes[what]:
            came = len(names) if isinstance(names, list) else type(names).__name__
            raise BadTable(f"{sizes[what]} {what} must have {sizes[what]} names", came=came, where=str(path))
        for at, name in enumerate(names):
            if name in names[:at]:
                raise BadTable(
                    f"names of {what} must be distinct", came=f"numbers {names.index(name)} and {at}", where=str(path)
                )
    rounded = False
    for location, row in zip(cells.locations, cells.rows, strict=True):
        for p in row:
            if p < 0:
                raise NotAChannel("a probability must not be negative", came="a negative probability", where=location)
        off = abs(sum(row) - 1)
        if off > _ROUNDED:
            remedy = "Rows are secrets and columns outcomes; write thirds as 1/3."
            raise NotAChannel(
                "every row must sum to 1",
                came="a sum above 1" if sum(row) > 1 else "a sum below 1",
                where=location,
                remedy=remedy,
            )
        rounded = rounded or off > 0
    matrix = [[float(p) for p in row] for row in cells.rows] if rounded else cells.rows
    return Channel(matrix, cells.secrets, cells.outcomes)


ORDERS = ("refinement", "max-case", "privacy")
RELATIONS = {
    (True, True): "equal",
    (True, False): "the first is above",
    (False, True): "the second is above",
    (False, False): "incomparable",
}


def comparison(first: Channel, second: Channel, order: str) -> dict[str, Any]:
    """Compare two channels on the same secrets by one of `ORDERS`; return their relation, with proofs."""
    if order not in ORDERS:
        raise OutOfRange(
            f"--order must be one of {', '.join(ORDERS)}", came=order, remedy="Leave out --order to decide refinement."
        )
    down, up = _direction(first, second, order), _direction(second, first, order)
    return {
        **codec.header("utmost comparison"),
        "order": order,
        "exact": first.is_exact and second.is_exact,
        "relation": RELATIONS[down["holds"], up["holds"]],
        "second_below_first": down,
        "first_below_second": up,
    }


def _direction(B: Channel, A: Channel, order: str) -> dict[str, Any]:
    """Return whether A is below B in the order, with the proof."""
    verdict, proof = refines(better=B, worse=A, order=order), dict[str, Any]()
    if isinstance(verdict, RefinementVerdict) and verdict.remap is not None:
        proof["remap"] = document(verdict.remap)
    elif isinstance(verdict, RefinementVerdict) and verdict.consumer is not None:
        # The proof is a consumer who prefers A to B, with the expected loss of each channel.
        above, below = expected_loss(B, verdict.consumer), expected_loss(A, verdict.consumer)
        proof["consumer"] = {
            "prior": plain(verdict.consumer.prior),
            "loss": plain(verdict.consumer.loss),
            "expected_loss_above": float(above),
            "expected_loss_below": float(below),
            "expected_loss_above_exact": exact_text(above),
            "expected_loss_below_exact": exact_text(below),
        }
    elif isinstance(verdict, MaxCaseVerdict) and verdict.weights is not None:
        proof["weights"] = plain(verdict.weights)
    elif isinstance(verdict, MaxCaseVerdict):
        proof |= {"outcome": verdict.outcome, "separator": plain(verdict.separator)}
    elif isinstance(verdict, PrivacyOrderVerdict) and verdict.pair is not None:
        x, z = verdict.pair
        proof |= {
            "pair": [x, z],
            "ratio_above": plain(verdict.better_ratios[x, z]),
            "ratio_below": plain(verdict.worse_ratios[x, z]),
        }
    return {"holds": bool(verdict), "verified": verdict.verify(), **proof}

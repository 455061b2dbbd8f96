"""Read the files of counting: a declared domain, and a counted table, which has true values."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from utmost.core.exact import arguments
from utmost.core.exact.field_forms import arguments_of, json_forms
from utmost.core.privacy.unit import Unit
from utmost.errors import BadTable, Unsupported
from utmost.publish.counting.counted import DOCUMENT_KIND, CountedTable
from utmost.publish.counting.counted_facts import CountedFacts
from utmost.publish.promises.codec import Form
from utmost.tables.axes.domain import Domain
from utmost.tables.axes.few_cells import FewCells
from utmost.tables.files import files
from utmost.tables.files.json_files import read_json
from utmost.tables.files.table_formats import holds_records


def read_domain(path: Path | str) -> Domain:
    """Read a declared domain from a JSON file, in the form of `Domain.of_facts`, or from a recipe (.toml).

    Raises:
        BadTable: if the file is not JSON, or if a recipe has no domain.
        OutOfRange, WrongKind: if the values do not declare a domain.

    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "domain.json"
    >>> _ = path.write_text('{"town": ["Ash", "Elm"]}')
    >>> read_domain(path).size
    2
    """
    file = Path(arguments.path(path, "path"))
    if file.suffix.lower() != ".toml":
        return Domain.of_facts(read_json(file, "a domain must"))
    from utmost.tables.files.toml_files import read_toml

    facts = read_toml(file, "a recipe must").get("domain")
    if not isinstance(facts, dict):
        remedy = 'Write, for example, [domain] and below it region = ["north", "south"].'
        raise BadTable("a recipe must have a domain", came="none", where=str(file), remedy=remedy)
    return Domain.of_facts(facts)


def _value(facts: Mapping[str, Any]) -> CountedTable:
    domain, unit = Domain.of_facts(facts["domain"]), Unit.of_facts(facts["unit"])
    known = json_forms(CountedFacts)
    metadata = arguments_of(
        CountedFacts, {name: fact for name, fact in facts.items() if name in known}, "a counted table"
    )
    if "places" in facts:
        places, numbers = facts["places"], facts["numbers"]
        if not all(type(number) is int for number in (*numbers, *(place for row in places for place in row))):
            raise BadTable("the fields places and numbers must be lists of integers", came="other values")
        fits = all(abs(number) < 1 << 62 for number in numbers)
        few = FewCells(
            domain.shape,
            np.array(places, dtype=np.int64).reshape(len(domain.shape), -1),
            np.array(numbers, dtype=np.int64 if fits else object),
        )
        return CountedTable(domain, few, unit, **metadata)
    cells = facts["cells"]
    if not all(type(cell) is int for cell in cells) or len(cells) != domain.size:
        raise BadTable("cells must be a list of integers, one for each cell of the domain", came=f"{len(cells)} values")
    whole = np.array(cells, dtype=np.int64 if all(abs(cell) < 1 << 62 for cell in cells) else object)
    return CountedTable(domain, whole.reshape(domain.shape), unit, **metadata)


COUNTED_FORM = Form(DOCUMENT_KIND, "a counted table", CountedTable.facts, _value)
"""Documents of counted tables: the unit, the domain, and the true value of each cell, in order (in a vast domain the
nonzero cells)."""


def read_counted(path: Path | str) -> CountedTable:
    """Read a counted table, with true counts, from a file of `CountedTable.save` or `utmost count`.

    Raises:
        BadTable: if the file is not a counted table, or has an invalid field, which the message names.
        Unsupported: if another version of utmost wrote the file, in another format.

    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "counted.json"
    >>> _ = CountedTable(Domain(town=["Ash", "Elm"]), [3, 5], Unit(1, 1)).save(path)
    >>> read_counted(path).cells.tolist()
    [3, 5]
    """
    return COUNTED_FORM.read(Path(arguments.path(path, "path")))


def read_table(path: Path, column: str | None = None) -> Any:
    """Read the table in a file; of a counted table, return labels and, as ``column``, counts or numbers of steps."""
    if path.suffix.lower() != ".json" or holds_records(path):
        return files.read(path)
    counted = COUNTED_FORM.read(path)
    return counted.in_steps(column)


def measured_table(path: Path) -> CountedTable:
    """Read the counted table in a .json file, for a release by a plan."""
    if path.suffix.lower() != ".json":
        remedy = "Pass the .json file that utmost count wrote; a promise of columns or points needs no file."
        raise Unsupported("a counted table must be a .json file", came=path.name, remedy=remedy)
    return COUNTED_FORM.read(path)

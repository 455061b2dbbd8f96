"""Describe a released table by a Frictionless data package, and by metadata of CSV on the Web.

Formats: Data Package 2.0 (https://datapackage.org), and the W3C's Metadata Vocabulary for Tabular Data.
"""

import re
from collections.abc import Mapping
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

from utmost.core.exact import arguments
from utmost.errors import Unsupported
from utmost.interfaces.documents.published_files import read_release
from utmost.interfaces.documents.statement_readers import stated_release
from utmost.publish.promises.statement import read_statement
from utmost.publish.releases.noisy_table import declared_in
from utmost.publish.releases.release_facts import short_bar
from utmost.publish.statements.registry_entries import Deployment
from utmost.tables.files import files, sidecars
from utmost.tables.files.csv_table import delimiter_of

_PROFILE = "https://datapackage.org/profiles/2.0/datapackage.json"
_CONTEXT = "http://www.w3.org/ns/csvw"
_FORMATS = {".csv": "text/csv", ".tsv": "text/tab-separated-values"}
_WHOLE, _DECIMAL = re.compile(r"[+-]?(0|[1-9]\d*)"), re.compile(r"[+-]?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")


def data_package(path: Path | str, deployment: Deployment | None = None, *, license: str = "") -> dict[str, Any]:
    """Return a released table as a data package: fields, margins, privacy, licence, sources (Data Package 2.0).

    In a field of margins, ``uncertaintyOf`` is the name of the field of values, and ``confidence`` is the confidence of
    the margins. The package's ``privacy`` has epsilon, the guarantee in words, and the distribution of the noise. For a
    table with the noise of another tool, ``privacy`` has the declared noise, and says that utmost promises nothing.

    Args:
        path: Released .csv or .tsv with its statement beside it; both are checked.
        deployment: Title, description, publishers, date and sources.
        license: SPDX name of the licence, such as "CC-BY-4.0".

    Returns:
        The descriptor as plain data, to be written as ``datapackage.json`` beside the table.

    Raises:
        Unsupported: if the table has another format.
        BadTable: if the statement is inconsistent, or is about another table.

    Cost: the table is read twice.

    >>> import tempfile, utmost as ut
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     promise = ut.Promise("n", public="town", unit=ut.Unit(1, 1))
    ...     _ = ut.release({"town": ["Bonn"], "n": [7]}, promise, epsilon=1).save(f"{folder}/r.csv")
    ...     package = data_package(f"{folder}/r.csv", license="CC-BY-4.0")
    >>> [field["name"] for field in package["resources"][0]["schema"]["fields"]], package["privacy"]["epsilon"]
    (['town', 'n', 'n_margin'], '1')
    """
    file = Path(arguments.path(path, "path"))
    ending = file.suffix.lower()
    if ending not in _FORMATS:
        remedy = (
            "Save the table as .csv: answer.save, or --out FILE.csv; for a .json file, utmost total FILE --tables DIR."
        )
        raise Unsupported("the table of a data package must be .csv or .tsv", came=ending or "no ending", remedy=remedy)
    read_release(file)
    statement, about = read_statement(sidecars.statement_beside(file)), deployment or Deployment()

    noisy = declared_in(statement)
    if noisy is None:
        stated = stated_release(statement)
        line = stated.line
        privacy = {
            "definition": "pure differential privacy" if stated.delta is None else "approximate differential privacy",
            "epsilon": str(stated.own_level.epsilon),
            **({} if stated.delta is None else {"delta": str(stated.delta)}),
            "guarantee": stated.line,
            "protects": stated.unit,
            **({} if stated.promise is None else stated.promise.texts),
            "noise": [
                {
                    "of": noise.of,
                    "distribution": noise.distribution,
                    "margins": {str(at): short_bar(bar) for at, bar in noise.bars},
                }
                for noise in stated.noises
            ],
        }
    else:
        line = f"Noise as declared by {noisy.source}."
        privacy = {
            "definition": "none promised by utmost",
            "guarantee": noisy.guarantee,
            "noise": [{"of": name, "distribution": f"{one.words}, as declared"} for name, one in noisy.noise.items()],
        }

    content = file.read_bytes()
    resource = {
        "name": _slug(file.stem),
        "type": "table",
        "path": file.name,
        "scheme": "file",
        "format": ending[1:],
        "mediatype": _FORMATS[ending],
        "encoding": "utf-8",
        "bytes": len(content),
        "hash": f"sha256:{sha256(content).hexdigest()}",
        "dialect": {"delimiter": delimiter_of(file)},
        "schema": {"fields": _fields(file, statement), "missingValues": [""]},
    }

    package: dict[str, Any] = {"$schema": _PROFILE, "name": _slug(file.stem)}
    source = {"title": about.sources}
    if about.sources.startswith(("http://", "https://")):
        source["path"] = about.sources
    found = {
        "title": about.title,
        "description": " ".join(filter(None, (about.description, line))),
        "created": f"{about.published}T00:00:00Z" if about.published else "",
        "contributors": [{"title": name, "roles": ["publisher"]} for name in about.curators],
        "sources": [source] if about.sources else [],
        "licenses": [{"name": license}] if license else [],
    }
    package |= {name: value for name, value in found.items() if value}
    return package | {"privacy": privacy, "resources": [resource]}


def csv_metadata(package: dict[str, Any]) -> dict[str, Any]:
    """Return CSV on the Web metadata of a packaged table, for a file ``NAME.csv-metadata.json`` beside the table.

    Args:
        package: Result of `data_package`.

    >>> fields = [{"name": "n", "type": "integer", "description": "people"}]
    >>> resource = {"path": "r.csv", "dialect": {"delimiter": ","}, "schema": {"fields": fields}}
    >>> csv_metadata({"resources": [resource], "description": "..."})["tableSchema"]["columns"][0]["datatype"]
    'integer'
    """
    resource = package["resources"][0]
    columns: list[dict[str, Any]] = []
    for field in resource["schema"]["fields"]:
        # In CSV on the Web a column name is part of an address.
        name = quote(field["name"], safe="").replace(".", "%2E").replace("-", "%2D")
        columns.append(
            {
                "name": name.lstrip("_") or "column",
                "titles": field["name"],
                "datatype": "double" if field["type"] == "number" else field["type"],
                "dc:description": field["description"],
            }
        )
    found = {
        "dc:title": package.get("title"),
        "dc:description": package.get("description"),
        "dc:license": next((one["name"] for one in package.get("licenses", [])), None),
        "dc:publisher": [one["title"] for one in package.get("contributors", [])],
        "dc:source": [one["title"] for one in package.get("sources", [])],
    }
    return {
        "@context": _CONTEXT,
        "url": quote(resource["path"]),
        **{name: value for name, value in found.items() if value},
        "dialect": {"delimiter": resource["dialect"]["delimiter"], "header": True, "encoding": "utf-8"},
        "tableSchema": {"columns": columns},
    }


def _fields(file: Path, statement: Mapping[str, Any]) -> list[dict[str, Any]]:
    columns = files.columns(files.read(file))
    confidence = statement.get("confidence_exactly") or statement["release"]["confidence_exactly"]
    fields = []
    for name, cells in columns.items():
        texts = list(map(str, cells))
        numbers = [text for text in texts if text]
        kind = "number" if all(map(_DECIMAL.fullmatch, numbers)) else "string"
        field: dict[str, Any] = {
            "name": name,
            "type": "integer" if all(map(_WHOLE.fullmatch, numbers)) else kind,
        }
        of, bound = _measured(name, columns)
        if of is not None:
            field |= {"description": f"{bound} of {of}", "uncertaintyOf": of, "confidence": confidence}
        elif any(_measured(other, columns)[0] == name for other in columns):
            field["description"] = "published with noise"
        else:
            # Labels are dates or text, because codes such as 01 are no numbers.
            kind = "date" if texts and all(map(_is_date, texts)) else "string"
            field |= {"description": "published without noise", "type": kind}
        fields.append(field)
    return fields


def _measured(name: str, columns: dict[str, list[Any]]) -> tuple[str | None, str]:
    """Return which column a column of margins or bounds belongs to, and which of these it has; None for any other."""
    for ending, words in (("_margin", "margin of error"), ("_lower", "lower bound"), ("_upper", "upper bound")):
        if name.endswith(ending) and name.removesuffix(ending) in columns:
            return name.removesuffix(ending), words
    return None, ""


def _is_date(cell: str) -> bool:
    try:
        return date.fromisoformat(cell).isoformat() == cell
    except ValueError:
        return False


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip("-") or "table"

"""Read public codebooks and data dictionaries, from which the values of columns are proposed. The data are not read.

A codebook may be a DDI codebook (.xml), a Table Schema or data package (.json), a table with a row for each code, or a
table with a row for each variable and all codes of the variable in one cell, "1, men | 2, women".
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from math import ceil, floor
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from utmost.errors import BadTable
from utmost.tables.files import files
from utmost.tables.files.json_files import read_json

_VARIABLE: tuple[str, ...] = (
    *("variable", "variable name", "varname", "var", "variable / field name", "column", "column name", "field"),
    *("field name", "name"),
)
_CODE: tuple[str, ...] = (
    *("code", "codes", "value", "values", "value code", "category", "level", "option", "choices"),
    *("permissible values", "choices, calculations, or slider labels"),
)
_LABEL = ("label", "value label", "code label", "meaning", "category label", "text", "definition", "description")
_LEAST = ("min", "minimum", "low", "from", "text validation min")
_MOST = ("max", "maximum", "high", "to", "text validation max")
_TYPE = ("type", "data type", "datatype", "text validation type or show slider number", "text validation type")
_DECIMAL_TYPES = {"number", "decimal", "float", "double", "real", "numeric"}
_RANGE = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*(?:-|\u2013|\.\.|to)\s*(-?\d+(?:\.\d+)?)\s*", re.I)
_CODED = re.compile(r"\s*(?P<code>[^,=:|;]+?)\s*[,=:]\s*(?P<label>.+?)\s*", re.S)
_MISSING = re.compile(r"\b(missing|not stated|no answer|refus\w*|unknown|don'?t know|not applicable)\b", re.I)
_MOST_GROUPS = 20  # most groups into which a range of numbers is divided
_WHOLE_GROUPS = 5  # groups of decimals begin at whole numbers if the range is at least this long


@dataclass(slots=True)
class Coded:
    """One variable of a codebook."""

    codes: dict[str, str] = field(default_factory=dict)  # label of each code
    missing: list[str] = field(default_factory=list)  # codes that mean no answer
    least: Decimal | None = None  # low and high end of a range of numbers
    most: Decimal | None = None
    has_decimals: bool = False  # whether numbers with decimals are declared; else integer ends mean integers

    def add(self, code: str, label: str, *, is_missing: bool = False) -> None:
        self.codes[code] = label
        if is_missing or _MISSING.search(label):
            self.missing.append(code)

    def axis(self) -> Any:
        """Return the variable as an axis, in the JSON of a domain file, or None if the codebook lists no values."""
        least, most, codes = self.least, self.most, list(self.codes)
        ranges = [match for code in codes if (match := _RANGE.fullmatch(code)) is not None]
        if least is None and len(ranges) == 1 and len(codes) - 1 <= len(self.missing):
            least, most = Decimal(ranges[0][1]), Decimal(ranges[0][2])  # several ranges become labels of a list
            codes.remove(ranges[0].string)
        if least is not None and most is not None and least < most:
            marks = {"missing_marks": codes, "missing": "missing"} if codes else {}
            return {**_groups(least, most, has_decimals=self.has_decimals), **marks}
        if not codes:
            return None
        is_whole = all(re.fullmatch(r"0|-?[1-9]\d{0,15}", code) for code in codes)
        return [int(code) for code in codes] if is_whole else codes


def _groups(least: Decimal, most: Decimal, *, has_decimals: bool) -> dict[str, Any]:
    """Divide a range into at most 20 groups of a round width. Groups of decimals begin at multiples of the width."""
    low, high = Fraction(least), Fraction(most)
    # An end that is written like 30.0 means that the numbers have decimals.
    is_whole = not has_decimals and all(int(end.as_tuple().exponent) >= 0 for end in (least, most))
    lowest = 0 if is_whole or high - low >= _WHOLE_GROUPS else -320
    widths = (digit * Fraction(10) ** power for power in range(lowest, 320) for digit in (1, 2, 5))
    width = next(width for width in widths if high - low + is_whole <= _MOST_GROUPS * width)
    if is_whole:
        starts = [low + width * group for group in range(ceil((high + 1 - low) / width))]
        return {"edges": [int(edge) for edge in (*starts, high + 1)]}
    first, last = floor(low / width), floor(high / width) + 1
    return {"bins": [_number(first * width), _number(last * width)], "width": _number(width)}


def _number(value: Fraction) -> int | str:
    return int(value) if value.denominator == 1 else str(value)


def read_codebook(path: Path) -> dict[str, Coded]:
    """Read the variables of a codebook by name, in the order of the codebook."""
    ending = files.ending_of(path)
    variables = _of_ddi(path) if ending == ".xml" else _of_schema(path) if ending == ".json" else _of_table(path)
    if not variables:
        remedy = "Pass a table with the columns variable, code and label; a Table Schema (.json); or DDI (.xml)."
        raise BadTable("a codebook must name variables", came="none", where=str(path), remedy=remedy)
    return variables


class _HasEntities(Exception):
    """The XML has a DOCTYPE. Only a DOCTYPE can declare entities."""


class _WithoutEntities(ElementTree.TreeBuilder):
    # The parser finds a DOCTYPE in every encoding. A search of the bytes would miss it in UTF-16.
    def doctype(self, name: str, pubid: str, system: str) -> None:
        raise _HasEntities


def _of_ddi(path: Path) -> dict[str, Coded]:
    parser = ElementTree.XMLParser(target=_WithoutEntities())
    try:
        root = ElementTree.fromstring(path.read_bytes(), parser)
    except _HasEntities:
        raise BadTable("a codebook must declare no entities", came="a DOCTYPE", where=str(path)) from None
    except ElementTree.ParseError as error:
        came = f"other text, at line {error.position[0]}"
        raise BadTable("a DDI codebook must be XML", came=came, where=str(path)) from None
    except (LookupError, ValueError):
        remedy = "Save the codebook in UTF-8."
        required = "a DDI codebook must be XML in an encoding that is known"
        raise BadTable(required, came="another encoding", where=str(path), remedy=remedy) from None
    variables: dict[str, Coded] = {}
    for variable in _named(root, "var"):
        coded = variables.setdefault(variable.get("name", ""), Coded())
        for category in _named(variable, "catgry"):
            value = next((value.text or "" for value in _named(category, "catValu")), "").strip()
            label = next((label.text or "" for label in _named(category, "labl")), "").strip()
            if value:
                coded.add(value, label, is_missing=category.get("missing", "").upper() == "Y")
        coded.has_decimals = (variable.get("dcml") or "0").strip() not in ("", "0")
        for ends in (ends for valid in _named(variable, "valrng") for ends in _named(valid, "range")):
            least, most = _decimal(ends.get("min")), _decimal(ends.get("max"))
            if len(set(coded.codes) - set(coded.missing)) == 0:
                coded.least, coded.most = least, most
    variables.pop("", None)
    return variables


def _named(element: Any, name: str) -> Iterable[Any]:
    return (each for each in element.iter() if each.tag.rpartition("}")[2] == name)


def _of_schema(path: Path) -> dict[str, Coded]:
    facts = read_json(path, "a codebook must")
    if isinstance(facts, Mapping) and isinstance(facts.get("resources"), list):
        schemas = [each.get("schema") for each in facts["resources"] if isinstance(each, Mapping)]
    else:
        schemas = [facts]
    variables: dict[str, Coded] = {}
    for schema in schemas:
        fields = schema.get("fields") if isinstance(schema, Mapping) else None
        for one in fields if isinstance(fields, list) else ():
            if not isinstance(one, Mapping) or not isinstance(one.get("name"), str):
                continue
            coded = variables.setdefault(one["name"], Coded())
            limits = one.get("constraints")
            limits = limits if isinstance(limits, Mapping) else {}
            for each in one.get("categories") or limits.get("enum") or ():
                value, label = (each.get("value"), each.get("label")) if isinstance(each, Mapping) else (each, "")
                coded.add(str(value).lower() if isinstance(value, bool) else str(value), str(label or ""))
            if one.get("type") == "boolean" and not coded.codes:
                coded.codes = {"false": "", "true": ""}
            coded.least, coded.most = _decimal(limits.get("minimum")), _decimal(limits.get("maximum"))
            coded.has_decimals = one.get("type") == "number"
    return variables


def _of_table(path: Path) -> dict[str, Coded]:
    columns = files.columns(files.read(path))
    lowered = {name.strip().lower(): name for name in columns}

    def column(names: tuple[str, ...]) -> list[str] | None:
        found = next((lowered[name] for name in names if name in lowered), None)
        if found is None:
            return None
        # A program may have written the code 1 as the number 1.0.
        ends = (".0" if isinstance(cell, float) else "" for cell in columns[found])
        cells = ("" if cell is None else str(cell).strip() for cell in columns[found])
        return [cell.removesuffix(end) for cell, end in zip(cells, ends, strict=True)]

    variable, codes = column(_VARIABLE), column(_CODE)
    least, most, labels, types = column(_LEAST), column(_MOST), column(_LABEL), column(_TYPE)
    if variable is None or (codes is None and least is None):
        remedy = f"Rename two of the columns {', '.join(columns)} to variable and code."
        raise BadTable(
            "a codebook needs columns of variables and of codes", came="other columns", where=str(path), remedy=remedy
        )
    variables: dict[str, Coded] = {}
    name = ""
    for row in range(len(variable)):
        name = variable[row] or name  # many codebooks name the variable only at its first code
        coded = variables.setdefault(name, Coded())
        if least is not None and most is not None and least[row] and most[row]:
            coded.least, coded.most = _decimal(least[row]), _decimal(most[row])
            coded.has_decimals = types is not None and types[row].strip().lower() in _DECIMAL_TYPES
        if codes is not None and codes[row]:
            for code, label in _codes_of(codes[row], "" if labels is None else labels[row]):
                coded.add(code, label)
    variables.pop("", None)
    return variables


def _codes_of(cell: str, label: str) -> list[tuple[str, str]]:
    """The codes in a cell: one, or several as "1, men | 2, women" and "1=men; 2=women"."""
    parts = [part for part in re.split(r"\s*[|;\n]\s*", cell) if part]
    coded = [_CODED.fullmatch(part) for part in parts]
    if all(coded) and (len(parts) > 1 or "=" in cell):
        return [(match["code"], match["label"]) for match in coded if match]
    return [(part, label) for part in parts] if len(parts) > 1 else [(cell, label)]


def _decimal(text: Any) -> Decimal | None:
    try:
        number = Decimal(str(text).strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number.adjusted()) < 300 else None

"""Each format of table files is read by its ending or by its first bytes, has limits, and is documented."""

import inspect
import re
from pathlib import Path

import pytest

import utmost as ut
from utmost.errors import BadTable, Unsupported
from utmost.tables.files import files
from utmost.tables.files.saving import SavedTable
from utmost.tables.files.text_files import MemoryFile, ReadLimits
from utmost.tables.frames.table import Table

REFERENCE = Path(__file__).parents[2] / "docs/reference"
TABLE = {"town": ["x", "y"], "n": [1, 2]}
OF_RECORDS = b'[{"town": "x", "n": 1}, {"town": "y", "n": 2}]'
READ_ONLY = {"json": OF_RECORDS}
"""The table in each format that utmost does not write."""


def content(name, folder):
    """The table in a format, as bytes."""
    if name in READ_ONLY:
        return READ_ONLY[name]
    path = folder / f"written{files.FORMATS[name]}"
    with path.open("wb") as file:
        files.write(TABLE, file, path)
    return path.read_bytes()


def cells(path):
    return {column: [*map(str, found)] for column, found in files.columns(files.read(path)).items()}


@pytest.mark.parametrize("name", files.TABLE_FORMATS)
def test_a_format_is_read_by_each_of_its_endings_and_from_a_pipe(name, tmp_path):
    written = content(name, tmp_path)
    paths = [tmp_path / f"t{ending}" for ending in files.TABLE_FORMATS[name].endings]
    for path in paths:
        path.write_bytes(written)
    piped = MemoryFile.of("-", written)
    assert piped.suffix in files.TABLE_FORMATS[name].endings or name == "tsv"  # text is text, whatever separates it
    for path in (*paths, piped):
        assert cells(path) == {"town": ["x", "y"], "n": ["1", "2"]}, path.suffix


@pytest.mark.parametrize("name", files.TABLE_FORMATS)
def test_an_uploaded_file_of_each_format_has_a_limit_of_cells(name, tmp_path):
    from utmost.interfaces.service.workers import page_work

    limits = page_work._LIMITS
    assert cells(MemoryFile.of("t", content(name, tmp_path), limits)) == {"town": ["x", "y"], "n": ["1", "2"]}
    few = ReadLimits(cells=dict.fromkeys(limits.cells, 3), unpacked=limits.unpacked, remedy="Do it at home.")
    with pytest.raises(BadTable) as error:
        files.read(MemoryFile.of("t", content(name, tmp_path), few))
    assert error.value.remedy == "Do it at home."


@pytest.mark.parametrize("name", files.TABLE_FORMATS)
def test_each_format_is_named_where_people_look(name, run):
    form = files.TABLE_FORMATS[name]
    page = (REFERENCE / "tables.md").read_text(encoding="utf-8")
    reads, writes = next(
        row.strip("|").split("|")[1:]
        for row in re.findall(r"^\|.*\|$", page, re.MULTILINE)
        if f"`{form.endings[0]}`" in row
    )
    assert ("yes" in reads, "yes" in writes) == (True, form.write is not None)
    assert form.endings[0] in run("--help")[1]
    for method in (SavedTable.save, Table.write):
        endings = re.search(r"path: (?:File name|Path) (.*?)(?:\.\n|;)", inspect.getdoc(method), re.DOTALL)[1]
        assert (form.endings[0] in re.findall(r"\.[a-z]+", endings)) == (form.write is not None), method


def test_the_option_and_the_argument_for_a_format_name_each_that_is_written():
    shown = re.search(r"Table format: (.*?)\.$", (REFERENCE / "cli.md").read_text(encoding="utf-8"), re.MULTILINE)[1]
    argument = re.search(r"format: (.*?), if", inspect.getdoc(SavedTable.save))[1]
    for text in (shown, argument.replace('"', "")):
        assert re.split(r", | or ", text) == [*files.FORMATS]


@pytest.mark.parametrize("ending", ["ods", "json"])
def test_a_format_that_is_not_written_is_refused_before_a_draw(ending, tmp_path):
    promise = ut.Promise("n", public="town", unit=ut.Unit(1, 1))
    answer = ut.release(TABLE, promise, epsilon=1, once=True)
    with pytest.raises(Unsupported) as error:
        answer.save(tmp_path / f"t.{ending}")
    assert all(ending in error.value.remedy for ending in files.FORMATS.values())
    with pytest.raises(Unsupported) as error:
        files.read(tmp_path / "t.ods")
    assert all(form.endings[0] in error.value.required for form in files.TABLE_FORMATS.values())

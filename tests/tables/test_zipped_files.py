"""A table in a .zip archive is read as the file in it; what holds no table, or several, is refused by type."""

import zipfile
from pathlib import Path

import pytest

import utmost as ut
from utmost.errors import BadTable, Unsupported

TEXT = "region;n\n01;5\nKöln;7\n"


def packed(path: Path, *names: str, text: str = TEXT) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, text)
    return path


def test_a_zipped_table_is_counted_as_the_file_in_it(tmp_path):
    domain, whole = {"region": ["01", "Köln"]}, tmp_path / "t.csv"
    whole.write_text(TEXT, encoding="utf-8")
    for path in (whole, packed(tmp_path / "t.csv.zip", "folder/anything.csv")):
        assert ut.count_table(path, domain, ut.Counting(each_row=True)).cells.tolist() == [1, 1]


@pytest.mark.parametrize("names", [[], ["a.csv", "b.csv"]])
def test_an_archive_without_one_table_is_refused(tmp_path, names):
    with pytest.raises(BadTable, match="one file"):
        ut.count_table(packed(tmp_path / "t.csv.zip", *names), {"region": ["01"]}, ut.Counting(each_row=True))


def test_a_broken_archive_is_refused(tmp_path):
    whole = packed(tmp_path / "t.csv.zip", "t.csv", text="region\n" + "01\n" * 9999).read_bytes()
    for broken in (b"", b"PK", whole[:-30], whole[:60] + b"\0" * 20 + whole[80:]):
        (tmp_path / "b.csv.zip").write_bytes(broken)
        with pytest.raises(BadTable, match="well formed"):
            ut.count_table(tmp_path / "b.csv.zip", {"region": ["01"]}, ut.Counting(each_row=True))


def test_nothing_is_written_as_an_archive(tmp_path):
    promise = ut.Promise("n", public="g", unit=ut.Unit(1, 1))
    answer = ut.release({"g": ["a"], "n": [5]}, promise, epsilon=1)
    with pytest.raises(Unsupported):
        answer.save(tmp_path / "t.csv.zip")

"""Two readers of CSV agree: what NumPy reads in blocks is what Python's own reader reads, and so is what is written."""

import csv
import io
import re
import tracemalloc
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import utmost as ut
from small_sizes import set_sizes
from utmost.errors import BadTable, OutOfRange

# Two readers of one file are compared; which of them reads a file shows in no answer.
# Each of the two readers by itself; a release takes whichever can.
from utmost.tables.files import csv_table, files

# Everything that a reader may trip over, and in many orders: quotes, line ends of three kinds, separators, numbers.
bits = [*'aé1-+:/ ,"\n\r\t', "\r\n", '""', ',"', '",', '"\n', "12,", "\n7,8\n"]
anything = st.lists(st.sampled_from(bits), max_size=24)
numbers = st.integers(-(10**20), 10**20).map(str)
odd_cells = ["", " 3 ", "+5", "-0", "007", "1.50", "1e3", "x", "1:5", "1/5", 'a "b"', "c,d", "e\nf", "é"]
cells = st.one_of(numbers, st.sampled_from(odd_cells))


def outcome(path, delimiter):
    """All that can be seen of a file: its columns, the types of their cells, what is written; or the refusal."""
    adapter = csv_table._CsvAdapter()
    try:
        table = csv_table.read(path)
        columns = {name: adapter.column(table, name) for name in table.names}
        columns |= {f"identifiers {name}": adapter.identifiers(table, name) for name in table.names}
        laid = {table.header[0]: np.arange(table.rows) - 2, "more": [f'"{row},' for row in range(table.rows)]}
        laid["floats"] = np.arange(table.rows) * 1e15 / 3
        released = adapter.with_columns(table, laid, {"more": table.header[-1], "floats": table.header[-1]})
        texts = []
        for one in (table, released, adapter.without(released, table.header[1:])):
            content = io.BytesIO()
            csv_table.write(one, content, delimiter=delimiter)
            texts += [content.getvalue(), list(csv_table.rows(one)), files.head(one, 1)]
        kinds = {name: [type(cell) for cell in column] for name, column in columns.items()}
        firsts = [list(adapter.column(table, name, 1)) for name in table.names]
        places = [adapter.place(table, row) for row in range(min(table.rows, 2))]
        return {name: list(column) for name, column in columns.items()}, kinds, texts, firsts, places
    except BadTable as error:
        return str(error)


def both(path, delimiter, block):
    """The outcome of each reader: in blocks where that can be, and by records throughout."""

    def unlike(*_):
        raise csv_table.NotInBlocks

    with pytest.MonkeyPatch.context() as patch:
        set_sizes(patch, csv_block=block)
        fast = outcome(path, delimiter)
        patch.setattr(csv_table, "read_blocks", unlike)
        return fast, outcome(path, delimiter)


@given(anything, st.sampled_from(["a,b\n", "a\n", "", '"a,1",b\r\n', "\n"]), st.sampled_from([1, 5, 1 << 20]))
def test_any_text_is_read_and_written_alike_or_refused_alike(tmp_path_factory, parts, header, block):
    """Same cells, same types, same bytes written, same message, however the text is cut into blocks."""
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    path.write_bytes((header + "".join(parts)).encode())
    fast, slow = both(path, ",", block)
    assert fast == slow


@given(
    st.lists(st.tuples(cells, cells, numbers), max_size=30),
    st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["t.csv", "t.tsv"]),
    st.sampled_from([3, 40, 1 << 20]),
)
def test_whatever_a_writer_of_csv_writes_is_read_in_blocks(tmp_path_factory, rows, quoting, end, name, block):
    """A file as csv.writer writes it goes the quick way, and gives what the other way gives, under either separator."""
    path = tmp_path_factory.mktemp("csv") / name
    with path.open("w", encoding="utf-8", newline="") as file:
        delimiter = csv_table.delimiter_of(path)
        csv.writer(file, quoting=quoting, lineterminator=end, delimiter=delimiter).writerows([["a", "b", "n"], *rows])
    assert csv_table.read(path).in_blocks
    for written in ",\t":
        fast, slow = both(path, written, block)
        assert fast == slow


def test_a_column_of_integers_is_an_array_and_any_other_a_list(tmp_path):
    """As far as int64 reaches: the type says nothing about which reader read it."""
    path = tmp_path / "t.csv"
    path.write_text("n,m,x\n1, 3 ,9223372036854775807\n-2,+4,-9223372036854775808\n")
    adapter, table = csv_table._CsvAdapter(), csv_table.read(path)
    assert [adapter.column(table, name).tolist() for name in "nm"] == [[1, -2], [3, 4]]
    assert adapter.column(table, "x") == [2**63 - 1, -(2**63)]


_digits = st.text("0123456789", min_size=1, max_size=17)
_decimal_cells = st.one_of(
    st.decimals(-(10**6), 10**6, places=2).map(str),
    st.builds("{}{}{}".format, st.sampled_from(["", "+", "-"]), _digits, st.just("") | _digits.map(".{}".format)),
    st.sampled_from(["5.", ".5", "-", "+", "", " 1", "1..2", "1.2.3", "-.", "-0.0", "00.10", "1e3", "x.5", "9" * 19]),
)


@given(st.lists(_decimal_cells, min_size=1, max_size=6))
def test_decimals_of_a_block_are_the_numbers_that_its_cells_spell(tmp_path_factory, cells):
    path = tmp_path_factory.mktemp("decimals") / "t.csv"
    path.write_text("a,b\n" + "".join(f"x,{cell}\n" for cell in cells))
    (block,) = csv_table.read_blocks(path, 2, ",")
    read = block.decimals(1)
    plain = [re.fullmatch(r"[+-]?([0-9]+)([.][0-9]+)?", cell) for cell in cells]
    scale = max([len(cell[2] or ".") - 1 for cell in plain if cell], default=0)
    if not all(plain) or max(len(cell[1]) for cell in plain if cell) + scale > 18:
        assert read is None
    else:
        assert read is not None
        units, decimals = read
        assert decimals == scale
        assert [Decimal(int(unit)).scaleb(-scale) for unit in units] == list(map(Decimal, cells))


@pytest.mark.parametrize(
    "cells",
    [["12.00", "7", "-0.50"], ["1,5", "2"], ["0.005", "0.015", "0.025"], ["9.99", "-9", "1.5"], ["1.5", "-9.0"]],
)
@pytest.mark.parametrize(
    "spelling", [ut.Spelling(), ut.Spelling(decimal=","), ut.Spelling(missing_marks=[-9]), ut.Spelling(thousands=",")]
)
@pytest.mark.parametrize(
    "mean", [ut.sum("amount", per_cell=(-9, 99), step="0.01"), ut.sum("amount", per_cell=(-9, 99))]
)
def test_decimals_are_counted_as_their_texts_are(tmp_path, monkeypatch, cells, spelling, mean):
    path = tmp_path / "t.csv"
    path.write_text("who,place,amount\n" + "".join(f'{row},{row},"{cell}"\n' for row, cell in enumerate(cells)))
    seen = []
    for rows in (1 << 40, 0):  # texts, then Arrow's decimals
        set_sizes(monkeypatch, many_events=rows)
        try:
            counting = ut.Counting(person="who", at_most=1, key=b"k" * 32)
            counted = ut.count_table(path, {"place": ["0", "1", "2"]}, counting, measure=mean, spelling=spelling)
            seen.append([int(cell) for cell in counted.cells])
        except (BadTable, OutOfRange) as error:
            seen.append((type(error), str(error), getattr(error, "__notes__", [])))
    assert seen[0] == seen[1]


@given(st.floats())
def test_a_float_is_written_by_python_as_by_numpy(number):
    """The two readers write a laid column of floats each in its own way."""
    assert str(np.float64(number)) == str(number)


def test_a_record_longer_than_a_block_is_read(tmp_path):
    path = tmp_path / "t.csv"
    long = '"' + "x,\n" * 40_000 + '"'
    path.write_text(f"a,b\n{long},1\ny,2\n")
    with pytest.MonkeyPatch.context() as patch:
        set_sizes(patch, csv_block=5_000)
        assert sum(block.rows for block in csv_table.read_blocks(path, 2, ",")) == csv_table.read(path).rows == 2
        assert next(csv_table.rows(csv_table.read(path))) == [long[1:-1], "1"]


@pytest.mark.parametrize("size", [140_000, 3 << 20])
def test_a_long_cell_is_read_by_blocks_and_by_records(tmp_path, size):
    """A geometry or a free text; Python's reader alone stops at 131 072 characters."""
    path = tmp_path / "t.csv"
    for cell in ("x" * size, '"' + "x" * size + '"', '"x""' + "x" * size + '"'):
        path.write_text(f"a,b\n{cell},1\n")
        assert [row[1] for row in csv_table.rows(csv_table.read(path))] == ["1"]


def test_a_quote_that_never_closes_is_refused(tmp_path, monkeypatch):
    set_sizes(monkeypatch, csv_cell=1 << 18)
    before = csv.field_size_limit(1 << 10)
    try:
        path = tmp_path / "t.csv"
        path.write_text('a,b\n"' + "x,1\n" * (1 << 18))
        with pytest.raises(BadTable, match="262144"):
            csv_table.read(path)
    finally:
        csv.field_size_limit(before)


def test_the_rows_of_a_million_are_passed_on_as_they_are_written(tmp_path):
    """Progress counts rows; their sum is the table's."""
    path = tmp_path / "t.csv"
    path.write_text("a,n\n" + "".join(f"w{row},{row}\n" for row in range(200_000)))
    table = csv_table.read(path)
    counts, texts = zip(*csv_table.pieces(table), strict=True)
    assert sum(counts) == table.rows == 200_000
    assert len(counts) > 2
    assert b"".join(texts) == path.read_bytes()


def test_identifiers_that_are_plain_integers_take_no_more_than_the_integers(tmp_path):
    """Three million took 300 MB as texts, and a second."""
    path = tmp_path / "t.csv"
    path.write_text("id,n\n" + "".join(f"{one},1\n" for one in range(60_000)))
    table, adapter = csv_table.read(path), csv_table._CsvAdapter()
    tracemalloc.start()
    try:
        adapter.column(table, "id")
        alone = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        assert adapter.identifiers(table, "id").tolist() == [*range(60_000)]
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 2 * alone, (most, alone)

"""Files counted in columns of Arrow, and set aside on the disk: the table, and what is refused, is that of lists."""

import csv
import gzip
import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from counting_words import counted_with
from small_sizes import set_sizes
from utmost import Counting
from utmost.counting import count_table
from utmost.errors import BadTable
from utmost.tables.files import csv_table
from utmost.workloads import Domain, plain

KEY = b"k" * 32
PAGES = ["a", 'say "hi"', "two\nlines", "semi;colon, and comma", "ünï 🎈", "tail ", "'", '"', '""']
DOMAIN = Domain(page=plain(PAGES, other="elsewhere", missing="none"), side=["s0", "s1"])
WAYS = {"in memory": (1 << 21, 1 << 20, 1 << 24), "on the disk": (0, 150, 1 << 24)}
SAY = {"person": "user", "domain": DOMAIN, "at_most": 3, "key": KEY}


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    """Every file is one of many rows, whose events wait here or there."""
    set_sizes(monkeypatch, many_events=0, csv_block=2000, buckets=WAYS[request.param])
    return request.param


def events(rows=400, persons=40, seed=5):
    """Persons and pages as nobody wants them in a file; a page in twenty is blank."""
    rng = np.random.default_rng(seed)
    names = [f"{PAGES[k % len(PAGES)]} {k}" if k % 3 else f"{k}" for k in range(persons)]
    return {
        "user": [names[k] for k in rng.integers(0, persons, rows)],
        "page": [("", "\u2003", "unlisted", *PAGES * 7)[k] for k in rng.integers(0, 3 + 7 * len(PAGES), rows)],
        "side": [f"s{k}" for k in rng.integers(0, 3, rows)],
        "amount": rng.integers(-5, 9, rows).tolist(),
    }


def as_csv(columns, end="\n", delimiter=",", quoting=csv.QUOTE_MINIMAL):
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator=end, delimiter=delimiter, quoting=quoting)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()


def odd(columns):
    """A file that is not read in blocks: a quote in the midst of a cell that has none around it."""
    columns = dict(columns) | {"note": ['in"side'] * len(columns["user"])}
    return as_csv(columns).replace('"in""side"', 'in"side')


def files(folder, columns):
    texts = {
        "plain.csv": as_csv(columns),
        "all quoted.csv": as_csv(columns, quoting=csv.QUOTE_ALL),
        "windows.csv": "\ufeff" + as_csv(columns, "\r\n"),
        "tabs.tsv": as_csv(columns, delimiter="\t"),
        "semicolons.csv": as_csv(columns, delimiter=";"),
        "blank lines.csv": as_csv(columns, "\n").replace("\ntail", "\n\n\ntail") + "\n\n",
        "no last end.csv": as_csv(columns)[:-1],
        "odd.csv": odd(columns),
    }
    for name, text in texts.items():
        (folder / name).write_bytes(text.encode())
    with gzip.open(folder / "packed.csv.gz", "wb") as packed:
        packed.write(as_csv(columns).encode())
    arrow = pa.table(columns)
    pq.write_table(arrow, folder / "groups.parquet", row_group_size=37)
    feather.write_feather(arrow, str(folder / "whole.feather"))
    rows = zip(*columns.values(), strict=True)
    lines = (json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in rows)
    (folder / "lines.jsonl").write_text("".join(lines), encoding="utf-8")
    return sorted(folder.iterdir())


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"values": "amount", "per_cell": (-2, 3)},
        {"values": "amount", "each": (0, 4), "most_events": 3},
        {"person": None, "each_row": True, "at_most": None},
    ],
    ids=["events", "values", "sums and counts", "rows"],
)
def test_a_file_has_the_table_and_the_report_of_its_lists(tmp_path, monkeypatch, way, asked):
    """Each format, with cells as hostile as it can hold, beside lists that no file and no column of Arrow touched.

    All of them where events wait in memory: where they wait does not depend on what they are read from.
    """
    say = {name: word for name, word in (SAY | asked).items() if word is not None}
    columns = events()
    with monkeypatch.context() as few:
        set_sizes(few, many_events=1 << 40)
        wanted = counted_with(columns, **say)
    arrays = {name: np.array(cells) for name, cells in columns.items()}
    objects = {name: np.array(cells, dtype=object) for name, cells in columns.items()}
    many = 1 if way == "in memory" else 4
    for path in (columns, arrays, objects, *files(tmp_path, columns)[::many]):
        table = counted_with(path, **say)
        for label in wanted if isinstance(wanted, dict) else [None]:
            here, there = (wanted, table) if label is None else (wanted[label], table[label])
            assert here.cells.any()
            assert (there.cells.tolist(), there.cells.dtype) == (here.cells.tolist(), here.cells.dtype), path
            assert (there.unit, there.report) == (here.unit, here.report), path


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize(
    ("cells", "asked"),
    [
        ({"user": ""}, {}),
        ({"user": "\u2003"}, {}),
        ({"amount": ""}, {"values": "amount"}),
        ({"amount": "1.5"}, {"values": "amount"}),
        ({"amount": "much"}, {"values": "amount", "step": 1, "per_cell": 9}),
        ({"amount": "nan"}, {"values": "amount", "step": 1, "per_cell": 9}),
        ({"page": "much"}, {"domain": Domain(page=plain(PAGES), amount=[1, 2]), "at_most": 1}),
    ],
)
def test_a_file_is_refused_in_the_words_of_its_lists(tmp_path, monkeypatch, cells, asked):
    """Whatever way the events wait: the same error, of the same row; or the same table, where nothing is wrong."""
    columns = events()
    for name, cell in cells.items():
        columns[name][301] = cell
    (tmp_path / "events.csv").write_bytes(as_csv(columns).encode())
    texts = {name: tuple(map(str, column)) for name, column in columns.items()}  # tuples stay what they are
    texts["amount"] = csv_table.numbers_of(texts["amount"]) if asked.get("values") else texts["amount"]
    outcomes = []
    for table in (texts, tmp_path / "events.csv"):
        try:
            outcomes.append(counted_with(table, **{**SAY, **asked}).cells.tolist())
        except BadTable as error:
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]
    set_sizes(monkeypatch, many_events=1 << 40)
    try:
        outcomes.append(counted_with(tmp_path / "events.csv", **{**SAY, **asked}).cells.tolist())
    except BadTable as error:
        outcomes.append(str(error))
    assert outcomes[2] == outcomes[1]


@pytest.mark.usefixtures("way")
def test_progress_is_told_of_every_row(tmp_path):
    steps = []
    for path in files(tmp_path, events()):
        steps.clear()
        counted_with(path, **SAY, progress=lambda *step: steps.append(step))
        assert steps[-1] == (400, 400), path.name
        assert steps == sorted(steps)


def test_columns_of_a_block_are_its_texts(tmp_path):
    """Also cells of no byte, and of one that is the separator; a quote that stands for itself is left to the texts."""
    path = tmp_path / "t.csv"
    path.write_bytes('a,b,c\n1,"x,y","say ""hi"""\n,"",é\n'.encode())
    (piece,) = csv_table.CsvPieces(csv_table.read(path)).pieces()
    assert piece.block is not None
    for name in "abc":
        assert piece.in_arrow(name).to_pylist() == piece.texts(name)
        piece.in_arrow(name).validate(full=True)
    assert piece.block.buffers(1)[1].tobytes() == b"x,y"
    assert piece.block.buffers(2)[1] is None


@pytest.mark.parametrize("users", [["\ud800", "a"], [1 << 70, 7], [None, "a"], [7, "7"], [True, 1], [1.5, 2]])
def test_lists_that_no_column_of_arrow_holds_are_counted_as_lists(monkeypatch, users):
    """Halves of surrogate pairs, integers beyond 64 bits and mixtures: what is counted, and what is refused."""
    columns, outcomes = {"user": users * 3, "page": ["a", "b"] * 3}, []
    for many in (1 << 40, 0):
        set_sizes(monkeypatch, many_events=many)
        try:
            counted = count_table(columns, Domain(page=["a", "b"]), Counting("user", at_most=1, key=KEY))
            outcomes.append(counted.cells.tolist())
        except BadTable as error:
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("other", [True, 1.0])
def test_cells_that_are_equal_are_not_one_cell(other):
    """A reader remembers the places of texts and integers: 1 is listed, and what equals it is refused all the same."""
    with pytest.raises(BadTable, match="text or integers"):
        count_table({"user": ["a", "b"], "page": [1, other]}, Domain(page=[1]), Counting("user", at_most=1))

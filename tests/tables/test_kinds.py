"""Tables of every kind that people have: through a release and a ledger, and back as the kind that came."""

import gzip
import json
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather
from pyarrow import parquet as pq

import utmost as ut
from asking import asked
from running import with_recipe
from utmost.errors import BadTable, OutOfRange, Unsupported
from utmost.ledger import Ledger

WARDS, VISITS = ["Köln", "b; c", "d"], [5, 0, 12]
PLAIN = {"ward": WARDS, "n": VISITS}
PROMISE = {"columns": "n", "public": "ward", "unit": ut.Unit(1, 1)}
TEXT = 'ward;n\nKöln;5\n"b; c";0\nd;12\n'


def arrow():
    return pa.table(PLAIN)


def crosstab():
    frame = pd.DataFrame({"n": VISITS}, index=pd.Index(WARDS, name="ward"))
    frame.columns.name = "outcome"
    return frame


def written(content, name):
    """A path with this content in a folder of the test."""

    def make(folder):
        path = folder / name
        content(path) if callable(content) else path.write_bytes(content)
        return path

    return make


def folder_of_parquet(folder):
    (folder / "lake").mkdir()
    pq.write_table(arrow().slice(0, 1), folder / "lake" / "0.parquet")
    pq.write_table(arrow().slice(1), folder / "lake" / "1.parquet")
    return folder / "lake"


LINES = "".join(json.dumps({"ward": w, "n": n}) + "\n" for w, n in zip(WARDS, VISITS, strict=True)).encode()
KINDS = {
    "dict of lists": lambda folder: dict(PLAIN),
    "dict of arrays": lambda folder: {name: np.array(cells) for name, cells in PLAIN.items()},
    "pandas": lambda folder: pd.DataFrame(PLAIN),
    "pandas, nullable": lambda folder: pd.DataFrame(PLAIN).astype({"n": "Int8"}),
    "pandas, arrow": lambda folder: pd.DataFrame(PLAIN).astype({"n": "uint8[pyarrow]"}),
    "pandas, index": lambda folder: pd.DataFrame(PLAIN).set_index("ward"),
    "pandas, categories": lambda folder: pd.DataFrame(PLAIN).astype({"ward": "category"}),
    "pandas, crosstab": lambda folder: crosstab(),
    "pandas, series": lambda folder: crosstab()["n"],
    "polars": lambda folder: pl.DataFrame(PLAIN),
    "polars, lazy": lambda folder: pl.LazyFrame(PLAIN),
    "duckdb": lambda folder: duckdb.from_arrow(arrow()),
    "arrow": lambda folder: arrow(),
    "record batch": lambda folder: pa.RecordBatch.from_pydict(PLAIN),
    "reader": lambda folder: pa.RecordBatchReader.from_batches(arrow().schema, arrow().to_batches()),
    "csv": written(TEXT.replace(";n", ",n").replace("n;", "n,").replace(";5", ",5").replace(
        '";0', '",0').replace("d;12", "d,12").encode(), "t.csv"),
    "csv, semicolons": written(TEXT.encode(), "t.csv"),
    "csv, compressed": written(gzip.compress(TEXT.encode()), "t.csv.gz"),
    "tsv": written("ward\tn\nKöln\t5\nb; c\t0\nd\t12\n".encode(), "t.tsv"),
    "JSON lines": written(LINES, "t.jsonl"),
    "JSON lines, compressed": written(gzip.compress(LINES), "t.jsonl.gz"),
    "feather": written(lambda path: feather.write_feather(arrow(), path, compression="zstd"), "t.feather"),
    "parquet": written(lambda path: pq.write_table(arrow(), path), "t.parquet"),
    "folder of parquet": folder_of_parquet,
}  # fmt: skip
ENGINES = ("polars, lazy", "duckdb", "folder of parquet")


def columns_of(table):
    """Any released table as columns of text and numbers."""
    if isinstance(table, pl.LazyFrame):
        table = table.collect()
    if isinstance(table, pd.Series | pd.DataFrame):
        frame = table.reset_index() if isinstance(table, pd.Series) or table.index.names != [None] else table
        return {str(name): frame[name].tolist() for name in frame.columns}
    if isinstance(table, pl.DataFrame):
        return table.to_dict(as_series=False)
    if hasattr(table, "to_arrow_table"):
        table = table.to_arrow_table()
    if hasattr(table, "to_pydict"):
        return table.to_pydict()
    return {name: np.asarray(table[name]).tolist() for name in table}


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_of_every_kind_goes_through_a_release_and_a_ledger(kind, tmp_path):
    """Released, published, relaxed and viewed: labels, error bars and kind are those of the table that came."""
    make = KINDS[kind]
    is_engine = kind in ENGINES
    more = {"id_column": "ward"} if is_engine else {}
    (tmp_path / "once").mkdir()
    made = ut.release(make(tmp_path / "once"), ut.Promise(**PROMISE, **more), epsilon=1, once=True)
    answers = [made.table]
    with Ledger.open(tmp_path / "l.db", create=True, key=bytes(32)) as ledger:
        for at, ask in (("first", ledger.publish), ("again", ledger.relax)):
            (tmp_path / at).mkdir()
            promise = (ut.Promise(**PROMISE, **more),) if at == "first" else ()
            table = make(tmp_path / at)
            if kind == "folder of parquet" and at == "again":
                table = duckdb.read_parquet(f"{table}/*.parquet")
            answers.append(ask("r", table, *promise, epsilon=len(answers)).table)
        if not is_engine:
            answers.append(ledger.view("r", epsilon="1/2").table)
            assert columns_of(ledger.view("r", epsilon=1).table).keys() == columns_of(answers[1]).keys()
            assert list(map(int, columns_of(ledger.view("r", epsilon=1).table)["n"])) == columns_of(answers[1])["n"]
    for answer, epsilon in zip(answers, (1, 1, 2, "1/2"), strict=False):
        cells = columns_of(answer)
        assert sorted(cells) == ["n", "n_margin", "ward"]
        assert cells["ward"] == WARDS
        margin = ut.release(
            {"n": [1]}, ut.Promise(columns="n", unit=ut.Unit(1, 1)), epsilon=epsilon, once=True
        ).margin()
        assert cells["n_margin"] == [margin] * 3
    if not kind.startswith(("csv", "tsv", "JSON")):
        assert len({type(answer) for answer in answers}) == 1
    if isinstance(answers[0], pd.DataFrame):
        assert all(answer.index.names == answers[0].index.names for answer in answers)
        assert all((answer.index == answers[0].index).all() for answer in answers)
        assert all(answer.columns.equals(answers[0].columns) for answer in answers)
        kinds = {"pandas, nullable": "Int64", "pandas, arrow": "int64[pyarrow]"}
        assert {str(answer["n"].dtype) for answer in answers} == {kinds.get(kind, "int64")}


NAMES = {
    "years": (pd.DataFrame({2020: [1, 2], 2021: [3, 4]}), [2020, 2021], [2020, "2020_margin", 2021, "2021_margin"]),
    "pairs": (
        pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("men", 1), ("women", 2)], names=["sex", None])),
        [("men", 1), ("women", 2)],
        [("men", 1), ("men", "1_margin"), ("women", 2), ("women", "2_margin")],
    ),
    "a dict": ({2020: [1, 2]}, 2020, [2020, "2020_margin"]),
    "bins": (
        pd.DataFrame([[1, 2]], columns=pd.CategoricalIndex(["low", "high"], name="bin")),
        ["low", "high"],
        ["low", "low_margin", "high", "high_margin"],
    ),
}


@pytest.mark.parametrize("what", NAMES)
def test_columns_keep_names_that_are_no_text(what, tmp_path):
    """Years, pairs and bins: in what is released, and in a view of frames."""
    table, columns, names = NAMES[what]
    made = ut.release(table, ut.Promise(columns=columns, unit=ut.Unit(1, 1)), epsilon=1, once=True)
    assert list(made.table) == names
    with Ledger.open(tmp_path / "l.db", create=True) as ledger:
        said = ledger.publish("r", table, ut.Promise(columns=columns, unit=ut.Unit(1, 1)), epsilon=1).table
        seen = ledger.view("r", epsilon=1).table
        assert list(said) == names
        if isinstance(table, pd.DataFrame):
            assert list(seen) == names
            assert set(said.columns.names) == set(seen.columns.names) == {None}
    if not isinstance(table, pd.DataFrame):
        with pytest.raises(BadTable, match="distinct"):
            ut.release({2020: [1], "2020": [2]}, ut.Promise(columns="2020", unit=ut.Unit(1, 1)), epsilon=1, once=True)


def test_the_type_that_leaves_is_no_function_of_true_values():
    """Neighbours of which one needs 65 bits: where the released values fit, one type."""
    for number in (1, 2**62, 2**64):
        values = {"n": np.array([number, 1], dtype=object)}
        made = ut.release(values, ut.Promise(columns="n", unit=ut.Unit(1, 1)), epsilon=1, once=True).table["n"]
        assert made.dtype == (np.int64 if all(abs(cell) < 2**63 for cell in made.tolist()) else object)
    for kind in ("int8", "Int8", "uint8[pyarrow]", "float64"):
        small = pd.DataFrame({"n": pd.array([1, 2], dtype=kind)})
        made = ut.release(small, ut.Promise(columns="n", unit=ut.Unit(1, 1)), epsilon="1/1000", once=True).table["n"]
        assert str(made.dtype) in ("int64", "Int64", "int64[pyarrow]")


@pytest.mark.parametrize(("cell", "kind"), [(1 << 70, "decimal128(38, 0)"), (10**39, "string")])
def test_integers_beyond_64_bits_are_decimals_or_text_in_arrow(cell, kind):
    table = pa.table({"n": pa.array([Decimal(cell), Decimal(1)], pa.decimal256(50, 0))})
    made = ut.release(table, ut.Promise("n", unit=ut.Unit(1, 1)), epsilon=1, once=True).table
    assert str(made.schema.field("n").type) == kind
    assert abs(int(made["n"][0].as_py()) - cell) < 100


def test_levels_and_categories_of_dropped_rows_do_not_leave():
    """A frame that was cut down keeps the labels of all rows in its types; they are not published with it."""
    index = pd.MultiIndex.from_tuples([("a", 1), ("secret", 2)], names=["ward", "day"])
    whole = pd.DataFrame({"n": [7, 2], "kind": pd.Categorical(["x", "secret"])}, index=index)
    promise = {"columns": "n", "public": ["ward", "day", "kind"], "epsilon": 1, "unit": ut.Unit(1, 1)}
    made = ut.release(whole.iloc[:1], **asked(**promise), once=True).table
    assert "secret" not in made.index.levels[0]
    assert list(made["kind"].cat.categories) == ["x"]


def test_a_geodataframe_keeps_its_reference_system(tmp_path):
    geopandas = pytest.importorskip("geopandas")
    points = geopandas.points_from_xy([0, 1], [2, 3])
    frame = geopandas.GeoDataFrame({"n": [1, 2]}, geometry=points, crs="EPSG:3857")
    promise = {"columns": "n", "public": "geometry", "epsilon": 1, "unit": ut.Unit(1, 1)}
    with Ledger.open(tmp_path / "l.db", create=True) as ledger:
        made = [
            ut.release(frame, **asked(**promise), once=True).table,
            ledger.publish("r", frame, **asked(**promise)).table,
            ledger.view("r", epsilon=1).table,
        ]
    for answer in made:
        assert isinstance(answer, geopandas.GeoDataFrame)
        assert answer.crs == frame.crs
        assert answer.geometry.geom_equals(frame.geometry).all()


@pytest.mark.parametrize(
    ("kind", "out"),
    [
        ("dict of lists", "t.csv"),
        ("pandas, index", "t.csv"),
        ("polars", "t.tsv"),
        ("record batch", "t.csv.gz"),
        ("csv, semicolons", "t.jsonl"),
        ("polars", "t.jsonl.gz"),
        ("pandas, index", "t.feather"),
        ("dict of lists", "t.parquet"),
        ("record batch", "t.parquet"),
    ],
)
def test_a_release_is_saved_in_every_format_with_its_statement(kind, out, tmp_path):
    (tmp_path / "in").mkdir()
    made = ut.release(KINDS[kind](tmp_path / "in"), ut.Promise(**PROMISE), epsilon=1, once=True)
    said = made.save(tmp_path / out)
    assert json.loads((tmp_path / f"{out}.json").read_text()) == said
    back = ut.read_release(tmp_path / out).table
    assert list(back["ward"]) == WARDS
    assert list(map(int, back["n"])) == columns_of(made.table)["n"]
    with pytest.raises(Unsupported, match="existing file"):
        made.save(tmp_path / out)


def test_a_format_may_be_named_and_a_key_signs(tmp_path):
    made = ut.release(PLAIN, ut.Promise(**PROMISE), epsilon=1, once=True)
    made.save(tmp_path / "table.data", format="jsonl")
    assert json.loads((tmp_path / "table.data").read_text().splitlines()[0])["ward"] == "Köln"
    for name, wrong in (("t.ods", {}), ("t.csv", {"format": "ods"})):
        with pytest.raises((Unsupported, OutOfRange)):
            made.save(tmp_path / name, **wrong)
    assert not list(tmp_path.glob("t.*"))


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"ward;n\nK\xf6ln;1\n", "t.csv"),
        (gzip.compress(TEXT.encode(), mtime=0)[:-9], "t.csv.gz"),
        (b"no gzip", "t.csv.gz"),
        (b'{"n": 1}\n[2]\n', "t.jsonl"),
        (b'{"n": 1, "n": 2}\n', "t.jsonl"),
        (b'{"n": [1]}\n', "t.jsonl"),
        (b"", "t.jsonl"),
        (b"ARROW1 but no more", "t.feather"),
        (b"nothing of the kind", "t.arrow"),
    ],
)
def test_a_damaged_file_is_refused_and_not_quoted(content, name, tmp_path):
    path = written(content, name)(tmp_path)
    with pytest.raises(BadTable) as caught:
        ut.release(
            path,
            ut.Promise(columns="n", drop=["ward"] if b"ward" in content else [], unit=ut.Unit(1, 1)),
            epsilon=1,
            once=True,
        )
    assert "ln" not in str(caught.value).replace(str(tmp_path), "")


def test_a_file_in_utf_16_is_recognised_by_its_first_bytes(run, tmp_path):
    (tmp_path / "t.csv").write_text("sort,n\nKöln,3\n", encoding="utf-16")
    (tmp_path / "d.json").write_text('{"sort": ["Köln"]}')
    asked = ["release", tmp_path / "t.csv", "--each-row", "--by", "sort", "--domain", tmp_path / "d.json"]
    asked += ["--epsilon", 1]
    code, _, err = run(*asked, "--dry-run")
    assert (code, "Pass --encoding utf-16." in err) == (1, True), err
    assert run(*asked, "--encoding", "utf-16", "--dry-run")[0] == 0


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16"])
def test_an_encoding_is_named(run, encoding, tmp_path):
    path = written(TEXT.encode(encoding), "t.csv")(tmp_path)
    asked = ["release", path, "--columns", "n", "--public", "ward", "--sensitivity", 1, "--cells", 1, "--epsilon", 1]
    assert run(*asked, "--out", tmp_path / "o.jsonl")[0] == 1
    assert run(*with_recipe(*asked, "--encoding", encoding, "--out", tmp_path / "o.jsonl"))[0] == 0
    assert columns_of(ut.read_release(tmp_path / "o.jsonl").table)["ward"] == WARDS


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--encoding", "klingon"], "encoding"),
        (["--encoding", "base64"], "encoding"),
        (["--separator", ";;"], "separator"),
        (["--separator", '"'], "separator"),
        (["--separator", "é"], "separator"),
    ],
)
def test_encodings_and_separators_that_are_none_are_refused(run, words, said, tmp_path):
    path = written(TEXT.encode(), "t.csv")(tmp_path)
    asked = ["release", path, "--columns", "n", "--public", "ward", "--sensitivity", 1, "--cells", 1, "--epsilon", 1]
    code, out, err = run(*with_recipe(*asked, *words))
    assert (code, out) == (2, "")
    assert said in err


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "a;n\nx,y;2\n"),
        ("a.TXT", "a;n\nx,y;2\n"),
        ("b.csv", "a,n\nx;y,2\n"),
        ("c.TSV", "a\tn\nx,y\t2\n"),
    ],
)
def test_a_separator_that_is_said_is_obeyed_whatever_the_header_says(run, name, text, tmp_path):
    """Also the one that the ending says; a header that has none of it is one column."""
    path = written(text.encode(), name)(tmp_path)
    asked = ["release", path, "--columns", "n", "--public", "a", "--sensitivity", 1, "--cells", 1, "--epsilon", 1]
    assert run(*asked)[0] == 0
    for separator in (",", ";", "tab", "|"):
        code, _, err = run(*with_recipe(*asked, "--separator", separator))
        fits = {"tab": "\t"}.get(separator, separator) == text[1]
        assert (code == 0) == fits, err

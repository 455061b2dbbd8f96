"""Identifiers in Arrow's memory layout are read without Python strings, and answered and refused like others."""

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import utmost as ut
from asking import asked
from utmost import Unit
from utmost.errors import BadTable, WrongKind
from utmost.ledger import Ledger
from utmost.testing import seeded_ledger

TEXTS = [
    "", "a", "Zoë", "person 0000000001", " x ", "\u3042\u3044", "\U0001f600" * 9, "\u00a0y", "\u2003z", "\u3000\u3042",
]  # fmt: skip
IDS = [*TEXTS[1:], *(f"person {at:012}" for at in range(300))]
SAY = {"columns": "n", "unit": Unit(1, 1), "keyed_by_id": True, "id_column": "id", "drop": "id", "epsilon": 1}
COUNTS = np.arange(len(IDS)) * 7 % 40

ARROW = pa.table({"id": pa.array(IDS), "n": COUNTS})
KINDS = {
    "lists": {"id": IDS, "n": COUNTS.tolist()},
    "table": ARROW,
    "large": ARROW.cast(pa.schema([("id", pa.large_string()), ("n", pa.int64())])),
    "view": ARROW.set_column(0, "id", pa.array(IDS, pa.string_view())),
    "batch": ARROW.to_batches()[0],
    "chunks": pa.concat_tables([ARROW[:7], ARROW[7:7], ARROW[7:]]),
    "slice": pa.concat_tables([ARROW[:5], ARROW]).combine_chunks()[5:],
    "dictionary": ARROW.set_column(0, "id", pa.array(IDS).dictionary_encode()),
    "polars": pl.from_arrow(ARROW),
    "pandas": ARROW.to_pandas(),
    "pandas objects": ARROW.to_pandas().astype({"id": object}),
}


def published(place, table, **said):
    with seeded_ledger(place / "l.db", 0) as ledger:
        answer = ledger.publish("r", table, **asked(**SAY | said)).table
    return np.asarray(answer["n"]).tolist()


@pytest.mark.parametrize("kind", list(KINDS)[1:])
def test_a_table_of_any_kind_is_answered_alike(tmp_path, kind):
    """The same bits for each row: the noise depends on the identifier, not on its place in memory."""
    for at in "ab":
        (tmp_path / at).mkdir()
    assert published(tmp_path / "a", KINDS[kind]) == published(tmp_path / "b", KINDS["lists"])


BLANKS = [*" \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\u00a0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000", "", " \u3000 "]


@pytest.mark.parametrize("kind", ["table", "chunks", "polars"])
def test_a_missing_a_blank_and_a_second_identifier_are_refused_where_they_stand(tmp_path, kind):
    """The error names the row and no value, before anything is drawn; the memory of a process gives the same error."""
    with Ledger.open(tmp_path / "l.db", create=True, key=bytes(32)) as ledger:
        for identifier in (None, *BLANKS, "person 000000000007"):
            table = pa.concat_tables([ARROW, pa.table({"id": pa.array([identifier], pa.string()), "n": [1]})])
            table = {"table": table.combine_chunks(), "chunks": table, "polars": pl.from_arrow(table)}[kind]
            for publish in (partial(ledger.publish, "r"), ut.release):
                with pytest.raises(BadTable) as refused:
                    publish(table, **asked(**SAY))
                words = str(refused.value)
                assert f"row {len(IDS) + 1}" in words, ascii(identifier)
                assert "column 'id'" in words
                assert ("distinct" in words) == (identifier == "person 000000000007")
                assert "00007" not in words
        assert ledger.verify().events == 1


def test_objects_of_several_types_are_refused_one_by_one(tmp_path):
    frame = pd.DataFrame({"id": np.array(["a", 1, "c"], object), "n": [1, 2, 3]})
    with Ledger.open(tmp_path / "l.db", create=True) as ledger, pytest.raises(WrongKind, match="identifiers"):
        ledger.publish("r", frame, **asked(**SAY))


@pytest.mark.parametrize("named", [7, ("men", "all")], ids=str)
def test_a_column_whose_name_is_no_text_is_found_by_its_text(tmp_path, named):
    frame = pd.DataFrame([[one, int(n)] for one, n in zip(IDS, COUNTS, strict=True)], columns=[named, "n"])
    text = "men, all" if isinstance(named, tuple) else str(named)
    (tmp_path / "lists").mkdir()
    said = [
        published(place, table, id_column=text, drop=text)
        for place, table in ((tmp_path, frame), (tmp_path / "lists", {text: IDS, "n": COUNTS.tolist()}))
    ]
    assert said[0] == said[1]


@pytest.mark.parametrize("kind", ["table", "chunks", "polars", "lists"])
def test_no_rows_are_refused_alike(tmp_path, kind):
    with Ledger.open(tmp_path / "l.db", create=True) as ledger, pytest.raises(BadTable, match="row"):
        ledger.publish("r", KINDS[kind][:0] if kind != "lists" else {"id": [], "n": []}, **asked(**SAY))

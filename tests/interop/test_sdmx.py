"""SDMX-CSV 2.0 of released tables, by the rules of the field guide.

https://github.com/sdmx-twg/sdmx-csv, docs/data_message_field_guide.md: the rules stand at the tests that check them.
"""

import csv
import io
import re

import numpy as np
import pytest

import utmost as ut
from running import called
from utmost.errors import BadTable, OutOfRange, Unsupported
from utmost.interop import declared_noise, noisy_table, sdmx_csv

FLOW = "ONS:DF_PEOPLE(1.0.0)"
DOMAIN = ut.Domain(region=["N", "S, and more"], sex=["f", "m"])
PLAN = ut.workloads.Plan(DOMAIN, ut.Unit(1, 1), {"region sex": 1})


def plan_table(folder):
    release = ut.release(np.array([[5, 3], [9000, 1]]), PLAN, epsilon=1)
    release.save(folder / "r.csv", marginal="region sex")
    return release


def two_columns(folder):
    promise = ut.Promise(["men", "women"], public=["region", "year"], unit=ut.Unit(1, 2))
    table = {"region": ["N", "N"], "year": ["2025", "2026"], "men": [12, 13], "women": [7, 8]}
    ut.release(table, promise, epsilon=50).save(folder / "r.csv")


def rows(message):
    """The records of RFC 4180: every line ends in CR LF, and every record has as many fields as the header."""
    assert message.endswith("\r\n")
    assert not re.search(r"[^\r]\n", message)
    records = list(csv.reader(io.StringIO(message, newline=""), strict=True))
    assert {len(record) for record in records} == {len(records[0])}
    return records[0], [dict(zip(records[0], record, strict=True)) for record in records[1:]]


def test_a_table_of_a_plan_is_a_message(tmp_path):
    """STRUCTURE, STRUCTURE_ID and ACTION come first; then dimensions, measures and attributes, each once."""
    release = plan_table(tmp_path)
    header, observations = rows(sdmx_csv(tmp_path / "r.csv", FLOW, components={"region": "REF_AREA"}))
    assert header[:3] == ["STRUCTURE", "STRUCTURE_ID", "ACTION"]
    assert header[3:] == ["REF_AREA", "SEX", "OBS_VALUE", "OBS_STATUS", "MARGIN_OF_ERROR", "CONFIDENCE_LEVEL"]
    assert {(one["STRUCTURE"], one["STRUCTURE_ID"], one["ACTION"]) for one in observations} == {("dataflow", FLOW, "I")}
    table = release["region sex"]
    assert [int(one["OBS_VALUE"]) for one in observations] == table["count"].tolist()
    assert [one["REF_AREA"] for one in observations] == ["N", "N", "S, and more", "S, and more"]
    assert {(one["OBS_STATUS"], one["MARGIN_OF_ERROR"], one["CONFIDENCE_LEVEL"]) for one in observations} == {
        ("A", "3", "95")
    }


@pytest.mark.parametrize(("mark", "code"), [("withheld", "Q"), ("unreliable", "U")])
def test_withheld_cells_have_their_status_and_no_value(tmp_path, mark, code):
    """CL_OBS_STATUS 2.2: Q is a missing value, suppressed; U has low reliability. A measure may be empty."""
    plan_table(tmp_path)
    ut.read_release(tmp_path / "r.csv").withhold(below=1000, mark=mark)["region sex"].save(tmp_path / "w.csv")
    _, observations = rows(sdmx_csv(tmp_path / "w.csv", FLOW))
    assert [one["OBS_STATUS"] for one in observations] == [code, code, "A", code]
    assert [one["OBS_VALUE"] == "" for one in observations] == [code == "Q"] * 2 + [False, code == "Q"]


def test_clean_tables_have_no_margin_and_declared_noise_has_one(tmp_path):
    plan_table(tmp_path)
    ut.read_release(tmp_path / "r.csv").clean().save(tmp_path / "c.csv")
    header, observations = rows(sdmx_csv(tmp_path / "c.csv", FLOW))
    assert "MARGIN_OF_ERROR" not in header
    assert min(int(one["OBS_VALUE"]) for one in observations) >= 0
    noise = {"n": declared_noise("gaussian", sigma=1)}
    noisy_table({"region": ["N", "S"], "n": [1.5, 2]}, noise, source="them", confidence="0.995").save(
        tmp_path / "n.csv"
    )
    _, observations = rows(sdmx_csv(tmp_path / "n.csv", FLOW))
    assert [(one["OBS_VALUE"], one["CONFIDENCE_LEVEL"]) for one in observations] == [("1.5", "99.5"), ("2", "99.5")]


def test_of_several_columns_one_is_the_measure(tmp_path):
    two_columns(tmp_path)
    with pytest.raises(OutOfRange, match="measure"):
        sdmx_csv(tmp_path / "r.csv", FLOW)
    header, observations = rows(sdmx_csv(tmp_path / "r.csv", FLOW, column="women", components={"year": "TIME_PERIOD"}))
    assert header[3:6] == ["REGION", "TIME_PERIOD", "OBS_VALUE"]
    assert [one["OBS_VALUE"] for one in observations] == ["7", "8"]


REFUSED = {
    "no version": {"structure": "ONS:DF_PEOPLE"},
    "no agency": {"structure": "DF_PEOPLE(1.0)"},
    "two structures": {"structure": f"{FLOW},{FLOW}"},
    "a digit first": {"components": {"year": "1YEAR"}},
    "a fixed term": {"components": {"year": "ACTION"}},
    "one name twice": {"components": {"year": "REGION"}},
    "the name of the measure": {"components": {"year": "OBS_VALUE"}},
    "a public measure": {"column": "year"},
    "delete": {"action": "D"},
    "another kind": {"kind": "table"},
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_sdmx_cannot_name_is_refused(case, tmp_path):
    two_columns(tmp_path)
    words = {"structure": FLOW, "column": "men"} | REFUSED[case]
    with pytest.raises(OutOfRange):
        sdmx_csv(tmp_path / "r.csv", words.pop("structure"), **words)


def test_observations_need_keys_and_a_table(tmp_path):
    promise = ut.Promise("n", public="town", unit=ut.Unit(1, 1))
    ut.release({"town": ["Bonn", "Bonn"], "n": [1, 2]}, promise, epsilon=1).save(tmp_path / "r.csv")
    with pytest.raises(BadTable, match="observation"):
        sdmx_csv(tmp_path / "r.csv", FLOW)
    ut.release(np.array([[5, 3], [9, 1]]), PLAN, epsilon=1).save(tmp_path / "r.json")
    with pytest.raises(Unsupported):
        sdmx_csv(tmp_path / "r.json", FLOW)
    with pytest.raises(BadTable):
        sdmx_csv(tmp_path / "nothing.csv", FLOW)


def test_the_command_writes_the_message(tmp_path):
    plan_table(tmp_path)
    words = ("statement", "r.csv", "--sdmx", "m.csv", "--structure", FLOW, "--component", "region=REF_AREA")
    done = called(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    written = (tmp_path / "m.csv").read_bytes().decode()
    assert written == sdmx_csv(tmp_path / "r.csv", FLOW, components={"region": "REF_AREA"})
    assert called("statement", "r.csv", "--structure", FLOW, cwd=tmp_path).returncode == 2
    assert "--structure" in called("statement", "r.csv", "--sdmx", "n.csv", cwd=tmp_path).stderr


@pytest.mark.oracle
def test_another_library_reads_the_message(tmp_path):
    reader = pytest.importorskip("pysdmx.io", reason="pysdmx is not installed")
    plan_table(tmp_path)
    (tmp_path / "m.csv").write_text(sdmx_csv(tmp_path / "r.csv", FLOW), encoding="utf-8", newline="")
    (read,) = reader.read_sdmx(tmp_path / "m.csv", validate=True).data
    assert read.short_urn == f"Dataflow={FLOW}"
    assert list(read.data["OBS_STATUS"]) == ["A"] * 4

"""A released table described to other tools: Data Package and CSV on the web, as their own validators read them."""

import json
import subprocess
import sys
from hashlib import sha256

import numpy as np
import pytest

import utmost as ut
from running import called
from utmost.errors import BadTable, Unsupported
from utmost.statements import Deployment

DOMAIN = ut.Domain(town=["01", "Köln, alt"], sex=["f", "m"])
ABOUT = Deployment("People", ("Office",), description="Of a town.", published="2026-01-31", sources="https://a.example")


def declared(folder):
    noise = {"n": ut.interop.declared_noise("gaussian", sigma=1)}
    ut.interop.noisy_table({"town": ["01", "02"], "n": [7.5, 3]}, noise, source="Tumult").save(folder / "r.csv")
    return folder / "r.csv"


def cells(folder):
    promise = ut.Promise(["n.a", "_m"], public=["town", "day"], unit=ut.Unit(1, 2))
    table = {"town": ["01", "02"], "day": ["2025-01-01", "2025-01-02"], "n.a": [7, 10**20], "_m": [1, 2]}
    ut.release(table, promise, epsilon="1/2").save(folder / "r.csv")
    return folder / "r.csv"


def sums(folder):
    plan = ut.workloads.Plan(DOMAIN, ut.Unit(1, 1), {"town sex": "1/2", "town": "1/2"})
    ut.release(np.array([[5, 3], [9, 1]]), plan, epsilon=1).save(folder / "r.csv", marginal="town")
    return folder / "r.csv"


def means(folder):
    people = [f"01,{sex},10" for sex in "fm" * 15]
    (folder / "people.csv").write_text("\n".join(["town,sex,pay", *people]))
    (folder / "d.json").write_text(json.dumps({"town": ["01", "02"], "sex": ["f", "m"]}))
    made = called(
        "release", folder / "people.csv", "--each-row", "--by", "town,sex", "--domain", folder / "d.json",
        "--mean", "pay=0,20", "--epsilon", "1", "--out", folder / "r.csv",
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    return folder / "r.csv"


@pytest.mark.parametrize("release", [cells, sums, means])
def test_each_margin_names_its_column_and_labels_are_text(tmp_path, release):
    path = release(tmp_path)
    package = ut.interop.data_package(path, ABOUT, license="CC-BY-4.0")
    resource = package["resources"][0]
    fields = {field["name"]: field for field in resource["schema"]["fields"]}
    assert resource["hash"] == f"sha256:{sha256(path.read_bytes()).hexdigest()}"
    assert list(fields) == path.read_text().splitlines()[0].split(",")
    assert fields["town"]["type"] == "string"
    margins = [field for field in fields.values() if "uncertaintyOf" in field]
    assert margins
    assert all(field["confidence"] == "19/20" and field["uncertaintyOf"] in fields for field in margins)
    assert package["privacy"]["epsilon"] == ("1/2" if release is cells else "1")
    assert package["licenses"] == [{"name": "CC-BY-4.0"}]
    if release is cells:
        assert (fields["day"]["type"], fields["n.a"]["type"]) == ("date", "integer")


def test_a_table_of_declared_noise_says_that_nothing_is_promised(tmp_path):
    path = declared(tmp_path)
    package = ut.interop.data_package(path)
    assert package["privacy"]["definition"] == "none promised by utmost"
    assert "epsilon" not in package["privacy"]
    assert package["privacy"]["noise"] == [{"of": "n", "distribution": "Gaussian, variance 1, as declared"}]
    assert package["resources"][0]["schema"]["fields"][2]["uncertaintyOf"] == "n"
    ut.read_release(path).withhold(below=5).save(tmp_path / "w.csv")
    assert ut.interop.data_package(tmp_path / "w.csv")["privacy"] == package["privacy"]
    assert called("statement", path, "--package", tmp_path / "datapackage.json").returncode == 0
    assert called("statement", path, "--html", tmp_path / "page.html").returncode == 2


def test_a_changed_table_and_another_format_are_refused(tmp_path):
    path = cells(tmp_path)
    path.write_text(path.read_text().replace("02", "03"))
    with pytest.raises(BadTable):
        ut.interop.data_package(path)
    with pytest.raises(Unsupported, match=r"--out FILE\.csv; .*--tables DIR"):
        ut.interop.data_package(tmp_path / "r.parquet")


def test_the_command_writes_both_beside_the_table(tmp_path):
    path = cells(tmp_path)
    elsewhere = called("statement", path, "--package", tmp_path.parent / "datapackage.json")
    assert elsewhere.returncode == 2
    remedy = elsewhere.stderr.split("Write ")[1].strip().rstrip(".").split()
    assert called("statement", path, *remedy).returncode == 0
    package = json.loads((tmp_path / "datapackage.json").read_text())
    assert package == ut.interop.data_package(path)
    assert json.loads((tmp_path / "r.csv-metadata.json").read_text()) == ut.interop.csv_metadata(package)
    assert called("statement", path, *remedy).returncode == 2  # nothing is overwritten


@pytest.mark.oracle
@pytest.mark.parametrize("release", [cells, sums, means, declared])
def test_the_validators_of_both_formats_take_it(tmp_path, release):
    pytest.importorskip("frictionless")
    csvw = pytest.importorskip("csvw")
    path = release(tmp_path)
    package = ut.interop.data_package(path, ABOUT, license="CC-BY-4.0")
    (tmp_path / "datapackage.json").write_text(json.dumps(package))
    checked = subprocess.run(
        [sys.executable, "-m", "frictionless", "validate", "datapackage.json", "--json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert json.loads(checked.stdout)["valid"], checked.stdout
    described = tmp_path / "r.csv-metadata.json"
    described.write_text(json.dumps(ut.interop.csv_metadata(package)))
    read = csvw.CSVW(str(described), validate=True)
    assert read.is_valid
    assert not read.warnings
    assert next(iter(read.tables[0].iterdicts()))["town"] == "01"


def test_a_table_that_was_not_measured_states_its_own_margins_first(tmp_path):
    plan = ut.workloads.Plan(DOMAIN, ut.Unit(1, 1), {"town sex": 1})
    answer = ut.release(np.array([[5, 3], [9, 1]]), plan, epsilon=1)
    answer.save(tmp_path / "r.csv", marginal="sex")
    first, second = ut.interop.data_package(tmp_path / "r.csv")["privacy"]["noise"]
    assert first["of"] == "this table: 2 sums by sex"
    assert first["margins"]["19/20"] == str(max(answer["sex"]["count_margin"]))
    assert second["margins"]["19/20"] == str(max(answer["town sex"]["count_margin"]))

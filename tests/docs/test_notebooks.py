"""Notebooks: their code runs, they are kept without outputs, and nothing in them has to be installed."""

import contextlib
import io
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
QUICK = {"publisher", "analyst", "location-developer"}
ROLES = {"publisher", "analyst", "location-developer", "researcher", "collector-of-words", "four-papers"}


def cells(path, kind="code"):
    """The sources of the cells of one kind."""
    document = json.loads(path.read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in document["cells"] if cell["cell_type"] == kind]


def test_every_role_has_a_notebook():
    assert {path.stem for path in NOTEBOOKS} == ROLES


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_kept_without_outputs(path):
    """What git keeps has no outputs, so that a difference is a difference of words or code."""
    document = json.loads(path.read_text(encoding="utf-8"))
    assert (document["nbformat"], document["metadata"]["kernelspec"]["name"]) == (4, "python3")
    ids = [cell["id"] for cell in document["cells"]]
    assert len(set(ids)) == len(ids)
    for cell in document["cells"]:
        assert cell.get("outputs", []) == []
        assert cell.get("execution_count") is None
    assert document["cells"][0]["cell_type"] == "markdown"
    assert 'pip install ".[plot]"' in "".join(document["cells"][0]["source"])


@pytest.mark.parametrize("path", [path for path in NOTEBOOKS if path.stem in QUICK], ids=lambda path: path.stem)
def test_the_code_of_a_notebook_runs(path, monkeypatch):
    """Cell by cell, without a kernel, in the default run: those that take no longer than a second or two."""
    monkeypatch.chdir(ROOT / "notebooks")
    names = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()):
        for code in cells(path):
            exec(compile(code, path.name, "exec"), names)
            shown = names.get(code.rstrip().split("\n")[-1])
            if shown is not None:
                assert "<div" in (shown._repr_html_() or "") or shown._repr_png_()


@pytest.mark.notebooks
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_in_a_kernel(path):
    """In Jupyter's own kernel, with rich output where values show themselves."""
    client, formats = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    document = formats.read(path, as_version=4)
    formats.validate(document)
    client.NotebookClient(document, timeout=120, resources={"metadata": {"path": str(path.parent)}}).execute()
    kinds = {kind for cell in document.cells for output in cell.get("outputs", ()) for kind in output.get("data", ())}
    assert "text/html" in kinds
    assert "image/png" in kinds or path.stem == "four-papers"

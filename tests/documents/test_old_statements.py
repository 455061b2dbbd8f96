"""R14: a release with its statement, of each format ever written, is read for ever. The files stay as they are."""

import json
import shutil
from pathlib import Path

import pytest

from utmost.noise import Geometric
from utmost.publish.statements.statement_check import stated_plan

FORMATS = Path(__file__).parent / "formats"


@pytest.fixture(params=[1, 2])
def kept(request, tmp_path):
    """A copy of a release in this format, and what it says."""
    for path in FORMATS.glob(f"format-{request.param}.*"):
        shutil.copy(path, tmp_path)
    place = tmp_path / f"format-{request.param}.csv"
    said = json.loads((FORMATS / f"format-{request.param}.csv.json").read_text())
    assert said["format"] == request.param
    return place, said


def test_what_an_old_statement_promises_is_read(kept):
    _, said = kept
    plan = stated_plan(said)
    assert (plan.law, plan.unit.sensitivity, plan.unit.cells) == (Geometric(epsilon=1), 1, 1)
    with pytest.raises(Exception, match=r"per_cell"):
        stated_plan(said | {"per_cell": said["per_cell"] | {"epsilon": "1/100"}})


def test_an_old_release_is_verified_as_far_as_its_format_goes(kept, run):
    """Format 1 names no digest of its table, so nothing vouches for the table; format 2 does, and is signed."""
    place, said = kept
    if said["format"] == 1:
        code, _, err = run("verify", place)
        assert (code, "format 1 had none" in err) == (1, True)
        return
    code, shown, _ = run("verify", place, "--public-key", place.with_suffix(".pub"), "--json")
    found = json.loads(shown)
    assert (code, found["statement"], found["table"], found["signature"]) == (0, "consistent", "unchanged", "valid")
    place.write_text(place.read_text().replace("88", "89"))
    assert run("verify", place)[0] == 1

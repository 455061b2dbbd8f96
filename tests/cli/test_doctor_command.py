"""`utmost doctor`: what it finds, and that its self-check finds what is broken."""

import importlib.metadata
import json
import os
from fractions import Fraction
from time import process_time

import pytest

# Each part of the self-check is broken on purpose; an installation that is sound shows none.
from utmost.interfaces.cli import self_check
from utmost.ledger import Ledger
from utmost.noise import DiscreteStaircase, Geometric
from utmost.sampling import sample
from utmost.testing import SeededRandomness


def test_a_sound_installation_is_well_within_half_a_minute(run):
    begun = process_time()
    code, out, err = run("doctor", "--check", "--json")
    spent, report = process_time() - begun, json.loads(out)
    assert (code, err, report["well"]) == (0, "", True)
    assert [one["problem"] for one in report["check"]] == [""] * len(self_check.CHECKS)
    assert spent < 30  # of the processor: what others do on the machine is no fault of the installation
    assert min(one["seconds"] for one in report["check"]) > 0
    assert run("doctor")[0] == 0


def test_who_may_read_the_files_of_a_ledger_is_said(run, tmp_path):
    place = tmp_path / "r.db"
    with Ledger.open(place, create=True):
        pass
    code, out, _ = run("doctor", "--ledger", place, "--json")
    files = {one["what"]: one for one in json.loads(out)["files"]}
    assert code == 0
    assert {name: one["mode"] for name, one in files.items()} == dict.fromkeys(("ledger", "witness", "key"), "0600")
    os.chmod(files["key"]["path"], 0o644)
    code, out, _ = run("doctor", "--ledger", place)
    assert code == 1
    assert "Something is wrong" in out
    assert "chmod 600" in " ".join(out.split())
    assert run("doctor", "--ledger", tmp_path / "none.db")[0] == 1
    assert run("doctor", "--ledger", "postgresql://a:b@host/db")[0] == 2
    for nameless in (".", "/"):
        assert run("doctor", "--ledger", nameless)[0] == 2


@pytest.mark.parametrize(
    ("missing", "code", "said"), [("pyarrow", 0, 'pip install "utmost[tables]"'), ("highspy", 1, "highspy")]
)
def test_a_part_that_is_not_there_is_named_with_its_command(run, monkeypatch, missing, code, said):
    found = importlib.metadata.distribution
    gone = {missing: "no-such-package"}
    monkeypatch.setattr(importlib.metadata, "distribution", lambda name: found(gone.get(name, name)))
    ended, shown, _ = run("doctor")
    assert (ended, said in " ".join(shown.split())) == (code, True)


def test_a_source_of_bits_that_repeats_itself_is_found(run, monkeypatch):
    monkeypatch.setattr(os, "urandom", lambda count: bytes(count))
    code, out, _ = run("doctor", "--json")
    assert (code, json.loads(out)["randomness"]["healthy"]) == (1, False)


@pytest.mark.parametrize("distribution", [Geometric(1), DiscreteStaircase("1/2", 5)])
def test_chi_square_passes_the_distribution_and_fails_its_neighbours(distribution):
    """Draws at a level that is off by a twentieth, and draws with one value never drawn, are found out."""
    bits = SeededRandomness(1)
    assert self_check.chi_square_chance(distribution, sample(distribution, 200_000, randomness=bits)) > 1e-3
    wrong = type(distribution)(Fraction(21, 20) * distribution.epsilon, distribution.sensitivity)
    draws = sample(wrong, 200_000, randomness=bits)
    assert self_check.chi_square_chance(distribution, draws) < 1e-9
    draws = sample(distribution, 200_000, randomness=bits)
    assert self_check.chi_square_chance(distribution, draws[draws != 1]) < 1e-9


BROKEN = {
    "release": lambda *a, **k: (_ for _ in ()).throw(self_check.PromiseBroken("broken")),
    "sample": lambda distribution, size: sample(Geometric("1/2"), size),
    "optimal_mechanism": lambda ptype, consumer: type("Best", (), {"loss": 1}),
    "check_statement": lambda said, table: None,
    "_SOLVING": "print('Running a solver')",
    "geometric_channel": lambda n, alpha: type("C", (), {"matrix": [[1, 3], [1, 1]]}),
}
"""What stands in the place of a part; releases and their checks are of one check, the others of one each."""


def test_what_is_broken_fails_its_check_and_no_other(monkeypatch):
    names, failed = list(BROKEN), []
    for broken in (names[:3], names[3:]):
        with monkeypatch.context() as patch:
            for name in broken:
                patch.setattr(self_check, name, BROKEN[name])
            failed.append({one.name for one in self_check.self_check() if one.problem})
    assert [len(one) for one in failed] == [3, 3]
    assert [name.split()[1] for name in failed[0] & failed[1]] == ["statement"]

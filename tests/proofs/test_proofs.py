"""The theorems of proofs/: of the code's own distributions, checked by Coq, and refused where a fault is planted."""

import re
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from utmost.exact import Interval, level
from utmost.gradual import Bridge, Tightening
from utmost.noise import DiscreteStaircase, Geometric
from utmost.privacy import Unit
from utmost.publish.counting import contribution_selection as kept_pairs
from utmost.sampling import Thresholds
from utmost.workloads import Domain, charge_of

ROOT = Path(__file__).parents[2]
PROOFS = ROOT / "proofs"
if not PROOFS.is_dir():
    pytest.skip("the source archive holds no proofs", allow_module_level=True)

PROGRAMS = ("make", "coqc", "spin", "cc")
MISSING = [program for program in PROGRAMS if shutil.which(program) is None]
checked_by_coq = [
    pytest.mark.proofs,
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}; see proofs/README.md"),
]


def text(name):
    return (PROOFS / name).read_text(encoding="utf-8")


def higher_level(alpha):
    """Alpha 0 stands for epsilon = infinity."""
    return None if alpha == 0 else level(alpha=alpha)


def bridge(lower, at, higher, w, k):
    return Bridge(lower=level(alpha=lower), middle=level(alpha=at), higher=higher_level(higher)).pmf(k, w)


def half_step(h, alpha):
    """The distribution that a promise with `half_step` draws from at once."""
    return DiscreteStaircase(alpha=alpha, sensitivity=2 * h + 1, step=h + 1)


def half_step_given(h, known, response, alpha, k):
    """The same for a second response: the place within the block is kept, its multiple is drawn from a bridge."""
    block, place = divmod(response + h, 2 * h + 1)
    multiple, here = divmod(k + h, 2 * h + 1)
    return bridge(known, alpha, 0, block, multiple) if here == place else Fraction(0)


DISTRIBUTIONS = {
    "tsg": lambda alpha, k: Geometric(alpha=alpha).pmf(k),
    "stay": lambda higher, lower: Tightening(lower=level(alpha=lower), higher=higher_level(higher)).stay.number,
    "tighten": lambda higher, lower, k: Tightening(lower=level(alpha=lower), higher=higher_level(higher)).pmf(k),
    "bridge": bridge,
    "mixture": bridge,
    "half_first": lambda h, alpha, k: half_step(h, alpha).pmf(k),
    "half_next": lambda h, known, response, alpha, k: half_step_given(h, known, response, alpha, k),
    "staircase": lambda alpha, period, step, k: DiscreteStaircase(alpha=alpha, sensitivity=period, step=step).pmf(k),
}
EXAMPLES = re.findall(r"^Example (\w+) : (\w+) (.+) == (\d+) // (\d+)\.", text("Examples.v"), re.M)


@pytest.mark.parametrize(
    ("name", "distribution", "arguments", "above", "below"), EXAMPLES, ids=[line[0] for line in EXAMPLES]
)
def test_the_definitions_in_coq_have_the_values_of_the_library(name, distribution, arguments, above, below):
    """Each fraction of Examples.v, which Coq computes from its definitions, is what the library's distribution says."""
    words = re.findall(r"\(([^)]+)\)|(\S+)", arguments)
    numbers = [Fraction((grouped or plain).replace(" ", "").replace("//", "/")) for grouped, plain in words]
    numbers = [int(number) if number.denominator == 1 else number for number in numbers]
    assert DISTRIBUTIONS[distribution](*numbers) == Fraction(int(above), int(below))


def test_every_distribution_has_an_example():
    assert {distribution for _, distribution, *_ in EXAMPLES} == set(DISTRIBUTIONS)
    assert len(EXAMPLES) + len(("first_cells", "last_cells", "comb", "reached")) == text("Examples.v").count(
        "\nExample "
    )


def stated(page):
    """Theorem and file of each row of a table that names both, as `name` | `File.v`."""
    return re.findall(r"`(\w+)`[^|\n]*\| `(\w+\.v)`", page)


def printed_assumptions():
    return re.findall(r"^Print Assumptions (\w+)\.$", text("Assumptions.v"), re.M)


def test_the_readme_states_every_theorem_whose_assumptions_are_printed():
    """Each name is stated in words in the README, in the file that it names there, and nowhere is one left out."""
    rows = stated(text("README.md"))
    assert sorted(name for name, _ in rows) == sorted(printed_assumptions())
    for name, file in rows:
        assert re.search(rf"^(Theorem|Corollary|Lemma) {name}\b", text(file), re.M), f"{file} proves no {name}"


def test_the_claims_name_every_theorem_with_its_file():
    """The rows of claims.md that a machine has checked name the theorems whose assumptions are printed, no other."""
    page = (ROOT / "proofs/claims.md").read_text(encoding="utf-8").partition("## Checked by machine")[2]
    rows = re.findall(r"\| ([^|\n]*) \| ((?:`\w+\.v`(?:, )?)+) \|", page)
    names = [(name, files) for theorems, files in rows for name in re.findall(r"`(\w+)`", theorems)]
    assert sorted(name for name, _ in names) == sorted(printed_assumptions())
    home = dict(stated(text("README.md")))
    assert [name for name, files in names if f"`{home[name]}`" not in files] == []


def test_the_page_of_theory_names_theorems_that_are_there():
    page = (ROOT / "proofs/theory/checked-by-machine.md").read_text(encoding="utf-8")
    names = re.findall(r"`([a-z]+(?:_[a-z]+)+)`", page)
    assert set(names) <= set(printed_assumptions())
    assert f"builds all {len(printed_assumptions())} " in page


def test_the_cells_of_thresholds_are_those_of_the_library():
    """`first` and `last` of Sampler.v, by the intervals of Examples.v, are what `Thresholds.cells` says of them."""
    examples = text("Examples.v")
    low, high, first, last = (
        [int(number) for number in re.search(rf"{name}[^\n]*\[:: ([\d; ]+)\]", examples)[1].split(";")]
        for name in ("Definition low_of", "Definition high_of", "Example first_cells", "Example last_cells")
    )
    cuts = [Interval(below, above, 8) for below, above in zip(low, high, strict=True)]
    assert Thresholds(lambda bits: cuts).cells(2) == (first, last)


def listed(example):
    """The numbers of an example that is a list."""
    return [
        int(number)
        for number in re.search(rf"Example {example} [^\n]*== \[:: ([\d; ]+)\]", text("Examples.v"))[1].split(";")
    ]


def test_the_comb_is_that_of_the_library(monkeypatch):
    """`combed_size` of InAll.v is what `least_in_total` leaves of a person, where the comb begins at the same place."""
    mark = -(-(5 << 64) // 9)
    monkeypatch.setattr(kept_pairs, "item_tags", lambda *_: np.array([[mark]], dtype=np.uint64))
    pairs = kept_pairs.Pairs(np.zeros(3, dtype=int), np.arange(3), np.array([2, 3, 4]))
    assert kept_pairs.least_in_total(pairs, 4, ["Ada"], key=bytes(32)).tolist() == listed("comb")


def test_what_one_individual_reaches_is_that_of_the_library():
    """`reach`, `both` and `left_over` of Units.v are the charges of cells alone, in parts of the sensitivity."""
    domain, cells = Domain(cell=range(4)), {(0,): Fraction(1)}
    units = [
        Unit(2, 3, in_total=5),
        Unit(2, 3, "change-one", nonnegative=True, in_total=5),
        Unit(2, 3, "change-one", nonnegative=True, in_total=5, exactly=True),
    ]
    charges = [charge_of(domain, unit, cells) * unit.epsilon_parts * unit.sensitivity for unit in units]
    reach, both, left_over = listed("reached")
    assert charges == [reach, both, 2 * left_over]


def test_every_file_is_built():
    files = re.search(r"^FILES := (.*)$", text("Makefile"), re.M)[1].split()
    assert sorted(files) == sorted(path.stem for path in PROOFS.glob("*.v"))


# A fault in a definition or a statement, the file that it is planted in, and the text that it replaces.
FAULTS = {
    "noise with another constant": ("Geometric.v", "(1 - a) / (1 + a) * a ^+", "(1 - a) / (1 + a * a) * a ^+"),
    "a level half as higher": ("Geometric.v", "a ^+ `|d|%N * tsg a k <= tsg a (k - d)", "a * tsg a k <= tsg a (k - d)"),
    "tightening stays too often": ("Geometric.v", "b / a * ((1 - a) / (1 - b)) ^+ 2.", "b / a * ((1 - a) / (1 - b))."),
    "the bridge at home too often": ("Bridge.v", "b / m * (1 - a * m) * (a - m)", "b / m * (1 - a * b) * (a - m)"),
    "the bridge across with m for m^2": ("Bridge.v", "(a - m) / ((1 - m ^+ 2)", "(a - m) / ((1 - m)"),
    "a leap with another weight": ("Bridge.v", "rest * (a - m) / (a * (1 - a * m))", "rest * (a - m) / (1 - a * m)"),
    "idle for every W": ("Bridge.v", "if (n == 0%N) && (j == 0) then idle", "if j == 0 then idle"),
    "a step of the staircase too early": ("Staircase.v", "((`|k| + D - r) %/ D)%N", "((`|k| + D - r.-1) %/ D)%N"),
    "a staircase for shifts by D + 1": ("Staircase.v", "(`|d| <= D)%N -> b *", "(`|d| <= D.+1)%N -> b *"),
    "a release at the lowest level": ("Release.v", "p \\in t -> a <= p.1) ->\n", "p \\in t -> p.1 <= a) ->\n"),
    "a draw that forgets the next response": (
        "Release.v",
        "then link p (x, k) * link (x, k) q / link p q",
        "then link p (x, k)",
    ),
    "k + 1 cells": ("Counting.v", ":= take k (sort", ":= take k.+1 (sort"),
    "clipped from above alone": ("Counting.v", "Num.min h (Num.max l (total p a))", "Num.min h (total p a)"),
    "k - 1 cells promised": ("Counting.v", "most *+ minn k n.\nProof.\nhave E", "most *+ minn k.-1 n.\nProof.\nhave E"),
    "a replacement that is charged once": ("Counting.v", "most *+ (2 * minn k n)", "most *+ minn k n"),
    "a comb of one tooth more": ("InAll.v", "((P * c + u) %/ T)%N", "((P.+1 * c + u) %/ T)%N"),
    "a comb that begins anywhere": ("InAll.v", "((mark p * in_total p) %/ marks)%N", "mark p"),
    "a bound in all that is charged once": ("InAll.v", "<= 2 * P)%N", "<= P)%N"),
    "cells that are not bounded in all": ("Units.v", "minn (minn (s * k) P) (s * n)", "minn (minn k P) (s * n)"),
    "a plan that pays once for a replacement": (
        "Units.v",
        "(rest * whole) ^+ (2 * reach) * said x y <= said (moved x (replaced c c')) y.",
        "(rest * whole) ^+ reach * said x y <= said (moved x (replaced c c')) y.",
    ),
    "a total for nothing": ("Units.v", "(rest ^+ both * whole ^+ (2 * reach - both)) * said", "(rest ^+ both) * said"),
    "somebody with less": ("Units.v", "& size_in_all c = reach]", "& (size_in_all c <= reach)%N]"),
    "less left over than there is": ("Units.v", "minn reach (s * n - reach).", "minn reach (s * n - reach).-1."),
    "corners without nothing": ("Signed.v", "forall a, c a = 0 \\/ c a = s%:Z.", "forall a, c a = s%:Z."),
    "a cell that is lowered": ("Signed.v", "forall a, 0 <= d a <= s%:Z.", "forall a, - s%:Z <= d a <= s%:Z."),
    "a person in every part": ("Counting.v", "| chosen p == j]", "| chosen p == chosen p]"),
    "a row charged once for all its changes": (
        "Strategies.v",
        ":= \\prod_i alpha i ^+ `|row_value d i|%N",
        ":= \\prod_i alpha i",
    ),
    "a first cell rounded up": (
        "Sampler.v",
        "(word t)%:Z) %/ (2 ^ precision t)%:Z)%Z.",
        "(word t)%:Z) %/ (2 ^ precision t)%:Z)%Z + 1.",
    ),
    "a last cell too early": ("Sampler.v", "(2 ^ precision t)%:Z)%Z - 1.", "(2 ^ precision t)%:Z)%Z - 2."),
    "sure at the last cell": ("Sampler.v", "(last t (index t u).-1 < u%:Z)", "(last t (index t u).-1 <= u%:Z)"),
    "a rest that forgets the whole cells": (
        "Sampler.v",
        "(T j * (2 ^ b)%:R - (taken j)%:R) / left_over",
        "T j * (2 ^ b)%:R / left_over",
    ),
    "a fair sign": ("Sampler.v", "Negz i => a / (1 + a)", "Negz i => 1 / (1 + a)"),
    "a witness that does not compare": (
        "Ledger.v",
        "at_ s p = Drawn c b -> chain s = c ->",
        "at_ s p = Drawn c b ->",
    ),
    "an answer before it is settled": ("Ledger.v", "at_ s p = Settled b ->", "(exists c, at_ s p = Held c b) ->"),
    "a batch with an item twice": ("Ledger.v", "-> uniq (items b) -> ~~ has", "-> ~~ has"),
    "a batch that is settled in part": (
        "Ledger.v",
        "(maxn (settled s) (size (c ++ b))) (given s) (answers s) (put s p (Settled b))",
        "(maxn (settled s) (size c)) (given s) (answers s) (put s p (Settled b))",
    ),
    "a block around no middle": ("HalfStep.v", "((z + h%:Z) %/ D%:Z)%Z.", "(z %/ D%:Z)%Z."),
    "a place that is drawn anew": ("HalfStep.v", "(alike y p.2)%:R else", "D%:R^-1 else"),
    "a value that moves by D + 1": ("HalfStep.v", "proper t -> (`|u - v| <= D)%N", "proper t -> (`|u - v| <= D.+1)%N"),
    "a lost continuation for nothing": ("Resumed.v", "  (c * w * s) ^+ `|u", "  (c * s) ^+ `|u"),
    "a table charged for the cells that stay": (
        "HalfStep.v",
        "\\prod_(i | u i != v i) a i",
        "\\prod_(i | u i == v i) a i",
    ),
    "a lost continuation of a table for nothing": ("Resumed.v", "(c i * w i * s i) ^+ `|u i", "(c i * s i) ^+ `|u i"),
    "a charge without what both share": ("Resumed.v", "  (c * w * s) ^+ `|u", "  (w * s) ^+ `|u"),
    "a person who is answered anew": (
        "Answers.v",
        "if earlier t p is Some a then (y == a)%:R else C (x t p) y",
        "C (x t p) y",
    ),
    "whoever proposes decides": ("Approvals.v", "-> q != by_ r -> d =", "-> d ="),
    "a promise that nobody approved": ("Approvals.v", "-> m = what r -> anyone", "-> anyone"),
    "a service that does not ask who decides": (
        "Approvals.v",
        "is_waiting (decided r) && (q != by_ r)",
        "is_waiting (decided r)",
    ),
    "a service that does not compare the promise": ("Approvals.v", "m == what r & anyone r", "true & anyone r"),
    "a decision that is changed": ("Approvals.v", "-> decided r = Waiting -> q", "-> q"),
    "a store read beyond what is settled": (
        "Ledger.v",
        "at_ s p = Read i c -> settled s <= size c ->\n    step s (State (chain s) (settled s) (size (chain s)) "
        "(answers s) (put s p (Checked i (chain s))))",
        "at_ s p = Read i c ->\n    step s (State (chain s) (settled s) (given s) (answers s) (put s p (Checked i c)))",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_has_its_place(fault):
    """The text that a fault replaces stands in its file once."""
    file, right, wrong = FAULTS[fault]
    assert text(file).count(right) == 1
    assert right != wrong


def make(folder, build, target):
    command = ["make", "--no-print-directory", "-C", str(folder), f"BUILD={build}", target]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A copy of the sources, and what `make` says and leaves when it builds the theorems from nothing."""
    home = tmp_path_factory.mktemp("proofs")
    shutil.copytree(PROOFS, home / "sources")
    return home, make(home / "sources", home / "build", "theorems")


class TestCoq:
    pytestmark = checked_by_coq

    def test_every_theorem_is_proved_and_rests_on_no_axiom(self, built):
        home, ended = built
        assert ended.returncode == 0, ended.stdout + ended.stderr
        spoken = (home / "build/Assumptions.out").read_text(encoding="utf-8")
        assert spoken.splitlines() == ["Closed under the global context"] * len(printed_assumptions())

    @pytest.mark.parametrize("word", ["Admitted.", "admit.", "Axiom free : False.", "Parameter free : False."])
    def test_what_is_left_open_is_refused(self, built, tmp_path, word):
        home, _ = built
        shutil.copytree(home / "sources", tmp_path / "sources")
        with (tmp_path / "sources/Counting.v").open("a", encoding="utf-8") as file:
            file.write(f"{word}\n")
        assert make(tmp_path / "sources", home / "build", "complete").returncode != 0

    @pytest.mark.parametrize("fault", FAULTS)
    def test_a_planted_fault_is_refused(self, built, tmp_path, fault):
        """With one definition or statement changed, the proofs are no proofs: `make` stops at an error of Coq."""
        home, _ = built
        for folder in ("sources", "build"):
            shutil.copytree(home / folder, tmp_path / folder)  # with their times, so that only what depends is built
        file, right, wrong = FAULTS[fault]
        path = tmp_path / "sources" / file
        path.write_text(text(file).replace(right, wrong), encoding="utf-8")
        ended = make(tmp_path / "sources", tmp_path / "build", "theorems")
        assert ended.returncode != 0
        assert f'File "./{file}"' in ended.stdout + ended.stderr

    def test_the_protocol_holds_whole_and_without_any_step_it_does_not(self, tmp_path):
        """Spin tries every interleaving; five planted faults of the protocol are found, and no error without them."""
        ended = make(PROOFS, tmp_path, "protocol")
        assert ended.returncode == 0, ended.stdout + ended.stderr
        assert re.findall(r"fault (\d): (\d) errors", ended.stdout) == [
            ("0", "0"),
            *((str(n), "1") for n in range(1, 6)),
        ]

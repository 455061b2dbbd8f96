"""Check this installation in at most half a minute: noise, draws, a proof, a statement and a ledger."""

import dataclasses
import math
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

import numpy as np

from utmost.core.exact.levels import level
from utmost.core.noise.combination import Combination
from utmost.core.noise.discrete_staircase import DiscreteStaircase
from utmost.core.noise.geometric import Geometric
from utmost.core.noise.integer_distribution import IntegerDistribution
from utmost.core.noise.repeated_sums import RepeatedSum
from utmost.core.privacy.unit import Unit
from utmost.core.sampling.draw import sample
from utmost.design.channels.on_counts import geometric_channel
from utmost.design.optima.optimum import optimal_mechanism
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.design.spaces import losses, priors
from utmost.design.spaces.consumer import Consumer
from utmost.design.spaces.families import counts
from utmost.errors import BadTable, PromiseBroken, UtmostError
from utmost.publish.ledger.ledger import Ledger
from utmost.publish.ledger.releasing import release
from utmost.publish.promises.promise import Promise
from utmost.publish.promises.statement import check_statement
from utmost.tables.admissions import ADMISSIONS

_DRAWS = 200_000
_LIBRARIES = ("numpy", "cryptography", "flint", "highspy", "numba", "pyarrow", "duckdb", "matplotlib")
_ALARM = 1e-9
"""Probability below which the check of draws fails: less than one false alarm in 10^9 runs."""


@dataclasses.dataclass(frozen=True, slots=True)
class SelfCheck:
    name: str
    problem: str  # empty if none was found
    seconds: float


def self_check() -> list[SelfCheck]:
    """Run every check; a failure does not stop the others."""
    checks = []
    for name, check in CHECKS.items():
        begun = monotonic()
        try:
            check()
            problem = ""
        except (UtmostError, AssertionError, OSError) as error:
            problem = str(error) or type(error).__name__
        checks.append(SelfCheck(name, problem, monotonic() - begun))
    return checks


def _require(*, holds: bool, what: str) -> None:
    if not holds:
        raise PromiseBroken(
            what, came="something else", remedy="Report this problem, with the output of utmost doctor --json."
        )


def check_distributions() -> None:
    """Check in rationals that probabilities sum to 1, and differ by a factor of at most e^epsilon for neighbours."""
    for distribution in (
        Geometric(alpha="1/2"),
        DiscreteStaircase(alpha="1/3", sensitivity=5),
        DiscreteStaircase(alpha="1/2", sensitivity=2),
    ):
        reach, wide = 60, distribution.sensitivity
        masses = {k: distribution.pmf(k) for k in range(-reach - wide, reach + wide + 1)}
        tails = 2 * distribution.ccdf(reach)
        total = sum(masses[k] for k in range(-reach, reach + 1)) + tails
        _require(holds=total == 1, what="the probabilities of a distribution must sum to 1")
        worst = max(masses[k] / masses[k + s] for k in range(-reach, reach + 1) for s in range(-wide, wide + 1))
        _require(
            holds=worst == 1 / distribution.alpha, what="probabilities of neighbours must differ by exactly the level"
        )
    matrix = geometric_channel(6, alpha="1/2").matrix
    ratios = [a / b for row, other in pairwise(matrix) for a, b in zip(row, other, strict=True)]
    _require(holds=all(Fraction(1, 2) <= r <= 2 for r in ratios), what="a channel must satisfy its level in each entry")


def check_draws() -> None:
    """Check by chi-square that draws from the operating system's randomness have the stated distribution."""
    for distribution in (Geometric(1), DiscreteStaircase("1/2", 5)):
        is_likely = chi_square_chance(distribution, sample(distribution, _DRAWS)) > _ALARM
        _require(holds=is_likely, what="draws must have the stated distribution")


def chi_square_chance(distribution: IntegerDistribution, draws: np.ndarray) -> float:
    """Return Chernoff's bound on the chance that a correct sample has a chi-square at least as large as these draws."""
    # Bins are single integers with at least 50 expected draws, and the two tails.
    reach = int(np.flatnonzero(np.asarray(distribution.pmf(np.arange(10_000.0))) * draws.size >= 50).max(initial=1))
    expected = np.asarray(distribution.pmf(np.arange(-reach, reach + 1.0)))
    expected = (
        np.concatenate([[float(distribution.ccdf(float(reach)))], expected, [float(distribution.ccdf(float(reach)))]])
        * draws.size
    )
    clipped = np.clip(draws, -reach - 1, reach + 1).astype(np.int64) + reach + 1
    seen = np.bincount(clipped, minlength=expected.size)
    statistic = float(((seen - expected) ** 2 / expected).sum())
    free = expected.size - 1
    ratio = statistic / free
    # Chernoff: P(X >= ratio * free) <= (ratio exp(1 - ratio))^(free/2) for a ratio above 1.
    return 1.0 if ratio <= 1 else math.exp(free / 2 * (math.log(ratio) + 1 - ratio))


def check_sums() -> None:
    """Check the margin of a sum of 24 noises in two ways: by a Fourier series, and by a product of polynomials."""
    combined, other = Combination([1], 1, counts=[24]).margin(), RepeatedSum(Geometric(1), 24).margin()
    _require(holds=combined == other == 13, what="two computations of a margin must agree")


def check_proof() -> None:
    """Check the certificate of a best mechanism without the solver."""
    best = optimal_mechanism(PrivacyType(counts(5), alpha="1/2"), Consumer(priors.uniform(6), losses.absolute))
    _require(holds=best.loss == Fraction(43, 48), what="the least loss must be 43/48")
    _require(holds=best.certificate.verify(), what="a certificate must prove its loss")


def check_statements() -> None:
    """Check a released table against its statement, and check that a changed table is refused."""
    table = {"sex": ADMISSIONS["sex"][:2], "admitted": ADMISSIONS["admitted"][:2]}
    answer = release(table, Promise("admitted", public="sex", unit=Unit(1, 1)), epsilon=1, once=True)
    check_statement(answer.statement, answer.table)
    changed = {**answer.table, "admitted": [int(cell) + 1 for cell in answer.table["admitted"]]}
    try:
        check_statement(answer.statement, changed)
    except BadTable:
        return
    _require(holds=False, what="a changed table must be found")


def check_ledger() -> None:
    """Check a ledger's publishing, relaxing, viewing, repeating and verifying, and the cost of its answers."""
    table = {"sex": ADMISSIONS["sex"], "admitted": ADMISSIONS["admitted"]}
    with TemporaryDirectory(prefix="utmost-check-") as folder:
        path = Path(folder) / "releases.db"
        with Ledger.open(path, create=True) as ledger:
            promise = Promise("admitted", drop="sex", unit=Unit(1, 1))
            ledger.publish("check", table, promise, epsilon="1/4")
            sharper = ledger.relax("check", table, epsilon=1)
            ledger.view("check", epsilon="1/2")
        with Ledger.open(path) as ledger:
            again = ledger.view("check", epsilon=1)
            same = bool(again.table["admitted"] == sharper.table["admitted"])
            _require(holds=same, what="a ledger must repeat its answer")
            _require(holds=ledger.spent("check") == level(1), what="all answers together must cost the largest level")
            verification = ledger.verify()
            _require(holds=verification.responses == 3, what="a ledger must contain its three answers")


_SOLVING = f"""
from contextlib import suppress
from importlib import import_module
for name in {_LIBRARIES}:
    with suppress(ImportError):
        import_module(name)
from utmost.core.programs.highs import solve
from utmost.core.programs.linear_program import LinearProgram
from utmost.core.programs.highs import solve_whole
program = LinearProgram.of_triplets([2, 2.5], [0, 0], [0, 1], [2, 3], lower=[7], upper=[float("inf")])
solve(program), solve_whole(program)
"""


def check_silence() -> None:
    """Check that libraries print nothing on standard output while they load and solve."""
    done = subprocess.run([sys.executable, "-P", "-c", _SOLVING], stdin=subprocess.DEVNULL, capture_output=True)
    _require(holds=done.returncode == 0, what="a separate process must solve a program")
    if done.stdout:
        raise PromiseBroken(
            "libraries must print nothing on standard output while they are loaded and while they solve",
            came=repr(done.stdout.splitlines()[0].decode("utf-8", "replace")[:70]),
            remedy="Answers of utmost's commands and of its service are correct, but the output of your own programs "
            "is mixed with this text. Install another version of the library that prints.",
        )


CHECKS: dict[str, Callable[[], None]] = {
    "distributions, by enumeration in rationals": check_distributions,
    f"{_DRAWS:,} draws of each of two distributions, by chi-square": check_draws,
    "a margin, computed in two ways": check_sums,
    "a best mechanism, by its certificate": check_proof,
    "a statement and a changed table": check_statements,
    "a ledger: published, relaxed, viewed, reopened, verified": check_ledger,
    "a silent solver: nothing on standard output but answers": check_silence,
}
"""The checks by name, in the order in which they run."""

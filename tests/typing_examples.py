"""What type checkers know of the public calls: each type is stated, and mypy and pyright agree (see `test_typing`).

Nothing here is run by the suite; it must type as users' code does, with the checkers' strict settings.
"""
# pyright: strict, reportUnnecessaryTypeIgnoreComment=true

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, assert_type

import utmost as ut
from utmost.counting import CountedTable, count_keys
from utmost.errors import BudgetExceeded, UtmostError
from utmost.exact import Level

# No checker knows that a frame has these verbs.
from utmost.interfaces.interop.frame_methods import FrameMethods
from utmost.interop import register_frames
from utmost.ledger import Budget, Release
from utmost.noise import IntegerDistribution
from utmost.optima import Optimum
from utmost.promises import Promise
from utmost.releases import Answer, CleanTable, Estimate, WithheldTable, WithheldTables

TABLE: dict[str, list[str] | list[int]] = {"department": ["A", "B"], "admitted": [601, 370]}
EVENTS: dict[str, list[Any]] = {"user": ["ann", "bob"], "page": ["A", "B"], "amount": [3, 4]}


@dataclass(frozen=True)
class OwnNoise(IntegerDistribution):
    """A noise of one's own, with its level as a field."""

    level: Level
    sensitivity: int = 1

    @property
    def levels(self) -> tuple[Level, ...]:
        return (self.level,)

    def mass(self, arithmetic: Any, i: Any) -> Any:
        b = arithmetic(self.level)
        return b.complement * b.power(i) / (1 + b.b)

    def tail(self, arithmetic: Any, i: Any) -> Any:
        b = arithmetic(self.level)
        return b.power(i) / (1 + b.b)


@dataclass(frozen=True)
class WiderNoise(IntegerDistribution):
    """Its level follows from its formulas."""

    inner: OwnNoise
    sensitivity: int = 2

    @property
    def level(self) -> Level:
        return self.ratio_level(0, self.sensitivity)

    @property
    def levels(self) -> tuple[Level, ...]:
        return self.inner.levels

    def mass(self, arithmetic: Any, i: Any) -> Any:
        return self.inner.mass(arithmetic, i)

    def tail(self, arithmetic: Any, i: Any) -> Any:
        return self.inner.tail(arithmetic, i)


def a_noise() -> None:
    """A level is one of the noise's, whether it is a field or a property."""
    noise = OwnNoise(ut.level(1))
    assert_type(noise.level, Level)
    assert_type(WiderNoise(noise).level, Level)


def a_release() -> None:
    """One table, once and at several levels."""
    unit = ut.Unit(1, cells=1)
    once = ut.release(TABLE, ut.Promise(columns="admitted", public=["department"], unit=unit), epsilon="1/2", once=True)
    assert_type(once, Answer[ut.Table])
    assert_type(once.table, ut.Table)
    assert_type(once.total(), Estimate)
    assert_type(once.clean(), CleanTable)
    assert_type(once.withhold(below=90), WithheldTable[ut.Table] | WithheldTables)
    promise = ut.Promise("admitted", public="department", unit=unit)
    assert_type(promise, Promise)
    answer = ut.release(TABLE, promise, epsilon=Fraction(1, 2))
    assert_type(answer, Answer[ut.Table])
    assert_type(answer.level, Level)
    assert_type(answer.release, Release)
    assert_type(answer.release.spent, Level)
    assert_type(answer.release.levels, tuple[Level, ...])
    assert_type(answer.release.at(1), Answer[Any])
    assert_type(answer.margin("0.99"), int | float)
    assert_type(answer.statement, dict[str, Any])
    by_words = ut.release(
        TABLE, ut.Promise(columns="admitted", public="department", unit=ut.Unit(1, 1)), epsilon=ut.level(alpha="1/2")
    )
    assert_type(by_words, Answer[ut.Table])
    answer.save(Path("admissions.csv"), overwrite=True)


def a_count() -> None:
    """One table, or one for each measure, or for each part: three types."""
    domain = ut.Domain(page=["A", "B"])
    table = ut.count_table(EVENTS, domain, ut.Counting("user", at_most=1))
    assert_type(table, CountedTable)
    both = ut.count_measures(
        EVENTS, domain, ut.Counting("user", at_most=1), {"visits": ut.count(), "money": ut.sum("amount", per_cell=10)}
    )
    assert_type(both, dict[str, CountedTable])
    parts = ut.count_table(EVENTS, domain, ut.Counting("user", at_most=1), part={"amount": [3, 4]})
    assert_type(parts, dict[str | int | bool, CountedTable])
    assert_type(count_keys(EVENTS, person="user", column="page", at_most=1), ut.Table)


def a_ledger(path: Path) -> Budget:
    """Opened, published to, relaxed; its release is the same noun as one that this process remembers."""
    with ut.Ledger.open(path, create=True) as ledger:
        try:
            ledger.publish(
                "admissions",
                TABLE,
                ut.Promise(columns="admitted", public="department", unit=ut.Unit(1, 1)),
                epsilon=1,
            )
        except BudgetExceeded as error:
            assert_type(error.remedy, str | None)
        except UtmostError:
            raise
        assert_type(ledger["admissions"], Release)
        assert_type(ledger.levels("admissions"), tuple[Level, ...])
        assert_type(ledger.relax("admissions", TABLE, epsilon=2), Answer[Any])
        assert_type(ledger.view("admissions", epsilon="1/2"), Answer[Any])
        assert_type(ledger["admissions"].at(2), Answer[Any])
        return ledger.budget("admissions", 2)


def a_design() -> None:
    """The best mechanism for a consumer, with its proof."""
    ptype = ut.PrivacyType(ut.spaces.counts(4), alpha="1/2")
    optimum = ut.optimal_mechanism(ptype, ut.Consumer(ut.priors.uniform(5), ut.losses.absolute))
    assert_type(optimum, Optimum)
    assert_type(optimum.certificate.verify(), bool)


def frames() -> None:
    """The verbs of frames are typed, though no checker knows that a frame has them."""
    assert_type(register_frames("polars"), tuple[str, ...])
    verbs = FrameMethods(TABLE)
    promise = ut.Promise("admitted", public="department", unit=ut.Unit(1, 1))
    assert_type(verbs.release(promise, epsilon=1), Answer[Any])


def mistakes() -> None:
    """What is wrong is told by the checker and not by a run."""
    ut.release(TABLE, ut.Promise("admitted", unit=ut.Unit(1, 1)), sensitivty=1, epsilon=1)  # type: ignore[call-overload]
    ut.Unit(1)  # type: ignore[call-arg]
    ut.Ledger.open(3.5)  # type: ignore[arg-type]

"""What a ledger says about itself: budgets and status, as values."""

from dataclasses import dataclass
from fractions import Fraction

from utmost.exact import Level
from utmost.release.ledger.spending import Spending
from utmost.release.ledger.state import State


@dataclass(frozen=True, slots=True)
class Budget:
    """The budget of a dataset.

    Attributes:
        dataset: whose.
        limit: what may be spent; None for no limit.
        spending: what is spent, exactly.
    """

    dataset: str
    limit: Level | None
    spending: Spending

    @property
    def spent(self) -> Fraction | float:
        """The epsilon that is spent; rounded up where it is irrational."""
        return self.spending.epsilon

    @property
    def remaining(self) -> Fraction | float | None:
        """The epsilon that is left; rounded down where it is irrational, None without a limit."""
        return None if self.limit is None else self.spending.left(self.limit)


@dataclass(frozen=True, slots=True)
class Status:
    """A ledger at a glance.

    Attributes:
        place: where it is.
        identity: its random name, which its copies share.
        events, releases: how many.
        datasets: the budget of each.
        quarantine: why nothing new may be said; None where all is well.
        sealed, derived: how it was made.
    """

    place: str
    identity: str
    events: int
    releases: int
    datasets: tuple[Budget, ...]
    quarantine: str | None
    sealed: bool
    derived: bool

    @classmethod
    def of(cls, place: str, state: State, quarantine: str | None) -> "Status":
        """The status in a state."""
        budgets = tuple(Budget(name, state.limits.get(name), state.spending(name)) for name in state.datasets)
        return cls(
            place,
            state.identity,
            state.number,
            len(state.releases),
            budgets,
            quarantine,
            state.is_sealed,
            state.is_derived,
        )

r"""What a rollback has lost, and what it costs: from what the witness saw, and what the ledger still knows.

Let p be the last event that both have. A release had the level c then, got the level w in what the witness saw later,
and the level s in what the ledger wrote since (s = c for a ledger that was quarantined at once). Then

    published after p          w          all that was said of it is lost
    w = c                      0          only views are lost: functions of what is stored, and of coins
    w > c, s = c               w - c      so that with c, which the books still have, it comes to w
    w > c, s > c               w + c      two continuations of one response

The last line: f(v_c, v_w) f(v_c, v_s) / f(v_c) is the law of the common response and its two continuations, and one
individual changes the factors by at most exp(w), exp(s) and exp(c); s is in the books already.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from utmost.exact import Level, round_up
from utmost.release.ledger.state import Item, State


@dataclass(frozen=True, slots=True)
class Loss:
    """What a rollback has lost.

    Attributes:
        missing: dataset to levels that its budget must bear.
        closed: releases that must not be relaxed any more.
        limits: budgets that were set and forgotten: of two, the smaller.
    """

    missing: Mapping[str, tuple[Level, ...]]
    closed: tuple[Item, ...]
    limits: Mapping[str, Level]


def loss(common: State, witness: State, ledger: State) -> Loss:
    """What the witness knows and the ledger does not.

    Args:
        common: the state up to the last event that both have.
        witness: what the witness has seen.
        ledger: what the ledger has now.
    """
    missing: dict[str, list[Level]] = {}
    closed: list[Item] = []
    for item, seen in witness.releases.items():
        charge = missing.setdefault(seen.dataset, [])
        kept = common.releases.get(item)
        if kept is None:
            charge.append(seen.spent)
        elif seen.spent > kept.spent:
            closed.append(item)
            again = ledger.releases[item].spent > kept.spent
            charge.extend([seen.spent, kept.spent] if again else [_difference(seen.spent, kept.spent)])
    for dataset, spending in witness.missing.items():
        if spending != common.missing.get(dataset):
            missing.setdefault(dataset, []).extend(spending.levels)
    closed += [item for item, release in witness.releases.items() if _is_closed_since(item, release.relaxable, ledger)]
    charged = {dataset: tuple(levels) for dataset, levels in missing.items() if levels}
    return Loss(charged, tuple(dict.fromkeys(closed)), _forgotten_limits(common, witness, ledger))


def _forgotten_limits(common: State, witness: State, ledger: State) -> dict[str, Level]:
    found = {}
    for dataset, limit in witness.limits.items():
        mine = ledger.limits.get(dataset)
        if limit != common.limits.get(dataset) and (mine == common.limits.get(dataset) or mine is None or limit < mine):
            found[dataset] = limit
    return found


def _is_closed_since(item: Item, relaxable: bool, ledger: State) -> bool:
    return not relaxable and item in ledger.releases and ledger.releases[item].relaxable


def _difference(large: Level, small: Level) -> Level:
    """The level with the epsilon that is left, rounded up where it is irrational in another base."""
    if large.base == small.base:
        return Level(large.base, large.power - small.power)
    bits = 256
    while True:  # ends: the levels differ
        between = large.epsilon_interval(bits) - small.epsilon_interval(bits)
        if between.lower > 0:
            return Level(None, Fraction(round_up(between)))
        bits *= 2

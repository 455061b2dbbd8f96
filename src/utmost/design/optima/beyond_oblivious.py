"""Decide whether a mechanism that sees the whole database can be better than one that sees only the count.

A database has n rows with values from a finite domain. Two databases are neighbours if they differ in one row. A count
query counts the rows whose value satisfies a predicate. A mechanism is oblivious if its distribution depends only on
the count. For a consumer with a prior over counts, let the loss be that of the worst prior over databases that agrees
with the prior over counts. Averaging a mechanism over the databases with the same count does not increase this loss
(Proposition 6.2). For consumers with priors over databases, averaging may increase the loss, and no mechanism is
optimal for all consumers with priors over databases (Theorem 6.3).

Source: [ghosh2009], section 6.2.
"""

from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from utmost.core.exact.arguments import collection, instance, integer
from utmost.core.exact.arrays import Array, as_rationals, frozen
from utmost.core.exact.display import Display
from utmost.core.exact.numbers import exact, natural
from utmost.core.programs.exact_optima import solve_exactly
from utmost.core.programs.linear_program import LinearProgram
from utmost.design.channels.channel import Channel
from utmost.design.optima.consumer_program import user_program
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.design.spaces import priors
from utmost.design.spaces.consumer import Consumer
from utmost.design.spaces.space import Space
from utmost.errors import OutOfRange


@dataclass(frozen=True, slots=True, init=False, repr=False)
class CountQuery(Display):
    """A count query on databases in {0, ..., values-1}^rows: the number of rows whose value satisfies a predicate.

    Args:
        values: Number of values of a row, at least 2.
        rows: Number n of rows.
        satisfying: Values that satisfy the predicate: at least one, and not all.

    >>> query = CountQuery(values=2, rows=3, satisfying=[1])
    >>> query.databases[6], int(query.results[6]), query.space.size
    ((1, 1, 0), 2, 8)
    """

    values: int
    rows: int
    satisfying: frozenset[int]

    def __init__(self, values: int, rows: int, satisfying: Collection[int]) -> None:
        count = natural(values, "values", least=2)
        counted = frozenset(integer(one, "every element of satisfying") for one in collection(satisfying, "satisfying"))
        object.__setattr__(self, "values", count)
        object.__setattr__(self, "rows", natural(rows, "rows", least=1))
        if not counted or not counted < set(range(count)):
            required = f"the predicate must hold for at least one value, but not for all values, in 0..{count - 1}"
            raise OutOfRange(required, came=sorted(counted))
        object.__setattr__(self, "satisfying", counted)

    @property
    def databases(self) -> tuple[tuple[int, ...], ...]:
        """All databases, in lexicographic order."""
        return tuple(product(range(self.values), repeat=self.rows))

    @property
    def results(self) -> Array:
        """The count of every database, in the order of `databases`."""
        return frozen(np.array([sum(value in self.satisfying for value in d) for d in self.databases]))

    @property
    def space(self) -> Space:
        """The space of databases; the distance of two databases is the number of rows in which they differ."""
        table = np.array(self.databases)
        return Space((table[:, None, :] != table[None, :, :]).sum(axis=2), labels=self.databases)


def averaged(query: CountQuery, channel: Channel) -> Channel:
    """Return a mechanism (n+1, m) on counts: the row of a count is the mean of the rows of all databases with this
    count.

    The result satisfies every level that ``channel`` satisfies, and is no worse for the worst prior over databases.

    Source: [ghosh2009], Proposition 6.2. Every database with count k has k neighbours with count k - 1 for each value
    that is not counted, so sums of privacy inequalities are inequalities between means.
    """
    instance(query, CountQuery, "query")
    instance(channel, Channel, "channel")
    parts = [channel.matrix[query.results == k] for k in range(query.rows + 1)]
    return Channel(np.stack([rows.sum(axis=0) / len(rows) for rows in parts]))


def expanded(query: CountQuery, channel: Channel) -> Channel:
    """Return a mechanism (n+1, m) on counts as a mechanism on databases: each database has the row of its count."""
    return Channel(channel.matrix[query.results])


def worst_case_loss(query: CountQuery, channel: Channel, consumer: Consumer) -> Fraction | float:
    """Return objective (9) of [ghosh2009]: sum_i p_i max_d sum_r X[d, r] l(i, r), over databases d with count i."""
    results = query.results
    losses = (channel.matrix * consumer.loss[results]).sum(axis=1)
    total: Fraction | float = sum(p * losses[results == i].max() for i, p in enumerate(consumer.prior.tolist()))
    return total


def best_worst_case(query: CountQuery, alpha: Any, consumer: Consumer) -> tuple[Fraction, Channel]:
    """Return the least `worst_case_loss` of any private mechanism on databases, and a mechanism that attains it."""
    # By Proposition 6.2 this loss equals the least expected loss on counts.
    ptype = PrivacyType(query.space, alpha=alpha)
    size, k, top = query.space.size, consumer.actions, query.rows + 1
    base = user_program(ptype, Consumer(priors.uniform(size), np.full((size, k), Fraction(0), dtype=object)))
    m, n = base.shape
    rows = [np.repeat(np.arange(m), np.diff(base.starts))]
    columns, values = [base.columns], [base.values]
    for d, i in enumerate(query.results.tolist()):
        rows.append(np.full(k + 1, m + d))
        columns.append(np.append(np.arange(d * k, d * k + k), n + i))
        values.append(np.append(as_rationals(-consumer.loss[i]), [Fraction(1)]))
    program = LinearProgram.of_triplets(
        np.append(base.cost, as_rationals(consumer.prior)),
        np.concatenate(rows),
        np.concatenate(columns),
        np.concatenate(values),
        np.append(base.lower, [Fraction(0)] * size),
        np.append(base.upper, [np.inf] * size),
    )
    assert program.shape[1] == n + top, "one bound for each count"
    solution = solve_exactly(program)
    return solution.value, Channel(solution.primal[:n].reshape(size, k))


def conflicting_users(tilt: Any = Fraction(1, 100), delta: Any = 0) -> tuple[CountQuery, Consumer, Consumer]:
    """Return the query of Theorem 6.3, on three one-bit rows, and the two consumers of the theorem, whose priors are
    mirror images of each other.
    """
    # Name a database by its rows with bit 1. The first prior has 1/4 on each of {1} and {2}, 1/2 - tilt on {2, 3}, and
    # tilt on {1, 3}; the second prior has rows 1 and 2 exchanged. Both consumers have the loss |f(d) - r|^(1 - delta).
    # At alpha = 1/2 no mechanism is optimal for both, for 0 <= tilt < 1/8 and 0 <= delta < 1. The count f(d) is 1 or 2,
    # so answers 0 and 3 are never used, and the loss of the answers 1 and 2 is 0 or 1.
    lean, off = exact(tilt, "tilt"), exact(delta, "delta")
    if not (0 <= lean <= Fraction(1, 2) and 0 <= off < 1):
        raise OutOfRange("tilt must lie in [0, 1/2], and delta in [0, 1)", came=f"tilt={tilt} and delta={delta}")
    query = CountQuery(2, 3, [1])
    gap = abs(query.results[:, None] - np.arange(4))
    loss = gap if off == 0 else gap ** float(1 - off)
    quarter, half = Fraction(1, 4), Fraction(1, 2)
    first: dict[tuple[int, ...], Fraction] = {
        (1, 0, 0): quarter,
        (0, 1, 0): quarter,
        (0, 1, 1): half - lean,
        (1, 0, 1): lean,
    }
    second: dict[tuple[int, ...], Fraction] = {(d[1], d[0], d[2]): weight for d, weight in first.items()}
    first_consumer, second_consumer = (
        Consumer([prior.get(d, Fraction(0)) for d in query.databases], loss) for prior in (first, second)
    )
    return query, first_consumer, second_consumer

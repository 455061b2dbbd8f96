r"""Whether a consumer's optimal channel is the only one.

On counts, where the remapped geometric mechanism is optimal, its dual mu is the only one, and the columns r of all
optimal channels are the private columns v with sum_x (p_x l(x, r) - mu_x) v_x = 0. With the flows f of `line_check`,
such a v is forced to fall by alpha across an edge where f > 0 and to rise by 1/alpha where f < 0, and is free where
f = 0; and v = 0 unless f_0 = 0. So these columns span a space of dimension 1 + (number of zero flows), and the optimal
channels form a polytope whose dimension is the sum of these over all actions, less the n + 1 sums of rows. It is 0
exactly when the optimum is unique.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost.design.closed_form import exact_design
from utmost.design.line_check import exact_flows
from utmost.design.loss_rows import integer_rows
from utmost.design.user_program import user_program
from utmost.errors import Unsupported
from utmost.exact import Array, checked, objects
from utmost.privacy import PrivacyType
from utmost.programs.linear import LinearProgram
from utmost.programs.vertex import solve_exactly
from utmost.spaces import Consumer, LineMetric


@dataclass(frozen=True, slots=True)
class Uniqueness:
    """The verdict, and what it was read from.

    Attributes:
        is_unique: whether all optimal channels are one.
        freedom: the dimension of the set of optimal channels, or None where a program decided.
        variables: the number of entries of a channel.
        tight: constraints that every optimal channel meets with equality, and a strictly complementary dual prices
            (sums of rows included), or None where a program decided.
    """

    is_unique: bool
    variables: int
    freedom: int | None = None
    tight: int | None = None


@checked
def uniqueness(ptype: PrivacyType, consumer: Consumer) -> Uniqueness:
    """Whether the consumer's optimum is unique, decided exactly; floats are read as the rationals that they are.

    Raises:
        Unsupported: for an irrational alpha.

    Source: [ghosh2009], Theorem 6.1 (a uniform prior and the binary loss have G as their only optimum).

    >>> from utmost.spaces import counts, losses, priors
    >>> uniqueness(PrivacyType(counts(3), alpha="1/2"), Consumer(priors.uniform(4), losses.binary))
    Uniqueness(is_unique=True, variables=16, freedom=0, tight=16)
    """
    if not ptype.level.is_rational:
        raise Unsupported("uniqueness is decided in rationals", came=str(ptype.level), mend='Give alpha="1/2", say.')
    if isinstance(ptype.space.metric, LineMetric):
        design = exact_design(ptype.level, consumer)
        flows = np.array(list(exact_flows(ptype.level, integer_rows(consumer), design.dual)), dtype=object)
        if (flows[-1] >= 0).all():
            return _on_counts(flows)
    return Uniqueness(_is_only_vertex(ptype, consumer), consumer.secrets * consumer.actions)


def _on_counts(flows: Array) -> Uniqueness:
    """The verdict from the flows (n+1, k), f_n first."""
    n, k = len(flows) - 1, flows.shape[1]
    open_columns, zeros = flows[-1] == 0, (flows[:-1] == 0).sum(axis=0)
    freedom = int((1 + zeros)[open_columns].sum()) - (n + 1)
    tight = int(np.where(open_columns, n - zeros, 2 * n).sum()) + n + 1
    return Uniqueness(freedom == 0, (n + 1) * k, freedom, tight)


def _is_only_vertex(ptype: PrivacyType, consumer: Consumer) -> bool:
    """Whether no optimal channel leaves a constraint that one optimal vertex meets with equality.

    The constraints tight at a vertex have that vertex as their only common point; so the sum of their slacks is
    maximised over all optimal channels, and is 0 exactly when there is no other.
    """
    program = user_program(ptype, consumer)
    found = solve_exactly(program)
    m, n = program.shape
    rows = np.repeat(np.arange(m), np.diff(program.starts))
    slack_rows = (program.product(found.primal) == program.lower) & (program.lower != program.upper)
    gain = [Fraction(int(x == 0)) for x in found.primal]
    for i, j, value in zip(rows.tolist(), program.columns.tolist(), program.values.tolist(), strict=True):
        gain[j] += value if slack_rows[i] else 0
    cost = [*program.cost.tolist()]
    held = LinearProgram.of_triplets(
        objects([-g for g in gain]),
        np.concatenate([rows, np.full(n, m)]),
        np.concatenate([program.columns, np.arange(n)]),
        np.concatenate([program.values, objects(cost)]),
        np.concatenate([program.lower, objects([-math.inf])]),
        np.concatenate([program.upper, objects([found.value])]),
    )
    return bool(solve_exactly(held).value == 0)

"""The best private mechanism among those that are also honest, monotone, fair or symmetric."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from utmost.design.constrained_certificate import ConstrainedCertificate, constrained_slacks
from utmost.design.constraints import Constraint, Row, constraint_rows
from utmost.design.user_program import split_duals, user_program
from utmost.exact import objects
from utmost.privacy import PrivacyType
from utmost.programs.linear import LinearProgram
from utmost.programs.vertex import solve_exactly
from utmost.spaces import Consumer


def constrained_certificate(
    ptype: PrivacyType, consumer: Consumer, constraints: Sequence[Constraint]
) -> ConstrainedCertificate:
    """The certificate of a vertex of the user's program with the rows of the constraints, in rationals.

    A float consumer is read as the rationals that its floats are, and alpha^d, where it is irrational, as a float just
    above it, so that the channel keeps privacy and constraints exactly in every case.

    Raises:
        SolverFailed: when the program is not solved.

    Cost: that of an exact vertex of n^2 variables: some seconds for 20 counts.

    Source: [cormode2018].
    """
    rows = constraint_rows(constraints, consumer.secrets)
    program = user_program(ptype, consumer)
    solution = solve_exactly(_with_rows(program, rows, consumer.actions))
    before = program.shape[0]
    prices = solution.duals[before:]
    dual, multipliers = split_duals(solution.duals[:before], len(ptype.space.edges), consumer.actions)
    slack = constrained_slacks(ptype, consumer, rows, dual, multipliers, prices).min(axis=1)
    # An irrational alpha^d lies a little below the program's, so that a price may have to give way.
    lowered = objects([mu + min(left, Fraction(0)) for mu, left in zip(dual, slack, strict=True)])
    matrix = solution.primal.reshape(consumer.secrets, consumer.actions)
    return ConstrainedCertificate(ptype, consumer, tuple(constraints), matrix, lowered, multipliers, prices)


def _with_rows(program: LinearProgram, rows: Sequence[Row], actions: int) -> LinearProgram:
    """The program with a row for each constraint after its own."""
    start = program.shape[0]
    at, columns, values = [], [], []
    for number, row in enumerate(rows):
        for (x, r), coefficient in row.entries:
            at.append(start + number)
            columns.append(x * actions + r)
            values.append(Fraction(coefficient))
    least = objects([row.least for row in rows])
    most = objects([row.least if row.is_equal else np.inf for row in rows])
    own = np.repeat(np.arange(start), np.diff(program.starts))
    return LinearProgram.of_triplets(
        program.cost,
        np.concatenate([own, np.array(at, dtype=np.int64)]),
        np.concatenate([program.columns, np.array(columns, dtype=np.int64)]),
        np.concatenate([program.values, objects(values)]),
        np.concatenate([program.lower, least]),
        np.concatenate([program.upper, most]),
    )

"""The plan of one response of a ledger: what its statement says of level, law and error bar."""

from fractions import Fraction

from utmost.exact import Level, Number
from utmost.noise import DiscreteStaircase, Geometric, IntegerLaw, Laplace, Law
from utmost.noise.costs import absolute
from utmost.noise.law import read_confidence
from utmost.release.ledger.promise import Promise
from utmost.release.plan import Plan


def response_plan(promise: Promise, level: Level, confidence: Number = "0.95") -> Plan:
    """The plan by which a response at this level was drawn, whatever other levels were answered.

    Args:
        promise: of the release, as the ledger has it.
        level: of the response.
        confidence: of the error bar.

    >>> from utmost.exact import level
    >>> from utmost.release.ledger.promise import promised
    >>> promise = promised(sensitivity=1, cells=2)
    >>> response_plan(promise, level(1)).law, response_plan(promise, level(1)).radius
    (Geometric(epsilon='1/2', sensitivity=1), 6)
    """
    sure = read_confidence(confidence)
    unit, steps = promise.unit, promise.lattice.sensitivity
    here = unit.per_cell(level)
    drawn: IntegerLaw = DiscreteStaircase.half_step(here, steps) if promise.half_step else Geometric(here, steps)
    law: Law = drawn if promise.grid is None or promise.half_step else Laplace(here, Fraction(unit.sensitivity))
    return Plan(level, unit, law, drawn, absolute, True, sure, promise.radius(level, sure), promise.grid)

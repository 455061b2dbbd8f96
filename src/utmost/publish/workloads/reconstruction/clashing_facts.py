"""Find public facts that contradict each other: the multipliers of a linear program without solution name them."""

from fractions import Fraction
from math import inf

import numpy as np

from utmost.core.exact.arrays import objects
from utmost.core.programs.exact_optima import farkas_ray
from utmost.core.programs.highs import InfeasibleProgram, solve
from utmost.core.programs.linear_program import LinearProgram
from utmost.publish.workloads.reconstruction.public_facts import MOST_NAMED, PublicFacts, clash_of

_FLOATS = 2**53  # floats represent integers up to this number exactly
_NONE = 1e-9  # a smaller multiplier of the solver counts as 0


def check_feasible(facts: PublicFacts) -> None:
    """Check that all facts hold for some table of numbers >= 0; the error names facts that contradict each other."""
    if not facts.bounds:
        return
    known = [(marginal, place) for marginal in facts.bounds for place in facts.places(marginal)]
    row_of = {fact: row for row, fact in enumerate(known)}
    column_of = np.zeros(facts.domain.shape, dtype=np.int64)  # equal numbers for cells that are in the same known sums
    rows = []
    for marginal in facts.bounds:
        numbers = np.full(int(np.prod(facts.domain.group_shape(marginal))), -1)
        places = facts.places(marginal)
        numbers[places] = [row_of[marginal, place] for place in places]
        rows.append(facts.domain.spread(numbers, marginal))
        codes = column_of * (len(known) + 1) + rows[-1] + 1
        column_of = np.unique(codes, return_inverse=True)[1].reshape(facts.domain.shape)
    _, first = np.unique(column_of, return_index=True)
    at = np.stack([row.ravel()[first] for row in rows])
    which = np.broadcast_to(np.arange(first.size), at.shape)[at >= 0]
    ends = [
        np.concatenate([both[side].ravel()[facts.places(marginal)] for marginal, both in facts.bounds.items()])
        for side in (0, 1)
    ]
    is_huge = any(abs(end) > _FLOATS for bounds in ends for end in bounds.tolist() if end not in (-inf, inf))
    if is_huge:
        ends = [objects(end if end in (-inf, inf) else Fraction(end) for end in bounds.tolist()) for bounds in ends]
        none, ones = objects([Fraction(0)] * first.size), objects([Fraction(1)] * which.size)
        ray = farkas_ray(LinearProgram.of_triplets(none, at[at >= 0], which, ones, *ends))
    else:
        program = LinearProgram.of_triplets(
            np.zeros(first.size), at[at >= 0], which, np.ones(which.size), *map(np.float64, ends)
        )
        try:
            solve(program)
        except InfeasibleProgram as error:
            ray = error.ray if error.ray is not None else farkas_ray(program)
        else:
            ray = None
    clashing = [] if ray is None else [row for row, weight in enumerate(ray.tolist()) if abs(weight) > _NONE]
    if clashing:
        raise clash_of([facts.fact(*known[row]) for row in clashing[:MOST_NAMED]], len(clashing))

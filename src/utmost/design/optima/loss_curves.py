"""Design several mechanisms on one space, using the results of earlier searches; compute the least loss for each of
several levels.

A search for a design ends with extreme rays, a tree for each action, and a price for each place (secret). Rays and
trees remain valid for another prior or loss. At t times the epsilon, a tree's ray has each entry raised to the power t,
so each search can start from the rays, trees and prices of the previous search
(`utmost.design.optima.column_generation`).
"""

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from utmost.core.exact.arguments import instance, optional, real, sequence, text
from utmost.core.exact.display import Display
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number, exact, natural
from utmost.core.exact.progress_bar import progress_bar
from utmost.design.optima.checker import Bounds
from utmost.design.optima.column_generation import SearchedCertificate, searched
from utmost.design.optima.optimum import Optimum, is_reached_exactly, optimal_mechanism
from utmost.design.optima.search_for_rays import SearchResults
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.design.spaces.consumer import Consumer
from utmost.design.spaces.distance_units import level_per
from utmost.design.spaces.space import Space
from utmost.errors import OutOfRange

TurnProgress = Callable[[int, int, float], object]

_CURVE_GAP = 1e-3  # relative to the loss: a smaller gap cannot be seen in a curve


@progress_bar("Designing")
def designs_in_turn(
    problems: Sequence[tuple[PrivacyType, Consumer]],
    *,
    gap: float = 1e-7,
    progress: TurnProgress | None = None,
) -> tuple[Optimum, ...]:
    """Return the best mechanism for each of several problems on one space. Each search starts from the results of the
    previous one.
    """
    # Consecutive problems should be similar. ``gap`` is the largest relative gap for column generation; ``progress``
    # receives the number of the problem, from 1, the number of rounds and the gap so far. After a keyboard interrupt,
    # the list ends with the best mechanism so far for the current problem.
    for (first, _), (second, _) in pairwise(problems):
        if first.space is not second.space and not first.space.same_as(second.space):
            raise OutOfRange(
                "all designs must be on one space",
                came=f"{first.space} and {second.space}",
                remedy="Compute the designs of each space in a separate call.",
            )
    optimums: list[Optimum] = []
    before: tuple[SearchResults, ...] = ()
    for number, (ptype, consumer) in enumerate(problems, 1):
        design, search = _design_from(ptype, consumer, gap, before, _progress_of_problem(progress, number))
        optimums.append(design)
        before = before if search is None else (search.results,)
        if search is not None and not search.is_whole:
            break
    return tuple(optimums)


def _design_from(
    ptype: PrivacyType,
    consumer: Consumer,
    gap: float,
    starts: Sequence[SearchResults],
    progress: Callable[[int, float], object] | None,
) -> tuple[Optimum, SearchedCertificate | None]:
    """Return the best mechanism; after column generation, also the results from which other searches can start."""
    if is_reached_exactly(ptype, consumer):
        return optimal_mechanism(ptype, consumer), None
    search = searched(ptype, consumer, gap=gap, progress=progress, starts=starts)
    return Optimum(search.certificate, "column generation"), search


def _progress_of_problem(progress: TurnProgress | None, number: int) -> Callable[[int, float], object] | None:
    return None if progress is None else lambda rounds, gap: progress(number, rounds, gap)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LossCurve(Display):
    """The least loss of a consumer at several levels, with proofs, and bounds for the levels between them.

    Attributes:
        designs: Designs from the smallest level to the largest.
    """

    designs: tuple[Optimum, ...]

    _shown = ("levels", "losses")

    @property
    def levels(self) -> tuple[Level, ...]:
        """The levels of the designs, for one unit of distance, from the smallest epsilon to the largest."""
        return tuple(design.certificate.ptype.level for design in self.designs)

    @property
    def losses(self) -> tuple[Fraction | float, ...]:
        """The expected losses of the designs: exact, or rounded up."""
        return tuple(design.loss for design in self.designs)

    @property
    def lower(self) -> tuple[Fraction | float, ...]:
        """Lower bounds of the loss of every private mechanism at each level: exact, or rounded down."""
        return tuple(design.lower for design in self.designs)

    def between(self, epsilon: Number) -> Bounds:
        """Return bounds of the least loss at any level from the first to the last.

        A mechanism that satisfies an epsilon satisfies every larger epsilon, so the least loss does not increase with
        epsilon. The upper bound is the least loss among the designs at smaller or equal epsilons, and the lower bound
        the largest lower bound among those at larger or equal epsilons.

        Raises:
            OutOfRange: if the epsilon is below that of the first level or above that of the last.

        >>> from utmost.spaces import counts

        >>> from utmost.design.spaces import losses, priors
        >>> curve = loss_curve(counts(3), Consumer(priors.uniform(4), losses.absolute), ["1/2", 1])
        >>> bounds = curve.between("3/4")
        >>> curve.lower[1] == bounds.lower < bounds.upper == curve.losses[0]
        True
        """
        requested, at = level_per(epsilon), self.levels
        below, above = bisect_right(at, requested) - 1, bisect_left(at, requested)
        if below < 0 or above == len(at):
            raise OutOfRange(
                f"the level must be from {at[0]} to {at[-1]}",
                came=epsilon,
                remedy="Compute the curve with more levels.",
            )
        return Bounds(max(self.lower[above:]), min(self.losses[: below + 1]))


@progress_bar("Designing along a curve")
def loss_curve(
    space: Space,
    consumer: Consumer,
    levels: Sequence[Number | Level],
    *,
    gap: float = _CURVE_GAP,
    progress: TurnProgress | None = None,
) -> LossCurve:
    """Compute the least expected loss of a consumer at each of several levels.

    Args:
        space: Secrets with distances.
        consumer: Prior and loss.
        levels: Levels of one unit of distance, each an epsilon or a `Level`, in any order.
        gap: Largest relative distance of each loss from its optimum, for column generation; the default, 1/1000, is
            about the width of a line in a figure.
        progress: Function that column generation calls with the number of the current design (from 1), the number of
            rounds and the relative gap so far.

    Raises:
        OutOfRange: if there is no level.
        NotALevel: if a level is invalid.

    >>> from utmost.spaces import grid

    >>> from utmost.design.spaces import losses, priors
    >>> place = grid(2, 2)
    >>> curve = loss_curve(place, Consumer(priors.uniform(4), losses.distance(place)), ["1/2", 1, 2])
    >>> [round(float(loss), 3) for loss in curve.losses]
    [0.706, 0.546, 0.266]
    """
    instance(space, Space, "space")
    instance(consumer, Consumer, "consumer")
    sequence(levels, "levels")
    gap = real(gap, "gap")
    if len(levels) == 0:
        raise OutOfRange("a curve needs at least one level", came="none", remedy='Pass levels such as ["1/2", 1, 2].')
    at = sorted({level_per(level, unit=space.unit) for level in levels})
    optimums: dict[int, Optimum] = {}
    results: dict[int, SearchResults] = {}
    for number, (k, around) in enumerate(_halving(len(at)), 1):
        starts = [results[other] for other in sorted(around, key=lambda other: abs(other - k)) if other in results]
        optimums[k], search = _design_from(
            PrivacyType(space, at[k]), consumer, gap, starts, _progress_of_problem(progress, number)
        )
        if search is not None:
            results[k] = search.results
            if not search.is_whole:
                break
    return LossCurve(tuple(optimums[k] for k in sorted(optimums)))


def _halving(count: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield each of 0, ..., count - 1, ends first, then middles of intervals; with each, the ends of its interval."""
    last = count - 1
    yield last, ()
    if last:
        yield 0, (last,)
    between = deque([(0, last)])
    while between:
        low, high = between.popleft()
        if high - low > 1:
            middle = (low + high) // 2
            yield middle, (low, high)
            between += [(low, middle), (middle, high)]


def even_levels_between(
    first: Number, last: Number, steps: int, *, per: Number | None = None, unit: str | None = None
) -> tuple[Level, ...]:
    """Return levels with equally spaced epsilons, from ``first`` to ``last``.

    Args:
        first, last: Epsilons.
        steps: Number of levels, at least two.
        per, unit: Arguments of `utmost.spaces.level_per`.

    >>> [str(level.epsilon) for level in even_levels_between("1/2", 2, 4)]
    ['1/2', '1', '3/2', '2']
    """
    unit = optional(unit, text, "unit")
    low, high, count = exact(first, "first"), exact(last, "last"), natural(steps, "steps", least=2)
    if not 0 < low < high:
        raise OutOfRange("levels must satisfy 0 < first < last", came=f"first={first} and last={last}")
    each = [low + (high - low) * step / (count - 1) for step in range(count)]
    return tuple(level_per(epsilon, per=per, unit=unit) for epsilon in each)

r"""Find small balanced families of blocks (sets of categories), so that the index of a block is a short report.

**Balance.** Blocks B of d of k categories, with weights w_B that sum to 1, are *balanced* if for every two categories
x, y

.. math:: \sum_{B \ni x, y} w_B = \frac{d (d-1)}{k (k-1)}.

In a balanced family, the blocks with a given category have the total weight d/k. All sets of d categories are a
balanced family. Reports from any balanced family are as informative as reports from all sets, because estimates and
variances depend only on pairs of categories: proofs/theory/local-protocols.md.

**A small family.** Categories are the residues modulo k. The blocks are a few *bases* A_i, multiplied by some units u
and shifted by every residue. The family is balanced if for each difference the weighted number of pairs in the u A_i
with this difference is d(d-1)/(k-1). The multipliers u make all differences of one orbit equally frequent, so there is
one equation for each orbit of differences. Weights of random bases that satisfy all equations are a vertex of a linear
program, so at most as many bases are needed as there are equations. For a prime k one base is enough, with k(k-1)/2
blocks.

Source: [park2023] (block designs), [gentle2025] (nothing else is optimal), [pan2026] (at most k(k-1)/2 + 1 weighted
blocks suffice).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import chain
from math import gcd, lgamma, log, log1p
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import Floats, as_array, objects
from utmost.core.exact.display import Display
from utmost.core.exact.linear_algebra import independent, solve_lifted
from utmost.core.exact.numbers import exact, natural
from utmost.core.programs.highs import solve
from utmost.core.programs.linear_program import LinearProgram
from utmost.errors import Infeasible, OutOfRange, SolverFailed, Unsupported

_MOST_CATEGORIES = 1 << 15
# For more categories than this, a report may be one or two bits longer, so that the search does not take too long.
_MANY_CATEGORIES = 1024
_FEW_CLASSES, _MANY_CLASSES = 128, 300
_BATCHES, _SPARE = 3, 40
# If the balanced value differs from the mean of random bases by more standard deviations than this, no mixture of them
# is expected.
_MOST_DEVIATIONS = 2.0

Group = frozenset[int]
"""A multiplicative group of units modulo k."""


@dataclass(frozen=True, slots=True, repr=False)
class BlockFamily(Display):
    """A balanced family of blocks, made from bases by multiplications and shifts modulo k. The balance of the family is
    checked exactly.

    With r multipliers, block (i r + j) k + b consists of the categories (u_j a + b) mod k for all a in base i.

    Args:
        categories: Number k of categories, at least 2.
        size: Number d of categories in a block, from 1 to k - 1.
        multipliers: Units u_j modulo k, by which bases are multiplied.
        bases: Bases, each a tuple of d different residues modulo k.
        weights: Positive weights of the bases with sum 1; all blocks of one base are equally likely.

    Raises:
        OutOfRange: if an argument is invalid, or if the family is not balanced.

    >>> fano = BlockFamily(7, 3, (1,), ((0, 1, 3),), (1,))
    >>> fano.count, fano.bits, fano.block(2)
    (7, 3, (2, 3, 5))
    """

    categories: int
    size: int
    multipliers: tuple[int, ...] = field(hash=False)
    bases: tuple[tuple[int, ...], ...] = field(hash=False)
    weights: tuple[Fraction, ...]

    _shown = ("categories", "size", "count", "bits")

    def __post_init__(self) -> None:
        k = natural(self.categories, "categories", least=2, most=_MOST_CATEGORIES)
        d = natural(self.size, "size", 1, k - 1)
        multipliers = tuple(natural(u, "multiplier", 1, k - 1) for u in self.multipliers)
        bases = tuple(tuple(sorted(natural(a, "residue", 0, k - 1) for a in base)) for base in self.bases)
        weights = tuple(exact(weight, "weight") for weight in self.weights)
        for name, value in (("multipliers", multipliers), ("bases", bases), ("weights", weights)):
            object.__setattr__(self, name, value)
        if not multipliers or any(gcd(u, k) > 1 for u in multipliers):
            required = f"multipliers must be coprime to {k}, the number of categories, and there must be at least one"
            raise OutOfRange(required, came=list(multipliers), where="family")
        if not bases or any(len(base) != d or len(set(base)) != d for base in bases):
            wrong = next((list(base) for base in bases if len(base) != d or len(set(base)) != d), "no base")
            raise OutOfRange(f"every base must have {d} different residues", came=wrong, where="family")
        if len(weights) != len(bases) or sum(weights) != 1 or min(weights) <= 0:
            came = f"{len(weights)} weights with sum {sum(weights)} for {len(bases)} bases"
            raise OutOfRange("each base must have a positive weight, and weights must sum to 1", came=came)
        # The family is balanced if all differences have the same weighted number of pairs.
        shifts, inverses = np.arange(k), [pow(u, -1, k) for u in multipliers]
        sums = []
        for base in bases:
            pairs = differences(base, k)
            sums.append(sum((pairs[inverse * shifts % k] for inverse in inverses), np.zeros(k, np.int64))[1:])
        required_sum = Fraction(d * (d - 1), k - 1) * len(multipliers)
        columns = np.unique(np.array(sums), axis=1).T.tolist()
        if any(sum(w * c for w, c in zip(weights, column, strict=True)) != required_sum for column in columns):
            remedy = "Make a family with balanced_family(categories, size)."
            required = "the blocks with two categories must have the same total weight for all pairs of categories"
            raise OutOfRange(required, came="different weights", where="family", remedy=remedy)

    @property
    def count(self) -> int:
        """The number of blocks."""
        return len(self.bases) * len(self.multipliers) * self.categories

    @property
    def bits(self) -> int:
        """The length of the index of a block, in bits."""
        return (self.count - 1).bit_length()

    def block(self, number: int) -> tuple[int, ...]:
        """Return the categories of the block with index ``number``, ascending."""
        base, at, shift = self.parts(natural(number, "number", 0, self.count - 1))
        u = self.multipliers[at]
        return tuple(sorted((u * a + shift) % self.categories for a in self.bases[base]))

    def parts(self, numbers: Any) -> tuple[Any, Any, Any]:
        """Return, for the indices of blocks, the index of the base, the index of the multiplier, and the shift."""
        group, shift = numbers // self.categories, numbers % self.categories
        return group // len(self.multipliers), group % len(self.multipliers), shift

    def blocks(self) -> Iterator[tuple[Fraction, tuple[int, ...]]]:
        """Yield the weight and the categories of every block."""
        share = self.categories * len(self.multipliers)
        return ((self.weights[number // share] / share, self.block(number)) for number in range(self.count))

    def least_common(self, other: "BlockFamily") -> int:
        """Return the least number of common categories of a block of this family and a block of another family."""
        k, theirs = self.categories, np.fft.rfft(_multiplied(other))
        return min(
            int(np.rint(np.fft.irfft(spectrum.conj() * theirs, k)).min()) for spectrum in np.fft.rfft(_multiplied(self))
        )


def _multiplied(family: BlockFamily) -> NDArray[np.float64]:
    """Return the indicator vectors of all multiplied bases, one in each row."""
    k = family.categories
    return np.array([_indicator([u * a % k for a in base], k) for base in family.bases for u in family.multipliers])


@lru_cache(maxsize=8)
def indicators(family: BlockFamily) -> NDArray[np.bool_]:
    """Return the indicator vectors of the bases, (bases, k)."""
    return np.array([_indicator(base, family.categories) for base in family.bases], np.bool_)


def _indicator(base: Iterable[int], categories: int) -> NDArray[np.float64]:
    members = np.zeros(categories)
    members[list(base)] = 1
    return members


def differences(base: Sequence[int], categories: int) -> NDArray[np.int64]:
    """Return, for each difference modulo k, the number of ordered pairs of members of a base with this difference,
    (k,).
    """
    # The Fourier transform in floats is exact after rounding: numbers are below 2^15, and errors are far below 1/2.
    spectrum = np.abs(np.fft.rfft(_indicator(base, categories))) ** 2
    return np.rint(np.fft.irfft(spectrum, categories)).astype(np.int64)


def balanced_family(categories: int, size: int) -> BlockFamily:
    """Return a balanced family of at most about k(k-1)/2 blocks, each of d of k categories.

    The search for bases is deterministic, but may differ between versions of this library, so clients and collector
    must share the family itself.

    Raises:
        OutOfRange: if there are fewer than two categories, or if the size is outside 1..k - 1.
        Unsupported: if there are more than 2^15 categories, or if no family is found.

    Cost: seconds for a thousand categories; up to a minute for ten thousand categories or for d = 3.

    >>> family = balanced_family(101, 27)
    >>> family.count, family.bits
    (5050, 13)
    """
    k = natural(categories, "categories", least=2)
    return _balanced_family(k, natural(size, "size", 1, k - 1))


@lru_cache(maxsize=64)
def _balanced_family(k: int, d: int) -> BlockFamily:
    if k > _MOST_CATEGORIES:
        raise Unsupported("a family must have at most 2^15 categories", came=k, remedy="Use SubsetSelection.")
    if d > k // 2:
        # The complements of the blocks of a balanced family are balanced.
        other = _balanced_family(k, k - d)
        bases = tuple(tuple(sorted(set(range(k)) - set(base))) for base in other.bases)
        return BlockFamily(k, d, other.multipliers, bases, other.weights)
    if d == 1:
        return BlockFamily(k, 1, (1,), ((0,),), (Fraction(1),))
    if d == 2:
        # Use one base for each distance of two categories modulo k. The distance k/2 has half as many pairs.
        halves = range(1, k // 2 + 1)
        pairs = tuple(Fraction(1 if 2 * x == k else 2, k - 1) for x in halves)
        return BlockFamily(k, 2, (1,), tuple((0, x) for x in halves), pairs)
    for multipliers, stabiliser in _groups_to_try(k):
        mixture = _balanced_mixture(k, d, multipliers, stabiliser)
        if mixture is not None:
            # Use one unit for each coset of the group generated by the stabiliser and -1.
            seen, cosets = set[int](), list[int]()
            for u in sorted(_with_negatives(multipliers, k)):
                if u not in seen:
                    seen.update(u * h % k for h in _with_negatives(stabiliser, k))
                    cosets.append(u)
            return BlockFamily(k, d, tuple(cosets), *map(tuple, zip(*mixture, strict=True)))
    raise Unsupported(
        "the search must find a balanced family",
        came=f"no family of blocks of {d} of {k} categories",
        remedy="Use SubsetSelection.",
    )


def _groups_to_try(k: int) -> list[tuple[Group, Group]]:
    """Return pairs (multipliers, stabiliser) of groups of units to try. Pairs with small linear programs come first."""
    # Try the group that each unit generates, and for each exponent e the group {u^e} of powers of all units u.
    units = [u for u in range(1, k) if gcd(u, k) == 1]
    found = {frozenset({1}), frozenset(units)}
    for unit in units[:64]:
        powers, power = {1}, unit
        while power not in powers:
            powers.add(power)
            power = power * unit % k
        found.add(frozenset(powers))
    found |= {frozenset(pow(u, exponent, k) for u in units) for exponent in range(2, 61)}
    groups = sorted(found, key=sorted)
    classes = {group: len(set(_orbit_numbers(k, group)[1:].tolist())) for group in groups}
    ranked: dict[tuple[int, ...], tuple[Group, Group]] = {}
    for group, stabiliser in ((g, h) for g in groups for h in groups if h <= g):
        equations = classes[group]
        count = k * (len(_with_negatives(group, k)) // len(_with_negatives(stabiliser, k))) * equations
        is_long, is_slow = count > k * (k // 2), equations > _FEW_CLASSES
        tier = 2 * is_slow + is_long if k > _MANY_CATEGORIES else 2 * is_long + is_slow
        if equations <= _MANY_CLASSES:
            rank = (tier, count if is_long else equations, len(stabiliser), count)
            ranked.setdefault(rank, (group, stabiliser))
    return [ranked[rank] for rank in sorted(ranked)]


def _with_negatives(group: Group, k: int) -> Group:
    """Return the units u and -u for all u of a group; a base and its negative have the same differences."""
    return group | {-u % k for u in group}


def _orbit_numbers(k: int, group: Group) -> NDArray[np.int64]:
    """Return, for each residue, the index of its orbit under multiplication by the group and by -1; the orbit of 0 is
    {0}.
    """
    members, numbers, last = np.array(sorted(_with_negatives(group, k))), np.full(k, -1), -1
    for x in range(k):
        if numbers[x] < 0:
            numbers[x * members % k] = last = last + 1
    return numbers


def _balanced_mixture(
    k: int, d: int, multipliers: Group, stabiliser: Group
) -> list[tuple[tuple[int, ...], Fraction]] | None:
    """Return bases that the stabiliser maps to themselves, and weights that balance them; None if none are found."""
    classes = _orbit_numbers(k, multipliers)[1:] - 1
    sizes = np.bincount(classes)
    wanted: Floats = sizes * np.float64(d * (d - 1) / (k - 1))
    unions, random = _OrbitUnions.of(k, stabiliser, d), np.random.default_rng(0)
    if not unions.is_possible:
        return None
    bases: dict[tuple[int, ...], tuple[int, ...]] = {}
    for _ in range(_BATCHES):
        for _ in range(2 * len(sizes) + _SPARE):
            base = unions.draw(random)
            pairs = np.bincount(classes, weights=differences(base, k)[1:]).astype(np.int64)
            bases.setdefault(tuple(pairs.tolist()), base)
        table: Floats = np.array(list(bases), np.float64).T
        # If the balanced value is far from the mean of the bases, no mixture is expected, and the search stops to save
        # time.
        middle = table.mean(axis=1)
        spread, offset = (table - middle[:, None]) / np.sqrt(table.shape[1]), wanted - middle
        # Ignore directions in which the bases differ only by rounding.
        steps = np.linalg.lstsq(spread, offset, rcond=1e-9)[0]
        if steps @ steps > _MOST_DEVIATIONS**2:
            break
        weights = _vertex_weights(np.array(list(bases)).T, sizes, Fraction(d * (d - 1), k - 1))
        if weights is not None:
            return [(list(bases.values())[at], weight) for at, weight in weights]
    return None


def _vertex_weights(
    table: NDArray[np.int64], sizes: NDArray[np.int64], each: Fraction
) -> list[tuple[int, Fraction]] | None:
    """Return (index, weight) of the positive entries of a w >= 0 with table @ w = each * sizes; else None."""
    wanted = sizes * float(each)
    scale = 1 / np.sqrt(wanted + 1)
    (rows, columns), bounds = np.indices(table.shape), wanted * scale
    values = (table * scale[:, None]).ravel()
    program = LinearProgram.of_triplets(
        np.zeros(table.shape[1]), rows.ravel(), columns.ravel(), values, lower=bounds, upper=bounds
    )
    try:
        primal = solve(program).primal
    except (Infeasible, SolverFailed):
        return None
    chosen = np.flatnonzero(primal > 1e-9)  # floats find only the support; the weights are computed exactly
    equations = objects(Fraction(int(v)) for v in table[:, chosen].ravel()).reshape(-1, len(chosen))
    right = as_array([each * int(size) for size in sizes]).reshape(-1, 1)
    independent_rows, independent_columns = independent(equations)
    # Give up if floats found no vertex.
    if len(independent_columns) < len(chosen):
        return None
    square = solve_lifted(equations[independent_rows], right[independent_rows])[:, 0].tolist()
    if min(square) < 0 or any(equations @ objects(square) != right[:, 0]):
        return None
    return [(int(at), weight) for at, weight in zip(chosen, square, strict=True) if weight]


@dataclass(frozen=True, slots=True, eq=False)
class _OrbitUnions:
    """A sampler of random unions of orbits of residues; each union has d members."""

    orbits: dict[int, list[list[int]]]  # the orbits of each length
    reachable: list[set[int]]  # for each length, the possible total sizes of sets of orbits of this and later lengths
    size: int  # the size d of a union
    share: float  # the fraction d / k

    @classmethod
    def of(cls, k: int, group: Group, d: int) -> "_OrbitUnions":
        members, seen, orbits = np.array(sorted(group)), set[int](), dict[int, list[list[int]]]()
        for x in range(k):
            if x not in seen:
                orbit = sorted(set((x * members % k).tolist()))
                seen.update(orbit)
                orbits.setdefault(len(orbit), []).append(orbit)
        reachable = [{0}]
        for length, same in sorted(orbits.items(), reverse=True):
            reachable.append(
                {
                    total + n * length
                    for total in reachable[-1]
                    for n in range(min(len(same), (d - total) // length) + 1)
                }
            )
        return cls(dict(sorted(orbits.items())), reachable[::-1], d, d / k)

    @property
    def is_possible(self) -> bool:
        """Whether some union of orbits has d members."""
        return self.size in self.reachable[0]

    def draw(self, random: np.random.Generator) -> tuple[int, ...]:
        """Return a random union of orbits. Short and long orbits are about as frequent in the union as in a random
        set.
        """
        left, union = self.size, list[list[int]]()
        for (length, same), later in zip(self.orbits.items(), self.reachable[1:], strict=True):
            numbers = [n for n in range(min(len(same), left // length) + 1) if left - n * length in later]
            # Compute the logarithm of the probability of n successes in len(same) trials.
            each = []
            for n in numbers:
                ways = lgamma(len(same) + 1) - lgamma(n + 1) - lgamma(len(same) - n + 1)
                each.append(ways + n * log(self.share) + (len(same) - n) * log1p(-self.share))
            logs = np.array(each)
            chances = np.exp(logs - logs.max())
            n = int(random.choice(numbers, p=chances / chances.sum()))
            union += [same[at] for at in random.choice(len(same), n, replace=False)]
            left -= n * length
        return tuple(sorted(chain.from_iterable(union)))

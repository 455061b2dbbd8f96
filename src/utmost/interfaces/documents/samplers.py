"""Samplers: a mechanism as a table of integers, from which a phone draws with exactly the stated distribution.

All probabilities have one denominator N. Let b be the length of N - 1 in binary. A draw reads b random bits as a number
u, and repeats while u >= N. The outcome is the first k with u <= w_0 + ... + w_k - 1. Each of the N numbers is equally
likely, and w_k of them give k, so P(k) = w_k / N exactly.

N is the same for all rows, so that the number of repetitions, and the time of a draw, does not depend on the secret.
The format is described in proofs/theory/samplers.md.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from math import lcm
from typing import Any, NoReturn

import numpy as np

from utmost.core.exact.display import Display
from utmost.core.exact.numbers import exact_integer
from utmost.core.exact.written_levels import level_facts, level_from_facts
from utmost.design.channels.channel import Channel, Remap, stochastic
from utmost.design.channels.channel_draws import named_mechanism
from utmost.design.channels.on_counts import GeometricMatrix
from utmost.design.spaces.distance_units import unit_named
from utmost.design.spaces.geography import Places
from utmost.errors import BadTable, PromiseBroken, Unsupported
from utmost.interfaces.documents.answers import SavedMechanism
from utmost.interfaces.documents.answers_statement import answers_guarantee, is_discrete, stated_mechanism
from utmost.interfaces.documents.space_names import secret_names
from utmost.publish.promises.codec import Form

KIND = "utmost sampler"
# A sampler is a table of at most 2^28 bits, which has 64 MB of text: a phone should read no more.
_MOST_BITS = 1 << 28
_SHORTER = (
    "Add --round, or use the design's `rounded`: its probabilities are fractions of 61 bits, and its level is the same."
)

Positions = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sampler(Display):
    """A table of integers to draw from, and the promise of a draw."""

    secrets: tuple[str, ...]  # names of the rows
    answers: tuple[str, ...]  # names of the outcomes with positive probability
    bits: int  # b, bits of a number
    lasts: tuple[tuple[int, ...], ...]  # (n, m): last number of each outcome, ascending; the last is N - 1
    promise: Mapping[str, Any]  # level, unit of distances, and checked mechanism, as in a document
    positions: Positions | None = None  # latitudes and longitudes of the secrets in degrees, for `Places.nearest`
    is_discrete: bool = False  # any two secrets are at distance 1: the guarantee names no distances

    _shown = ("secrets", "answers", "bits")

    def __post_init__(self) -> None:
        wholes = {row[-1] for row in self.lasts if row}
        if len(self.lasts) != len(self.secrets) or {len(row) for row in self.lasts} != {len(self.answers)}:
            raise BadTable("a sampler must have a row for each secret, and in it a number for each answer")
        if len(wholes) != 1 or min(wholes).bit_length() != self.bits:
            raise BadTable(f"every row must end with the same number, of {self.bits} bits", came="another number")
        if any(row[0] < 0 or any(later < last for last, later in pairwise(row)) for row in self.lasts):
            raise BadTable("the last numbers of a row must be in ascending order", came="a row in another order")
        for names in (self.secrets, self.answers):
            if len(set(names)) != len(names) or not all(isinstance(name, str) for name in names):
                raise BadTable("secrets and answers must have distinct names", came="other names")
        if self.positions is not None and [len(pair) for pair in self.positions] != [2] * len(self.secrets):
            raise BadTable("every secret must have a latitude and a longitude", came="other coordinates")

    @property
    def numbers(self) -> int:
        """N, the common denominator of all probabilities."""
        return self.lasts[0][-1] + 1

    @property
    def channel(self) -> Channel:
        """Exact distribution of a draw."""
        rows = [[last - before for before, last in pairwise((-1, *row))] for row in self.lasts]
        matrix = np.array([[Fraction(width, self.numbers) for width in row] for row in rows], dtype=object)
        return stochastic(matrix, self.secrets, self.answers)

    def answer(self, secret: str, tries: Iterable[bytes]) -> str:
        """Return the answer that random bytes give; samplers in all languages give the same answer."""
        # Each try has (b + 7) // 8 bytes, the most significant first; bits beyond b are set to 0.
        row = self.lasts[self.secrets.index(secret)]
        for block in tries:
            number = int.from_bytes(block, "big") & ((1 << self.bits) - 1)
            passed = sum(number > last for last in row)
            if passed < len(row):
                return self.answers[passed]
        raise BadTable("there must be enough random bytes for an answer", came="too few bytes")


def sampler_of(saved: SavedMechanism) -> Sampler:
    """Return the sampler of a checked mechanism: for each secret and outcome, an integer of at most N."""
    # `matrix` is the mechanism after its remap, in Fractions.
    drawing = named_mechanism(saved.mechanism)
    mechanism, remap = drawing.mechanism, drawing.remap
    if isinstance(mechanism, GeometricMatrix):
        if not mechanism.level.is_rational:
            came = f"geometric noise at {mechanism.level}"
            raise Unsupported("a sampler needs probabilities that are fractions", came=came, remedy=_SHORTER)
        powers = mechanism.size * mechanism.level.alpha_fraction().denominator.bit_length()
        if mechanism.size * len(saved.answers) * powers > _MOST_BITS:
            _refuse_size(f"{mechanism.size} x {len(saved.answers)} numbers of about {powers} bits")
        mechanism = Channel(mechanism.matrix())
    assert isinstance(mechanism, Channel), "a mechanism that is not geometric has rows"
    assert remap is None or isinstance(remap, Remap), "a design has a remap"
    matrix = (mechanism if remap is None else mechanism @ remap).matrix
    used = np.flatnonzero((matrix != 0).any(axis=0))
    common_denominator = lcm(*{chance.denominator for chance in matrix.ravel()})
    bits = (common_denominator - 1).bit_length()
    if matrix.shape[0] * len(used) * bits > _MOST_BITS:
        _refuse_size(f"{matrix.shape[0]} x {len(used)} numbers of {bits} bits")
    rows = tuple(
        tuple(
            end - 1
            for end in accumulate(chance.numerator * (common_denominator // chance.denominator) for chance in row)
        )
        for row in matrix[:, used].tolist()
    )
    if any(row[0] < 0 for row in rows):
        raise PromiseBroken(
            "every answer must be possible for every secret", came="an answer that is impossible for some secret"
        )
    promise = {**saved.facts, "unit": saved.space.unit, "mechanism": {"sha256": saved.digest, "checked": saved.checked}}
    names = tuple(secret_names(saved.space))
    positions = None
    if isinstance(saved.space, Places) and saved.space.geography.in_degrees and saved.space.geography.positions:
        positions = tuple((float(north), float(east)) for north, east in saved.space.geography.positions)
    answers = tuple(saved.answers[y] for y in used)
    return Sampler(names, answers, bits, rows, promise, positions, is_discrete(saved.space))


def _refuse_size(came: str) -> NoReturn:
    raise Unsupported("a sampler must be a table of at most 2^28 bits", came=came, remedy=_SHORTER)


def _guarantee(epsilon: str, unit: str | None, discrete: bool) -> str:
    return answers_guarantee(epsilon, unit, by_ledger=False, discrete=discrete)


def _facts(sampler: Sampler) -> dict[str, Any]:
    digits = 2 * ((sampler.bits + 7) // 8)
    promise = sampler.promise
    return {
        "guarantee": _guarantee(promise["epsilon"], promise["unit"], sampler.is_discrete),
        **promise,
        "secrets": list(sampler.secrets),
        "answers": list(sampler.answers),
        "positions": None if sampler.positions is None else list(map(list, sampler.positions)),
        "bits": sampler.bits,
        "lasts": [[f"{last:0{digits}x}" if digits else "" for last in row] for row in sampler.lasts],
    }


def _sampler(facts: Mapping[str, Any]) -> Sampler:
    level = level_facts(level_from_facts(facts)) if "alpha" in facts else {"epsilon": str(facts["epsilon"])}
    positions, unit = facts["positions"], facts["unit"]
    if unit is not None and unit_named(unit) != unit:
        raise BadTable(
            "a unit of distances must be written as its short name, such as km", came=repr(unit), where="unit"
        )
    return Sampler(
        tuple(facts["secrets"]),
        tuple(facts["answers"]),
        exact_integer(facts["bits"], "bits"),
        tuple(tuple(int.from_bytes(bytes.fromhex(last)) for last in row) for row in facts["lasts"]),
        {**level, "unit": unit, "mechanism": stated_mechanism(facts)},
        None if positions is None else tuple((float(north), float(east)) for north, east in positions),
        # The table has no distances: its guarantee says whether they are all 1.
        facts.get("guarantee") == _guarantee(level["epsilon"], unit, True),
    )


SAMPLER = Form(KIND, "a sampler", _facts, _sampler)

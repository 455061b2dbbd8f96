"""Samplers: a mechanism as a table of integers, from which a phone draws with exactly the law that is stated.

The probabilities of all rows are written over one denominator N. A draw takes b random bits, b the length of N - 1 in
binary, as a number u; where u >= N it takes b further bits. The outcome k is the first whose last number, w_0 + ... +
w_k - 1, is not below u. Each of the N numbers is equally likely, and w_k of them give k: so P(k) = w_k / N exactly.

N is one for all rows, so that how often a number is refused, and so how long a draw takes, is the same for each secret.
Source of the law: counting, as above; the format is in proofs/theory/samplers.md.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from math import lcm
from typing import Any, NoReturn

import numpy as np

from utmost.core.exact.arrays import Array
from utmost.core.exact.display import Display
from utmost.core.exact.numbers import exact_integer
from utmost.core.exact.written_levels import level_facts, level_from_facts
from utmost.design.channels.channel import Channel, Remap, stochastic
from utmost.design.channels.channel_draws import named_mechanism
from utmost.design.channels.on_counts import GeometricMatrix
from utmost.design.spaces.distance_units import unit_named
from utmost.design.spaces.geography import Places
from utmost.design.spaces.space import Space
from utmost.errors import BadTable, PromiseBroken, Unsupported
from utmost.interfaces.documents.answer_words import answers_guarantee, stated_mechanism
from utmost.interfaces.documents.answers import SavedMechanism
from utmost.interfaces.documents.space_names import secret_names
from utmost.publish.promises.codec import Form

KIND = "utmost sampler"
# Tables of 2^28 bits are text of 64 MB, which no phone should read.
_MOST_BITS = 1 << 28
_SHORTER = "Take --round, or the design's `rounded`: fractions of 61 bits, which keep the level by themselves."

Positions = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sampler(Display):
    """A table of integers to draw from, and what a draw promises.

    Attributes:
        secrets: the names of the rows.
        answers: the names of the outcomes that have a probability.
        bits: b, how many bits a number has.
        lasts: (n, m) integers: for each row and outcome the last number that gives it, ascending; the last is N - 1.
        promise: the level, the unit of distances, and the mechanism that was checked, as a document says them.
        positions: latitudes and longitudes of the secrets in degrees, for `Places.nearest` on the phone; or None.
    """

    secrets: tuple[str, ...]
    answers: tuple[str, ...]
    bits: int
    lasts: tuple[tuple[int, ...], ...]
    promise: Mapping[str, Any]
    positions: Positions | None = None

    _shown = ("secrets", "answers", "bits")

    def __post_init__(self) -> None:
        wholes = {row[-1] for row in self.lasts if row}
        if len(self.lasts) != len(self.secrets) or {len(row) for row in self.lasts} != {len(self.answers)}:
            raise BadTable("a sampler must have a row for each secret, and in it a number for each answer")
        if len(wholes) != 1 or min(wholes).bit_length() != self.bits:
            raise BadTable(f"the last number of every row must be one number of {self.bits} bits", came="another")
        if any(row[0] < 0 or any(later < last for last, later in pairwise(row)) for row in self.lasts):
            raise BadTable("the last numbers of a row must ascend", came="a row in which they do not")
        for names in (self.secrets, self.answers):
            if len(set(names)) != len(names) or not all(isinstance(name, str) for name in names):
                raise BadTable("secrets and answers must have distinct names", came="others")
        if self.positions is not None and [len(pair) for pair in self.positions] != [2] * len(self.secrets):
            raise BadTable("every secret must have a latitude and a longitude", came="others")

    @property
    def numbers(self) -> int:
        """N, how many numbers give an answer."""
        return self.lasts[0][-1] + 1

    @property
    def channel(self) -> Channel:
        """The law of a draw, exactly."""
        rows = [[last - before for before, last in pairwise((-1, *row))] for row in self.lasts]
        matrix = np.array([[Fraction(width, self.numbers) for width in row] for row in rows], dtype=object)
        return stochastic(matrix, self.secrets, self.answers)

    def answer(self, secret: str, tries: Iterable[bytes]) -> str:
        """The answer that random bytes give: what every sampler of this format makes of them.

        Args:
            secret: Name of the secret.
            tries: (b + 7) // 8 bytes each, the first byte the highest; bits beyond b are set to 0.

        >>> coin = Sampler(("a", "b"), ("x", "y"), 2, ((0, 2), (1, 2)), {})
        >>> coin.answer("a", [b"\\x07", b"\\x05"]), coin.channel.matrix[0].tolist()
        ('y', [Fraction(1, 3), Fraction(2, 3)])
        """
        row = self.lasts[self.secrets.index(secret)]
        for block in tries:
            number = int.from_bytes(block, "big") & ((1 << self.bits) - 1)
            passed = sum(number > last for last in row)
            if passed < len(row):
                return self.answers[passed]
        raise BadTable("random bytes must be enough for an answer", came="none that gives one")


def sampler_of(saved: SavedMechanism) -> Sampler:
    """The sampler of a mechanism whose level was checked; its law is the mechanism's, exactly.

    Raises:
        Unsupported: for geometric noise at a level of irrational alpha, and for a table that is too long for a phone.

    Cost: O(n m) numbers of as many bits as the common denominator has.
    """
    matrix = _rational(saved)
    used = np.flatnonzero((matrix != 0).any(axis=0))
    whole = lcm(*{chance.denominator for chance in matrix.ravel()})
    bits = (whole - 1).bit_length()
    if matrix.shape[0] * len(used) * bits > _MOST_BITS:
        _refuse_size(f"{matrix.shape[0]} x {len(used)} numbers of {bits} bits")
    rows = tuple(
        tuple(end - 1 for end in accumulate(chance.numerator * (whole // chance.denominator) for chance in row))
        for row in matrix[:, used].tolist()
    )
    if any(row[0] < 0 for row in rows):
        raise PromiseBroken("an answer must be possible for every secret", came="one that rules a secret out")
    promise = {**saved.facts, "unit": saved.space.unit, "mechanism": {"sha256": saved.digest, "checked": saved.checked}}
    names = tuple(secret_names(saved.space))
    return Sampler(names, tuple(saved.answers[y] for y in used), bits, rows, promise, _positions(saved.space))


def _rational(saved: SavedMechanism) -> Array:
    """The matrix that is drawn from, with its remap, in Fractions."""
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
    assert isinstance(mechanism, Channel), "what is no geometric mechanism has rows"
    assert remap is None or isinstance(remap, Remap), "a design has a remap"
    return (mechanism if remap is None else mechanism @ remap).matrix


def _refuse_size(came: str) -> NoReturn:
    raise Unsupported("a sampler must be a table of at most 2^28 bits", came=came, remedy=_SHORTER)


def _positions(space: Space) -> Positions | None:
    if not isinstance(space, Places) or not space.geography.in_degrees or space.geography.positions is None:
        return None
    return tuple((float(north), float(east)) for north, east in space.geography.positions)


def _facts(sampler: Sampler) -> dict[str, Any]:
    digits = 2 * ((sampler.bits + 7) // 8)
    promise = sampler.promise
    return {
        "guarantee": answers_guarantee(promise["epsilon"], promise["unit"], by_ledger=False),
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
        raise BadTable("a unit must have its short name", came="another", where="unit")
    return Sampler(
        tuple(facts["secrets"]),
        tuple(facts["answers"]),
        exact_integer(facts["bits"], "bits"),
        tuple(tuple(int.from_bytes(bytes.fromhex(last)) for last in row) for row in facts["lasts"]),
        {**level, "unit": unit, "mechanism": stated_mechanism(facts)},
        None if positions is None else tuple((float(north), float(east)) for north, east in positions),
    )


SAMPLER = Form(KIND, "a sampler", _facts, _sampler)

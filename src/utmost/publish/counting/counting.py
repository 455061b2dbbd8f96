"""Declare who owns each event, and how many cells one person may change."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_bytes

from utmost.core.exact.arguments import integer, optional, text, truth, wrong_kind
from utmost.errors import OutOfRange
from utmost.publish.counting.counted_facts import EACH_ROW
from utmost.publish.counting.counted_measures import LARGEST_DOMAIN, MeasureSpec
from utmost.tables.files.secret_file import LEAST_BYTES, counting_key

COUNTING_KEY_BYTES = 32
_LONGEST_NAME = 100  # characters of the column of persons in a statement, which is cut off beyond


@dataclass(frozen=True, slots=True)
class Counting:
    """The owner of each event, and the bound on the number of cells that one person may change.

    Args:
        person: Column of the events' owners: text or integers, in every row.
        each_row: True if each row is another person, as in a survey or a register. With ``each_row`` one person changes
            one cell. You assume that nobody has two rows; counting cannot check it.
        at_most: Largest number of cells that one person may change, >= 1; 1 if each row is a person. None is allowed
            if every measure has ``in_total``.
        together: Axis of two to five values, such as admitted and rejected. Cells that differ only in this axis form a
            row; for each person all cells of a row are kept, or none. A plan can then measure sums and differences of
            the values, see `Plan`.
        neighbours: Neighbouring relation, "add-remove" or "change-one", see `Unit`.
        key: Key of the hashes: 16 bytes or more, or the path of a file with the key, such as a recipe's secret file.
            With the same key, the same events keep the same cells. If the key is None, new random bytes are used. The
            proof of privacy needs neither a secret key nor a good hash; but whoever knows the key can invent
            identifiers of persons such that chosen cells of these persons are kept.

    Raises:
        OutOfRange: if both or neither of ``person`` and ``each_row`` are given; if ``at_most`` is below 1; if
            ``together``, or an ``at_most`` above 1, is given with ``each_row``; or if the key is shorter than 16 bytes.
        WrongKind: if an argument has another type.

    Source: bounded contributions, proofs/theory/counting.md.

    >>> Counting("user", at_most=2).individual, Counting(each_row=True).individual
    ('all rows with the same value of the column user', 'one row: for a person with k rows epsilon is k times as large')
    >>> Counting("user", at_most=2), Counting(each_row=True).at_most
    (Counting(person='user', each_row=False, at_most=2, together=None, neighbours='add-remove'), 1)
    """

    person: str | None = None
    each_row: bool = False
    at_most: int | None = None
    together: str | None = None
    neighbours: str = "add-remove"
    key: bytes | str | Path | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        person, together = optional(self.person, text, "person"), optional(self.together, text, "together")
        each_row, at_most = truth(self.each_row, "each_row"), optional(self.at_most, integer, "at_most")
        text(self.neighbours, "neighbours")
        if self.key is not None and not isinstance(self.key, bytes | str | Path):
            raise wrong_kind("key", "bytes, or the path of a key file", self.key)
        if isinstance(self.key, bytes):
            check_key(self.key)
        if person is None and not each_row:
            remedy = (
                'Pass person="user", the column of the events\' owners; or each_row=True if each row is one person.'
            )
            raise OutOfRange("exactly one of person= and each_row=True must be given", came="neither", remedy=remedy)
        if each_row and (person is not None or together is not None or at_most not in (None, 1)):
            came = "a person" if person is not None else "together" if together is not None else f"at_most={at_most}"
            remedy = "Leave out each_row=; or leave person=, together= and at_most= out."
            raise OutOfRange(
                "none of person=, together= and at_most= may be given with each_row=True", came=came, remedy=remedy
            )
        if at_most is not None and at_most < 1:
            remedy = "Pass, for example, at_most=1."
            raise OutOfRange("at_most must be at least 1", came=at_most, remedy=remedy)
        object.__setattr__(self, "each_row", each_row)
        object.__setattr__(self, "at_most", 1 if each_row else at_most)

    def key_of_hashes(self) -> bytes:
        """Return the bytes of the key; without a key, new random bytes at each call.

        Raises:
            KeyRefused: if the key file is missing, if its key is too short, or if a secret file has no ledger key.
        """
        if self.key is None:
            # With a key that is thrown away, nobody can repeat the choice, nor infer from a table which cells were
            # kept.
            return token_bytes(COUNTING_KEY_BYTES)
        return counting_key(Path(self.key)) if isinstance(self.key, str | Path) else self.key

    @property
    def individual(self) -> str:
        """Who one individual is, in words for statements."""
        if self.person is None:
            return EACH_ROW
        name = "".join(sign if sign.isprintable() else "?" for sign in self.person)
        name = name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
        return f"all rows with the same value of the column {name}"

    def most_cells(self, measures: Iterable[MeasureSpec]) -> int:
        """Return the largest number of cells that one person may change, with these measures.

        Raises:
            OutOfRange: if ``at_most`` is None and some measure has no ``in_total``, or if a measure has ``in_total``
                and ``each_row`` or ``together`` is set.
        """
        in_total = [measure.in_total for measure in measures]
        if any(bound is not None for bound in in_total) and (self.each_row or self.together is not None):
            came = "each_row=" if self.each_row else "together="
            why = "each row lies in one cell" if self.each_row else "together= already bounds the number of rows"
            remedy = f"Leave out in_total=: {why}."
            raise OutOfRange("in_total= needs person=, and cannot be combined with together=", came=came, remedy=remedy)
        if self.at_most is not None:
            return self.at_most
        # If in_total bounds every measure, no bound on the number of cells is needed.
        if all(bound is not None for bound in in_total):
            return LARGEST_DOMAIN
        remedy = "Pass, for example, at_most=1; or bound every measure by in_total=."
        raise OutOfRange("at_most must be given: the largest number of cells of one person", came="none", remedy=remedy)


def check_key(key: bytes) -> None:
    """Refuse a counting key that somebody could guess."""
    if len(key) < LEAST_BYTES:
        required, remedy = f"key must have {LEAST_BYTES} bytes or more", "Pass secrets.token_bytes(32)."
        raise OutOfRange(required, came=len(key), remedy=remedy)

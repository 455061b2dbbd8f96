"""Draw answers from a saved mechanism, for one secret or a column of secrets, and write their statement."""

import json
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from utmost.core.exact.written_levels import level_facts
from utmost.core.sampling.random_bits import SystemRandomness
from utmost.design.channels.channel import Channel
from utmost.design.channels.channel_draws import named_mechanism
from utmost.design.local.checked_mechanisms import read_mechanism
from utmost.design.optima.optimum import Optimum
from utmost.design.privacy_types.smallest_level import smallest_epsilon
from utmost.design.spaces.space import Space
from utmost.errors import BadTable, OutOfRange, PromiseBroken, Unsupported
from utmost.interfaces.documents.answers_statement import (
    ANSWERS_FORM,
    BY_DESIGN,
    BY_ROWS,
    EACH_ROW_IS_A_PERSON,
    ROUNDED,
    StatedAnswers,
    answers_guarantee,
    is_discrete,
)
from utmost.interfaces.documents.saved_designs import read_design
from utmost.interfaces.documents.space_names import secret_names
from utmost.publish.ledger.ledger import Ledger
from utmost.publish.promises.codec import digest_of, does_not_follow
from utmost.tables.cells.columns import check_distinct, is_missing
from utmost.tables.files import files
from utmost.tables.files.json_files import read_json
from utmost.tables.files.saving import SavedTable
from utmost.tables.files.sidecars import sidecar_path
from utmost.tables.frames.adapters import no_column

Keeper = Callable[[Mapping[str, str | None]], tuple[dict[str, str], int]]
"""Maps secrets by person to answers by person, and to the number of answers that the ledger had before."""


@dataclass(frozen=True, slots=True, eq=False)
class SavedMechanism:
    """A mechanism that was read from a file, and whose level was checked."""

    mechanism: Optimum | Channel
    space: Space
    answers: tuple[str, ...]  # name of each outcome
    facts: dict[str, Any]  # level, as in a statement
    checked: str  # how the level was checked
    digest: str  # SHA-256 of the file

    def draw(self, secrets: Sequence[str]) -> list[str]:
        numbers = named_mechanism(self.mechanism).numbers(
            np.array(self.rows(secrets), np.intp), SystemRandomness(), None
        )
        return [self.answers[y] for y in numbers.tolist()]

    def rows(self, secrets: Sequence[str]) -> list[int]:
        """Return the row of each secret in the matrix; `secrets` has names, or indices if no name is a number."""
        names = secret_names(self.space)
        plain = list(map(_plain, names))
        row_of = {text: at for at, text in enumerate(plain) if plain.count(text) == 1}
        if not any(text.lstrip("+-").isdigit() for text in plain):
            row_of |= {str(at): at for at in range(len(names))}
        row_of |= {name.strip(): at for at, name in enumerate(names)}
        rows = []
        for at, text in enumerate(secrets):
            row = row_of.get(text.strip(), row_of.get(_plain(text)))
            if row is None:
                raise OutOfRange(
                    f"a secret must be one of the {self.space.size} names, or an index in 0..{self.space.size - 1}",
                    # The message names the row, and never the secret.
                    came=f"another secret, in row {at + 1}" if len(secrets) > 1 else "another secret",
                )
            rows.append(row)
        return rows

    def answers_in_ledger(
        self,
        ledger: Ledger,
        persons: Mapping[str, str | None],
        *,
        name: str,
        dataset: str | None,
        version: int | None,
        independent: bool,
    ) -> tuple[dict[str, str], int]:
        """Let a ledger answer each person once; return {person: answer}, and how many answers were stored before."""
        # A person with the secret None has an answer already.
        texts = [text for text in persons.values() if text is not None]
        names, rows = named_mechanism(self.mechanism).names, iter(self.rows(texts))
        called = range(self.space.size) if names is None else names  # where names are numbers, a number is a name
        secrets = {person: None if text is None else called[next(rows)] for person, text in persons.items()}
        mechanism = read_mechanism(self.mechanism, self.space if isinstance(self.mechanism, Channel) else None)
        before = ledger.answered(name, persons, version=version)
        answers = ledger.respond(name, mechanism, secrets, dataset=dataset, version=version, independent=independent)
        return {person: str(answer) for person, answer in answers.items()}, len(before)

    def statement(self, *, by_ledger: bool = False, **metadata: Any) -> dict[str, Any]:
        """Return the statement of answers, with `metadata` about their table or their persons."""
        mechanism = {"sha256": self.digest, "checked": self.checked}
        return ANSWERS_FORM.statement(StatedAnswers(self.facts, self.space, by_ledger, mechanism, metadata), None)

    def guarantee(self, *, by_ledger: bool = False) -> str:
        discrete = is_discrete(self.space)
        return answers_guarantee(self.facts["epsilon"], self.space.unit, by_ledger=by_ledger, discrete=discrete)


def saved_mechanism(path: Path, space: Space | None = None) -> SavedMechanism:
    """Read a mechanism: check a design's certificate again, or compute a channel's level."""
    digest = sha256(path.read_bytes()).hexdigest()
    mechanism = read_design(path)
    if isinstance(mechanism, Optimum):
        if space is not None:
            raise OutOfRange(
                "--space must be left out for a design, which has its own space",
                came="--space",
                remedy="Leave out --space.",
            )
        certificate = mechanism.certificate
        space, actions = certificate.ptype.space, certificate.consumer.actions
        names = secret_names(space) if actions == space.size else list(map(str, range(actions)))
        facts = level_facts(certificate.ptype.level)
        return SavedMechanism(mechanism, space, tuple(names), facts, BY_DESIGN, digest)
    if space is None:
        remedy = f"Add, for example, --space line:{mechanism.shape[0]}."
        raise OutOfRange(
            "a channel needs --space, from which the distances of secrets are taken", came="none", remedy=remedy
        )
    if mechanism.shape[0] != space.size:
        remedy = f"Write, for example, --space line:{mechanism.shape[0]}."
        raise OutOfRange(f"--space must have {mechanism.shape[0]} secrets", came=space.size, remedy=remedy)
    if not mechanism.is_exact:
        raise Unsupported(
            "to draw answers, the rows of a channel must sum to exactly 1",
            came="rounded decimals",
            remedy="Write fractions; or make the channel exact and private with utmost.optima.repair.",
        )
    epsilon = smallest_epsilon(mechanism, space)
    if epsilon.value == float("inf"):
        remedy = "Use a channel in which each column is all zeros or all positive."
        raise PromiseBroken(
            "a channel must satisfy a finite level", came="an outcome that is impossible for some secret", remedy=remedy
        )
    facts = {"epsilon": str(epsilon.value)} if epsilon.level is None else level_facts(epsilon.level)
    outcomes = range(mechanism.shape[1]) if mechanism.outcomes is None else mechanism.outcomes
    if mechanism.secrets is not None:
        space = Space(space.metric, [str(name) for name in mechanism.secrets])
    return SavedMechanism(mechanism, space, tuple(map(str, outcomes)), facts, BY_ROWS, digest)


def check_mechanism(statement: Mapping[str, Any], path: Path, table: Mapping[str, Any]) -> None:
    """Check that the mechanism in a file is the one of a checked statement, and can give every answer of the table.

    Raises:
        BadTable: if the file has another mechanism, space or level than the statement, or if the mechanism cannot give
            an answer of the table.
    """
    stated, space = ANSWERS_FORM.checked(statement), None
    if sha256(path.read_bytes()).hexdigest() != stated.mechanism["sha256"]:
        required = "the mechanism must have the SHA-256 that the statement gives"
        remedy = "Name the design from which the answers were drawn."
        raise BadTable(required, came="another file", where=str(path), remedy=remedy)
    if stated.mechanism["checked"] == BY_ROWS:
        space = stated.space
    saved = saved_mechanism(path, space)
    if stated.mechanism["checked"].removesuffix(ROUNDED) != saved.checked:
        raise does_not_follow("mechanism")
    own = saved.statement(by_ledger=stated.by_ledger)
    for name in ("space", "guarantee", *saved.facts):
        if statement.get(name) != json.loads(json.dumps(own[name])):
            raise does_not_follow(name)
    if "column" in statement and not {*map(str, table[statement["column"]])} <= {*saved.answers}:
        required = "every answer must be one that the mechanism can give"
        raise BadTable(required, came="another answer", where=f"column {statement['column']!r}")


def _plain(name: str) -> str:
    """Remove the brackets and blanks of a point, so that "(2, 3)" and "2,3" are equal; return other names unchanged."""
    text = name.strip()
    return text.strip("()").replace(" ", "") if text.strip("()+-., 0123456789") == "" else text


@dataclass(frozen=True, slots=True)
class ColumnsToAnswer:
    """How each column of a table is treated: answered, published as it is, or left out."""

    column: str  # column of secrets
    public: Sequence[str]  # published without change
    drop: Sequence[str]  # left out
    id_column: str | None  # public; identifies persons, one row each
    kept: Path | None  # file of earlier answers by the same mechanism, repeated for the same persons

    def __post_init__(self) -> None:
        for option, names in (("--public", self.public), ("--drop", self.drop)):
            if self.column in names:
                required, remedy = "must not name the column of the secrets", f"Leave {self.column} out of {option}."
                raise OutOfRange(f"{option} {required}", came=self.column, remedy=remedy)
        both = sorted({*self.public} & {*self.drop})
        if both:
            required = "every other column must be in exactly one of --public and --drop"
            raise OutOfRange(required, came=", ".join(both), remedy=f"Leave {both[0]} out of --public or of --drop.")
        if self.answer_column in self.public:
            required = f"the answers need the column name {self.answer_column!r}"
            remedy = "Rename the public column of this name, or add it to --drop."
            raise BadTable(required, came="a public column of this name", remedy=remedy)
        if self.id_column is not None and self.id_column not in self.public:
            remedy = f"Add --public {self.id_column}: this column identifies the answers of a person."
            raise OutOfRange("--id must name a public column", came=self.id_column, remedy=remedy)
        if self.kept is not None and self.id_column is None:
            required = "--kept needs --id, the column that identifies persons"
            raise OutOfRange(required, came="none", remedy="Add --id person.")

    @property
    def answer_column(self) -> str:
        return f"{self.column}_answer"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AnsweredTable(SavedTable):
    """A table that has answers instead of secrets, and its statement."""

    _shown = ("rows",)

    table: dict[str, list[Any]]
    facts: dict[str, Any]  # statement without the digest of the table

    @property
    def rows(self) -> int:
        return int(self.facts["rows"])

    def statement_with(self, digest: Mapping[str, str] | None) -> dict[str, Any]:
        """Return the statement, with the digest of the published table."""
        return self.facts | {"table": None if digest is None else dict(digest)}


def answered_table(
    saved: SavedMechanism, path: Path, request: ColumnsToAnswer, keeper: Keeper | None = None
) -> AnsweredTable:
    """Read a table, answer each secret, and make the statement; `keeper` repeats the answers of a ledger."""
    table = files.columns(files.read(path))
    declared = (request.column, *request.public, *request.drop)
    for name in declared:
        if name not in table:
            raise no_column(name, list(table))
    left = [name for name in table if name not in declared]
    if left:
        required = "every other column must be in exactly one of --public and --drop"
        remedy = f"Add --drop {','.join(left)}, or --public for columns that depend on no person."
        raise OutOfRange(required, came=", ".join(left), remedy=remedy)
    secrets = ["" if is_missing(cell) else str(cell) for cell in table[request.column]]
    if request.id_column is None:
        drawn, repeated = saved.draw(secrets), 0
    else:
        ids = _persons(table[request.id_column], request.id_column)
        check_distinct(ids, request.id_column, _row)
        if keeper is not None:
            answers, repeated = keeper(dict(zip(ids, secrets, strict=True)))
            drawn = list(answers.values())
        else:
            known = {}
            if request.kept is not None:
                known = _earlier_answers(saved, request.kept, str(request.id_column), request.answer_column)
            fresh = iter(saved.draw([text for person, text in zip(ids, secrets, strict=True) if person not in known]))
            drawn = [known[person] if person in known else next(fresh) for person in ids]
            repeated = sum(person in known for person in ids)
    columns = {
        request.answer_column if name == request.column else name: drawn if name == request.column else cells
        for name, cells in table.items()
        if name not in request.drop
    }
    statement = saved.statement(
        by_ledger=keeper is not None,
        column=request.answer_column,
        public=[name for name in table if name in request.public],
        rows=len(drawn),
        repeated=repeated,
        of=EACH_ROW_IS_A_PERSON,
    )
    return AnsweredTable(columns, statement)


def _earlier_answers(saved: SavedMechanism, path: Path, person: str, answer: str) -> dict[str, str]:
    """Check the statement of a file of `utmost respond --out`, and return its answers as {person: answers}."""
    statement = read_json(sidecar_path(path), "a statement must")
    stated, digest = ANSWERS_FORM.checked(statement), digest_of(statement)
    if stated.mechanism["sha256"] != saved.digest:
        raise PromiseBroken(
            "the answers in --kept must come from the same mechanism",
            came="answers of another mechanism",
            where=str(path),
            remedy="Name the design with which the answers in --kept were drawn.",
        )
    if digest is None or digest["sha256"] != sha256(path.read_bytes()).hexdigest():
        raise BadTable(
            "the file of --kept must be unchanged since utmost respond wrote it",
            came="a changed file",
            where=str(path),
            remedy="Restore the file from a backup.",
        )
    table = files.columns(files.read(path))
    for name in (person, answer):
        if name not in table:
            raise no_column(name, list(table))
    return dict(zip(_persons(table[person], person), table[answer], strict=True))


def _persons(column: Sequence[Any], name: str) -> list[str]:
    """Return the text that names each person; the 7 of one file and the "7" of another are one person."""
    check_distinct(column, name, _row)
    for at, person in enumerate(column):
        # The texts of floats and times depend on the file: by another text a person would be answered a second time.
        if isinstance(person, bool) or not isinstance(person, int | str | np.integer):
            raise BadTable(
                "identifiers of people must be text or whole numbers",
                came=type(person).__name__,
                where=f"{_row(at)}, column {name!r}",
                remedy="Write the identifiers as text, always in the same way.",
            )
    return [unicodedata.normalize("NFC", str(person).strip()) for person in column]


def _row(at: int) -> str:
    return f"row {at + 1}"

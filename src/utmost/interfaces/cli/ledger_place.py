"""Open the ledger that a command names; refuse passwords on the command line."""

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar
from urllib.parse import parse_qsl, urlsplit

from utmost.errors import LedgerUnavailable, OutOfRange, Quarantined, UtmostError
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import flag, option

_SERVERS = ("postgresql", "postgres")


@dataclass(frozen=True, slots=True)
class LedgerPlaceOptions:
    """Options for the path or address of a ledger, the path of its key, and the path of its witness."""

    # Other users of the machine and the shell's history can read a command line. An error does not repeat a password.

    ledger: options.LedgerPlace
    key_file: options.KeyFile = None
    witness: options.WitnessFile = None

    def __post_init__(self) -> None:
        check_no_password(self.ledger)

    @property
    def path(self) -> Path | None:
        """Return the file of an SQLite ledger; None for a server."""
        if is_server(self.ledger):
            return None
        return Path(self.ledger.removeprefix("sqlite:///"))

    @property
    def is_there(self) -> bool:
        """Whether the file of the ledger exists; True for a server, which must be opened to find out."""
        return self.path is None or self.path.exists()

    @contextmanager
    def opened(self, *, create: bool = False, timeout: float = 60.0) -> Iterator[Any]:
        """Open the ledger, or with `create` make it if there is none; close it afterwards."""
        from utmost.publish.ledger.ledger import Ledger

        try:
            opened = Ledger.open(self.ledger, create=create, key=self.key, witness=self.witness_path, timeout=timeout)
        except LedgerUnavailable as error:
            if error.is_absent:
                files = {"--key-file": self.key, "--witness": self.witness_path}
                words = [word for name, file in files.items() if file is not None for word in (name, file)]
                command = shlex.join(["utmost", "ledger", "create", self.ledger, *words])
                error.remedy = f"Correct the name; or create a ledger, once: {command}"
            raise
        with opened as ledger:
            try:
                yield ledger
            except UtmostError as error:
                with suppress(UtmostError):  # the ledger may be out of reach
                    if not isinstance(error, Quarantined) and (reason := ledger.status().quarantine) is not None:
                        error.add_note(f"The ledger is also in quarantine: {reason}.")
                raise

    def counting_key(self) -> bytes:
        """Return the key that decides which cells of a person are counted, derived from the ledger's key."""
        with self.opened() as ledger:  # refuses a ledger or key that is not there, before minutes of counting
            key: bytes = ledger.counting_key()
        return key

    @property
    def key(self) -> str | None:
        return None if self.key_file is None else os.fspath(self.key_file)

    @property
    def witness_path(self) -> str | None:
        return None if self.witness is None else os.fspath(self.witness)


@dataclass(frozen=True, slots=True)
class LedgerBudgetOptions:
    """Options that name a ledger, and the dataset whose budget is charged."""

    title: ClassVar[str] = "In a ledger"

    ledger: Annotated[str | None, option("PLACE", "Ledger: SQLite file or postgresql://HOST/DATABASE.")] = None
    dataset: Annotated[str | None, option("NAME", "Dataset whose budget is charged.")] = None
    independent: Annotated[bool, flag("State that nobody in this dataset is in another dataset.")] = False
    key_file: options.KeyFile = None
    witness: options.WitnessFile = None

    @property
    def place(self) -> LedgerPlaceOptions:
        return LedgerPlaceOptions(str(self.ledger), self.key_file, self.witness)


@dataclass(frozen=True, slots=True)
class LedgerOptions(LedgerBudgetOptions):
    """Options that name a ledger, a dataset, and a release with its version."""

    name: Annotated[str | None, option("NAME", "Name of the release.")] = None
    version: Annotated[
        int | None,
        option("N", "Version of the data, if they changed, say 2; epsilons of versions add up.", "--data-version"),
    ] = None


def is_server(text: str) -> bool:
    return text.partition("://")[0].lower() in _SERVERS and "://" in text


def check_place(text: str) -> None:
    """Refuse a ledger's address that has a password, or that is for neither SQLite nor PostgreSQL."""
    check_no_password(text)
    if "://" in text and not text.startswith((*(f"{name}://" for name in _SERVERS), "sqlite:///")):
        raise OutOfRange(
            "a ledger must be in SQLite or PostgreSQL",
            came=f"{text.partition('://')[0]}://",
            where="--ledger",
            remedy="Write a path, sqlite:///PATH or postgresql://HOST/DATABASE.",
        )


def check_no_password(text: str) -> None:
    """Refuse a ledger's address that has a password."""
    try:
        address = urlsplit(text)
        names = [name.lower() for name, _ in parse_qsl(address.query, keep_blank_values=True)]
        secret = address.password is not None or any("password" in name for name in names)
    except ValueError:
        secret = is_server(text)
    if secret or "password=" in text.lower():
        raise OutOfRange(
            "the address must contain no password, because others can read a command line",
            where="--ledger",
            remedy="Pass the password as the environment variable PGPASSWORD, in ~/.pgpass, or by a connection "
            "service (PGSERVICE).",
        )

"""The ledger's key: where it is read from, and the keys derived from it.

A key appears in no message, log or repr, and in no local variable of a frame that an exception leaves: functions that
read a key return a `Key`, or return the error for a caller to raise.
"""

import errno
import hmac
import os
from hashlib import sha256
from pathlib import Path
from typing import NoReturn

from utmost.core.exact.disk import force
from utmost.core.sampling.item_words import length_prefixed
from utmost.core.sampling.random_bits import entropy
from utmost.errors import KeyRefused, LedgerUnavailable, Unsupported
from utmost.tables.files.secret_file import LEDGER_KEY, is_secret_file, ledger_secret, secret, secrets_lost

OWNER_ONLY = 0o600


def make_file(path: Path) -> None:
    """Make an empty file of mode 0600, for any umask; leave an existing file unchanged."""
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
    except FileExistsError:
        return
    except OSError as error:
        remedy = "Nothing was spent; make the same call again once the cause is removed."
        raise LedgerUnavailable(
            "the files of the ledger must be writable", came=error.strerror, where=str(path), remedy=remedy
        ) from None
    try:
        owner_only(file)
    finally:
        os.close(file)


def owner_only(file: int) -> None:
    """Set the mode of an open file to 0600, since a umask can remove bits from the mode of its creation."""
    if os.name == "posix":
        os.fchmod(file, OWNER_ONLY)


KEY_BYTES = 32  # a key has 32 bytes or more
KEY_VARIABLE, FILE_VARIABLE = "UTMOST_LEDGER_KEY", "UTMOST_LEDGER_KEY_FILE"

# Without mode bits, the protection of the directory must suffice.
_HAS_MODES = os.name == "posix"


class Key:
    """Secret bytes, which cannot be printed, pickled or copied; made by `given_key` and `found_key`."""

    __slots__ = ("_derived", "_secret")

    def __init__(self, secret: bytes) -> None:
        self._secret = ledger_secret(secret)
        self._derived: dict[tuple[str, ...], bytes] = {}

    def derived(self, *purpose: str) -> bytes:
        """Return 32 bytes for one purpose, by HKDF; they reveal nothing about the key or other purposes' bytes."""
        derived = self._derived.get(purpose)
        if derived is None:
            # 32 bytes are the first block of HKDF-Expand.
            derived = hmac.digest(self._secret, length_prefixed(purpose) + b"\x01", sha256)
            if len(self._derived) < 64:
                self._derived[purpose] = derived
        return derived

    @property
    def fingerprint(self) -> str:
        """A public digest of the key, which distinguishes a wrong key from a damaged ledger."""
        return self.derived("fingerprint")[:8].hex()

    def __repr__(self) -> str:
        return "Key(...)"

    def __reduce__(self) -> NoReturn:
        raise Unsupported(
            "a key must not be copied", where="Key", remedy="Open the ledger again in the process that uses it."
        )


GivenKey = Key | Path | KeyRefused | None
"""The argument ``key=`` after parsing: a key, the path of its file, the error to raise, or None if left out."""


def given_key(key: object) -> GivenKey:
    if isinstance(key, bytes | bytearray):
        return _key_of(bytes(key), "key")
    if isinstance(key, str | Path) and str(key):
        return Path(key)
    if key is None:
        return None
    return KeyRefused("a key must be bytes or the path of a key file", came=type(key).__name__, where="key")


def key_path(source: GivenKey) -> Path | None:
    """Return the path of the key file, from the argument or the environment; None if the key is not in a file."""
    place = source if source is not None else _of_environment()
    return place if isinstance(place, Path) else None


def key_file_of(source: GivenKey, beside: Path | None) -> Path | None:
    """Return the path of the key file, by default the path ``beside`` an SQLite file (releases.db.key); None if the key
    is not in a file.
    """
    place = source if source is not None else _of_environment()
    return beside if place is None else place if isinstance(place, Path) else None


def found_key(source: GivenKey, beside: Path | None, *, fresh: bool) -> Key:
    """Find the key in the argument, the environment, or the file ``beside``; with ``fresh``, for a new ledger, the file
    is made if it is missing.
    """
    key = source if source is not None else _of_environment()
    if key is None and beside is not None:
        if fresh and not beside.exists():
            make_key_file(beside)
        key = beside
    if isinstance(key, Path):
        if fresh and not is_secret_file(key) and not key.exists():
            make_key_file(key)
        key = _of_file(key)
    if isinstance(key, KeyRefused):
        raise key
    if key is None:
        remedy = f"Pass key=, or set {KEY_VARIABLE} or {FILE_VARIABLE}."
        raise KeyRefused("a ledger in a database server needs key=", came="none", remedy=remedy)
    return key


def make_key_file(path: Path) -> None:
    """Write a new key to a file that only its owner can read, atomically; keep an existing file."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.{entropy(4).hex()}")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY), "w") as file:
            owner_only(file.fileno())
            file.write(entropy(KEY_BYTES).hex() + "\n")
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        else:
            force(path.parent)
    except OSError as error:
        remedy = (
            "Make the folder of the key file first."
            if isinstance(error, FileNotFoundError)
            else "Make room there."
            if error.errno == errno.ENOSPC
            else "Check its permissions, or pass another key=."
        )
        raise KeyRefused("the key file must be writable", came=error.strerror, where=str(path), remedy=remedy) from None
    finally:
        draft.unlink(missing_ok=True)


def _of_environment() -> GivenKey:
    if os.environ.get(KEY_VARIABLE):
        return _key_of_text(os.environ[KEY_VARIABLE], KEY_VARIABLE)
    return Path(os.environ[FILE_VARIABLE]) if os.environ.get(FILE_VARIABLE) else None


def _of_file(path: Path) -> Key | KeyRefused:
    if is_secret_file(path) and not path.exists():
        return secrets_lost(path)
    try:
        mode = path.stat().st_mode
        if _HAS_MODES and mode & 0o077:  # a key file that others may read is refused
            came, remedy = f"mode {mode & 0o777:o}", f"Run: chmod 600 {path}"
            return KeyRefused(
                "only the owner of the key file may have access to it", came=came, where=str(path), remedy=remedy
            )
        if is_secret_file(path):
            return _key_of_text(secret(path, LEDGER_KEY) or "-", f"{LEDGER_KEY} of {path}")
        return _key_of_text(path.read_text(encoding="ascii").strip(), str(path))
    except UnicodeDecodeError:
        return _not_hexadecimal(str(path))
    except OSError:
        remedy = (
            'If a recipe made the ledger, pass the secret file of the recipe, key="NAME.secret.toml"; otherwise '
            "put the key file back."
        )
        return KeyRefused(
            "the key file must exist and be readable", came="no readable file", where=str(path), remedy=remedy
        )


def _key_of_text(text: str, where: str) -> Key | KeyRefused:
    try:
        return _key_of(bytes.fromhex(text), where)
    except ValueError:
        return _not_hexadecimal(where)


def _not_hexadecimal(where: str) -> KeyRefused:
    return KeyRefused(
        "a key must be hexadecimal",
        where=where,
        remedy=f"Write {2 * KEY_BYTES} or more of the digits 0 to 9 and a to f.",
    )


def _key_of(secret: bytes, where: str) -> Key | KeyRefused:
    if len(secret) < KEY_BYTES:
        return KeyRefused(f"a key must be {KEY_BYTES} bytes or more", where=where)
    return Key(secret)

"""The ledger's key: where it comes from, and the keys derived from it. It appears in no message, log or repr."""

import hmac
import os
import secrets
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import NoReturn

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

from utmost.errors import KeyRefused, Unsupported

KEY_BYTES = 32
KEY_VARIABLE, FILE_VARIABLE = "UTMOST_LEDGER_KEY", "UTMOST_LEDGER_KEY_FILE"

# Where access is not told by mode bits, the directory's own protection must do.
_HAS_MODES = os.name == "posix"


class Key:
    """At least 32 secret bytes. It cannot be printed, pickled or copied.

    >>> Key(bytes(32))
    Key(...)
    """

    __slots__ = ("_derived", "_secret")

    def __init__(self, secret: bytes) -> None:
        if not isinstance(secret, bytes | bytearray) or len(secret) < KEY_BYTES:
            raise KeyRefused(f"a key must be {KEY_BYTES} bytes or more", where="key")
        self._secret = hmac.digest(b"utmost ledger", bytes(secret), sha256)
        self._derived: dict[tuple[str, ...], bytes] = {}

    def derived(self, *purpose: str) -> bytes:
        """32 bytes for one purpose, by HKDF; nothing about the key or about another purpose follows from them."""
        found = self._derived.get(purpose)
        if found is None:
            info = b"".join(len(part.encode()).to_bytes(4, "big") + part.encode() for part in purpose)
            found = HKDFExpand(hashes.SHA256(), KEY_BYTES, info).derive(self._secret)
            if len(self._derived) < 64:
                self._derived[purpose] = found
        return found

    @property
    def fingerprint(self) -> str:
        """A public name of the key, by which a wrong one is told from a damaged ledger."""
        return self.derived("fingerprint")[:8].hex()

    def __repr__(self) -> str:
        return "Key(...)"

    def __reduce__(self) -> NoReturn:
        raise Unsupported("a key must not be copied", where="Key", mend="Open the ledger where it is used.")


def found_key(key: object, beside: Path | None, *, fresh: bool, environment: Mapping[str, str] = os.environ) -> Key:
    """The key that was given, or that of the environment, or that of the file beside the ledger.

    Args:
        key: bytes, a path of a key file, or None.
        beside: the key file beside the ledger; None where there is no such place.
        fresh: whether the ledger is about to be made: only then is a key made, too.

    Raises:
        KeyRefused: where there is none, or none that is secret.
    """
    if isinstance(key, bytes | bytearray):
        return Key(bytes(key))
    if isinstance(key, str | Path):
        return _read(Path(key))
    if key is not None:
        raise KeyRefused("a key must be bytes or the path of a key file", came=type(key).__name__, where="key")
    if environment.get(KEY_VARIABLE):
        return Key(_from_hex(environment[KEY_VARIABLE], KEY_VARIABLE))
    if environment.get(FILE_VARIABLE):
        return _read(Path(environment[FILE_VARIABLE]))
    if beside is None:
        mend = f"Pass key=, or set {KEY_VARIABLE} or {FILE_VARIABLE}."
        raise KeyRefused("a ledger in a database server needs a key", came="none", where="key", mend=mend)
    if fresh and not beside.exists():
        make_key_file(beside)
    return _read(beside)


def make_key_file(path: Path) -> None:
    """Write a new key to a file that only its owner can read; one that is there stays.

    The file appears whole or not at all, also where two processes make it at once.
    """
    draft = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_hex(KEY_BYTES) + "\n")
            file.flush()
            os.fsync(file.fileno())
        _link(draft, path)
    except OSError as error:
        raise KeyRefused("the key file must be writable", came=error.strerror, where=str(path)) from None
    finally:
        draft.unlink(missing_ok=True)


def _link(draft: Path, path: Path) -> None:
    try:
        os.link(draft, path)
    except FileExistsError:
        return
    if _HAS_MODES:
        directory = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


def _read(path: Path) -> Key:
    try:
        mode, text = path.stat().st_mode, path.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError) as error:
        mend = "Put the ledger's key file back: without its key a ledger cannot be used."
        raise KeyRefused("the key file must be there", came=type(error).__name__, where=str(path), mend=mend) from None
    if _HAS_MODES and mode & 0o077:
        mend = f"Run: chmod 600 {path}"
        raise KeyRefused(
            "the key file must be its owner's alone", came=f"mode {mode & 0o777:o}", where=str(path), mend=mend
        )
    return Key(_from_hex(text.strip(), str(path)))


def _from_hex(text: str, where: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise KeyRefused("a key must be hexadecimal", where=where, mend=f"{2 * KEY_BYTES} digits or more.") from None

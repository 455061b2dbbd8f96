"""The secret file of a job, with the ledger's key and the path of the witness file, which detects that the ledger file
was replaced by an older copy. The key for counting events is derived from the ledger's key, or stored in a separate
file.
"""

import hmac
import os
import tomllib
from hashlib import sha256
from pathlib import Path

from utmost.core.sampling.item_words import derived_secret
from utmost.core.sampling.random_bits import entropy
from utmost.errors import KeyRefused

SECRET_ENDING = ".toml"
LEDGER_KEY, WITNESS = "ledger-key", "witness"
_BYTES = 32
COUNTING = "counting"
"""The purpose of the key for counting, which is derived from the ledger's key. With this key, each run counts the same
events of a person.
"""
LEAST_BYTES, _MOST_BYTES = 16, 1 << 20
"""The fewest bytes of a counting key, since nobody can try all keys of 128 bits; and the most bytes, since /dev/urandom
never ends.
"""
_HEAD = """\
# Secrets of a job. Whoever has this file and the ledger can read every answer: keep it as safe as the data, back it up
# once, and keep it out of version control. A lost ledger-key cannot be replaced.
"""


def is_secret_file(path: Path) -> bool:
    """Whether a key file is a secret file, which also contains the path of the witness file."""
    return path.suffix.lower() == SECRET_ENDING


def new_secrets(witness: str) -> str:
    """Return the text of a secret file: a new ledger key, and the path ``witness``, relative to the folder of the
    file.
    """
    from utmost.tables.files.toml_files import toml_value

    secrets = {LEDGER_KEY: entropy(_BYTES).hex(), WITNESS: witness}
    return _HEAD + "".join(f"{name} = {toml_value(text)}\n" for name, text in secrets.items())


def secret(path: Path, name: str) -> str | None:
    """One secret of the file, or None if the file contains no text of this name, or is not valid TOML."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8-sig")).get(name)
    except tomllib.TOMLDecodeError:
        return None
    return found if isinstance(found, str) else None


def witness_of(key_file: Path | None) -> Path | None:
    """The path of the witness file that a secret file names, resolved from the secret file's folder; None for any other
    key file.
    """
    if key_file is None or not is_secret_file(key_file) or not key_file.is_file():
        return None
    named = secret(key_file, WITNESS)
    return None if named is None else Path(os.path.normpath(key_file.parent / named))


def ledger_secret(key: bytes) -> bytes:
    """HKDF's extract of the ledger's key, from which all keys of a ledger are derived."""
    return hmac.digest(b"utmost ledger", key, sha256)


def counting_key(path: Path) -> bytes:
    """The key for counting events. The key is derived from the ledger's key if the file is a secret file; any other
    file contains the key itself.
    """
    if is_secret_file(path) and not path.exists():
        raise secrets_lost(path)
    try:
        if is_secret_file(path):
            try:
                ledger_key = bytes.fromhex(secret(path, LEDGER_KEY) or "")
            except ValueError:
                ledger_key = b""
            if len(ledger_key) >= _BYTES:
                return derived_secret(ledger_secret(ledger_key), COUNTING)
            required = f"a secret file must have a {LEDGER_KEY} of {2 * _BYTES} hexadecimal digits or more"
            refused = KeyRefused(required, came="none", where=str(path), remedy=_RESTORE)
        else:
            with path.open("rb") as file:
                key = file.read(_MOST_BYTES + 1)
            if LEAST_BYTES <= len(key) <= _MOST_BYTES:
                return key
            # A larger file may contain data, so the remedy does not overwrite it.
            place = path if path.is_file() and len(key) < LEAST_BYTES else "count.key"
            remedy = f"Restore the key, or write a new one: head -c 32 /dev/urandom > {place}"
            came = len(key) if len(key) < LEAST_BYTES else "more"
            required = f"a counting key must have {LEAST_BYTES} to {_MOST_BYTES} bytes"
            refused = KeyRefused(required, came=came, where=str(path), remedy=remedy)
    except OSError as error:
        remedy = "Correct the name of the file."
        refused = KeyRefused("the key file must exist", came=error.strerror, where=str(path), remedy=remedy)
    raise refused


_RESTORE = "Restore the secret file from a backup: a new one cannot open the ledger."


def secrets_lost(path: Path) -> KeyRefused:
    """Return the error for a missing secret file."""
    return KeyRefused("the secret file must exist", came="no such file", where=str(path), remedy=_RESTORE)

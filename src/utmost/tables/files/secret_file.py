"""The secret file of a job: the ledger's key, the key for counting events, and the place of the witness."""

import os
import tomllib
from pathlib import Path

from utmost.core.sampling.random_bits import entropy
from utmost.errors import KeyRefused

SECRET_ENDING = ".toml"
LEDGER_KEY, COUNT_KEY, WITNESS = "ledger-key", "count-key", "witness"
_BYTES = 32
LEAST_BYTES, _MOST_BYTES = 16, 1 << 20
"""Fewest bytes of a counting key: nobody can try all keys of 128 bits. The most: /dev/urandom never ends."""
_HEAD = """\
# Secrets of a job. Whoever has this file and the ledger can read every answer: keep it as safe as the data, back it up
# once, and keep it out of version control. A lost ledger-key cannot be replaced.
"""


def is_secret_file(path: Path) -> bool:
    """Whether a key file is a secret file, which has more than one key."""
    return path.suffix.lower() == SECRET_ENDING


def new_secrets(witness: str) -> str:
    """The text of a secret file with new keys, and the path of the witness file relative to its folder."""
    from utmost.tables.files.toml_files import toml_value

    keys = {LEDGER_KEY: entropy(_BYTES).hex(), COUNT_KEY: entropy(_BYTES).hex(), WITNESS: witness}
    return _HEAD + "".join(f"{name} = {toml_value(text)}\n" for name, text in keys.items())


def secret(path: Path, name: str) -> str | None:
    """One secret of the file, or None. The error for invalid TOML quotes nothing."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8-sig")).get(name)
    except tomllib.TOMLDecodeError:
        return None
    return found if isinstance(found, str) else None


def witness_of(key_file: Path | None) -> Path | None:
    """The witness file that a secret file names, relative to its folder; None for any other key file."""
    if key_file is None or not is_secret_file(key_file) or not key_file.is_file():
        return None
    named = secret(key_file, WITNESS)
    return None if named is None else Path(os.path.normpath(key_file.parent / named))


def counting_key(path: Path) -> bytes:
    """The key for counting events: that of a secret file, else the whole file."""
    if is_secret_file(path) and not path.exists():
        raise secrets_lost(path)
    # A secret file has the ledger's key, too: no remedy may write over it.
    new_line = f'Write a line {COUNT_KEY} = "..." with {2 * _BYTES} hexadecimal digits.'
    try:
        if is_secret_file(path):
            key, remedy = bytes.fromhex(secret(path, COUNT_KEY) or "-"), new_line
        else:
            with path.open("rb") as file:
                key = file.read(_MOST_BYTES + 1)
            place = path if path.is_file() else "count.key"
            remedy = f"Restore the key, or write a new one: head -c 32 /dev/urandom > {place}"
        if LEAST_BYTES <= len(key) <= _MOST_BYTES:
            return key
        required = f"a counting key must have {LEAST_BYTES} to {_MOST_BYTES} bytes"
        came = len(key) if len(key) < LEAST_BYTES else "more"
        refused = KeyRefused(required, came=came, where=str(path), remedy=remedy)
    except OSError as error:
        remedy = "Correct the name."
        refused = KeyRefused("the key file must exist", came=error.strerror, where=str(path), remedy=remedy)
    except ValueError:
        came = f"no {COUNT_KEY}"
        refused = KeyRefused("a secret file must have its keys", came=came, where=str(path), remedy=new_line)
    raise refused


def secrets_lost(path: Path) -> KeyRefused:
    """The refusal of a missing secret file."""
    remedy = "Restore it from a backup: a new secret file cannot open the ledger."
    return KeyRefused("the secret file must exist", came="no such file", where=str(path), remedy=remedy)

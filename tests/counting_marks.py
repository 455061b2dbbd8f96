"""The hashes that choose what is kept of a person, as proofs/theory/counting.md lists them, one AES block at a time."""

from hashlib import sha256

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand


def _derived(secret: bytes, purpose: bytes) -> bytes:
    return HKDFExpand(hashes.SHA256(), 32, len(purpose).to_bytes(4, "big") + purpose).derive(secret)


def _mac(secret: bytes, *blocks: bytes) -> bytes:
    state = bytes(16)
    for block in blocks:
        mixed = bytes(a ^ b for a, b in zip(state, block, strict=True))
        state = Cipher(algorithms.AES(secret), modes.ECB()).encryptor().update(mixed)
    return state


def _secret(purpose: bytes, key: bytes) -> bytes:
    return sha256(b"".join(len(part).to_bytes(8, "big") + part for part in (purpose, key))).digest()


def _person_tag(secret: bytes, person: str) -> bytes:
    text = person.encode("utf-8", "surrogatepass")
    said = b"\4" + len(text).to_bytes(4, "big") + text
    said += bytes(-len(said) % 16)
    return _mac(_derived(secret, b"tag"), *(said[at : at + 16] for at in range(0, len(said), 16)))


def person_mark(purpose: bytes, key: bytes, person: str) -> int:
    """The mark of a person, 64 bits."""
    return int.from_bytes(_person_tag(_secret(purpose, key), person)[:8], "little")


def pair_mark(purpose: bytes, key: bytes, person: str, number: int) -> int:
    """The mark of a person and a numbered cell or value, 64 bits."""
    secret = _secret(purpose, key)
    of_number = _mac(_derived(secret, b"tag"), b"\1" + bytes(7) + number.to_bytes(8, "little"))
    header = b"\5" + (2).to_bytes(4, "big") + bytes(11)
    blocks = header, _person_tag(secret, person), of_number
    return int.from_bytes(_mac(_derived(secret, b"compound"), *blocks)[:8], "little")

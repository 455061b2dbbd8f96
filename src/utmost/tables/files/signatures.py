"""Signatures of statements: Ed25519 (RFC 8032) signatures of the bytes of the statement's file, with a key from
openssl.

openssl genpkey -algorithm ed25519 -out curator.pem      # keep it; mode 0600
openssl pkey -in curator.pem -pubout -out curator.pub    # publish it, where readers know you
"""

import os
import stat
from collections.abc import Callable
from pathlib import Path

from utmost.errors import KeyRefused, PromiseBroken

Signer = Callable[[bytes], bytes]
"""A function from a message to its signature."""


def signature_path(statement: Path) -> Path:
    return statement.with_name(statement.name + ".sig")


_MAKE = "Create a key: openssl genpkey -algorithm ed25519 -out curator.pem"


def signer_of(path: Path) -> Signer:
    """Return a function that signs with the private key in a PEM file."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
        remedy = f"Run chmod 600 {path}."
        raise KeyRefused(
            "only its owner may read a signing key", came="a file open to others", where=str(path), remedy=remedy
        )
    try:
        key = load_pem_private_key(path.read_bytes(), None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise KeyRefused(
            "a signing key must be an Ed25519 key in PEM, without a password", where=str(path), remedy=_MAKE
        )
    return key.sign


def check_signature(signature: bytes, message: bytes, public_key: Path, where: str) -> None:
    """Check that the owner of a public key (a PEM file) has signed a message; ``where`` is the signature's file."""
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        key = load_pem_public_key(public_key.read_bytes())
    except (ValueError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PublicKey):
        raise KeyRefused("a public key must be an Ed25519 key in PEM", where=str(public_key))
    try:
        key.verify(signature, message)
    except InvalidSignature:
        raise PromiseBroken(
            "the signature must belong to this statement and to this key",
            came="a signature of another text, or by another key",
            where=where,
        ) from None

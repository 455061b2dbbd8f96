"""State `released_admissions.csv` anew and sign its statement with a key that is thrown away, for readers to try.

The release itself was drawn once and is not drawn again: `utmost release` with the promise below wrote it. Run this
where the format of statements has changed: python examples/make_released_admissions.py
"""

import hashlib
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from utmost import Promise, Unit
from utmost.statements import Statement
from utmost.tables.files import sidecars, signatures
from utmost.tables.files.json_files import write_json

HERE = Path(__file__).parent
TABLE = HERE / "released_admissions.csv"

promise = Promise("admitted", public=["department", "sex"], unit=Unit(1, 1))
content = TABLE.read_bytes()
digest = {"of": "file", "sha256": hashlib.sha256(content).hexdigest()}
said = Statement(promise, promise.at("1/2"), content.count(b"\n") - 1, digest, None).facts()
path = sidecars.sidecar_path(TABLE)
with path.open("wb") as file:
    write_json(said, file)
key = Ed25519PrivateKey.generate()
signatures.signature_path(path).write_bytes(key.sign(path.read_bytes()))
(HERE / "curator.pub").write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))

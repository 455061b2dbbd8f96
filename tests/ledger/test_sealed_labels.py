"""A thief of an encrypted ledger reads no label: not in its file, witness or backup, in any encoding."""

import base64
import json
import shutil
import sqlite3
import zlib
from contextlib import closing
from hashlib import sha256

import psycopg
import pytest

import utmost as ut
from ledger.crash_points import the_store_cannot_write
from postgres import fresh_database
from utmost.errors import KeyRefused, LedgerDamaged, LedgerUnavailable
from utmost.ledger import Ledger, read_sealed

# Seals are made and opened as a thief would try it, and no ledger does.
from utmost.publish.ledger.block_encryption import Seal
from utmost.publish.ledger.labels import (
    Labels,
    label_key_under,
    label_parts,
    label_texts,
    opened_label_seal,
    stored_labels,
)
from utmost.publish.promises.drawing import BLOCK

KEY = bytes(range(32))
WORDS = ["Haematology", "Nephrology ward é", "Zoë Quintessa"]
TABLE = {"ward": WORDS, "visits": [12, 7, 31]}
PROMISE = {"columns": "visits", "public": "ward", "unit": ut.Unit(1, 1)}


def label_blocks(columns, rows, *how):
    """Public columns as an event stores them."""
    return label_parts(label_texts(columns, rows), rows, len(columns), *how)


def spellings(word):
    """The encodings in which a thief looks for a word: text, JSON, hexadecimal, base64 at any offset."""
    plain = [word.encode("utf-8"), word.encode("utf-16-le"), word.encode("utf-16-be"), word.encode("utf-32-le")]
    plain.append(json.dumps(word)[1:-1].encode())
    found = set(plain)
    for text in plain:
        found |= {text.hex().encode(), text.hex().upper().encode(), text[::-1]}
        for skip in range(3):
            coded = base64.b64encode(b"\0" * skip + text)
            found.add(coded[-(-8 * skip // 6) : len(coded) - 4])
    return {one for one in found if len(one) > 4}


def opened(content):
    """The bytes, and what zlib decompresses from any place where a stream may begin."""
    yield content
    seen = memoryview(content)
    starts = [(0, -zlib.MAX_WBITS)] if content else []
    for start in range(len(content) - 1):
        first = content[start]
        if first & 15 == 8 and first < 0x80 and (256 * first + content[start + 1]) % 31 == 0:
            starts.append((start, zlib.MAX_WBITS))
    for start, form in starts:
        try:
            yield zlib.decompressobj(form).decompress(seen[start:])
        except zlib.error:
            continue


def stolen(*contents):
    """The labels that a thief finds in these bytes."""
    seen = [one for content in contents for one in opened(content)]
    return sorted({word for word in WORDS for spelt in spellings(word) if any(spelt in one for one in seen)})


def written(folder, place, *, sealed=True):
    """A ledger that was published, relaxed and backed up in a folder; the keys of its levels."""
    with Ledger.open(place, create=True, key=KEY, witness=folder / "l.witness", sealed=sealed) as ledger:
        ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon="1/2")
        ledger.relax("r", TABLE, epsilon=2)
        ledger.view("r", epsilon=1)
        ledger.backup(folder / "b.db")
        ledger.verify()
        return {at: ledger.level_key("r", epsilon=at) for at in ("1/2", 1, 2)} if sealed else {}


def test_a_thief_of_the_files_finds_no_label(tmp_path, monkeypatch):
    """Not in ledger, witness, backup and pending events of an encrypted ledger; the same search finds all in an
    unencrypted one."""
    for sealed in (True, False):
        folder = tmp_path / str(sealed)
        folder.mkdir()
        written(folder, folder / "l.db", sealed=sealed)
        with (
            monkeypatch.context() as cut,
            Ledger.open(folder / "l.db", key=KEY, witness=folder / "l.witness") as ledger,
        ):
            the_store_cannot_write(cut)
            with pytest.raises(LedgerUnavailable, match="is stored"):
                ledger.publish("s", TABLE, ut.Promise(**PROMISE), epsilon=1, independent=True)
        for path in sorted(folder.iterdir()):
            assert stolen(path.read_bytes()) == ([] if sealed else WORDS), path.name


def test_a_thief_of_a_server_finds_no_label(tmp_path):
    place = fresh_database()
    keys = written(tmp_path, place)
    with psycopg.connect(place) as connection:
        rows = [row for name in ("events", "parts") for row in connection.execute(f"SELECT * FROM utmost_{name}")]
    connection.close()
    assert stolen(*(bytes(cell) for row in rows for cell in row if isinstance(cell, bytes | memoryview))) == []
    assert read_sealed(tmp_path / "b.db", "r", keys[1]).table["ward"] == WORDS


def test_every_level_opens_the_labels_and_nothing_else_does(tmp_path):
    """Keys of published, relaxed and tightened levels; a key of another level or release opens neither values nor
    labels."""
    keys = written(tmp_path, tmp_path / "l.db")
    assert all(read_sealed(tmp_path / "l.db", "r", key).table["ward"] == WORDS for key in keys.values())
    with Ledger.open(tmp_path / "l.db", key=KEY, witness=tmp_path / "l.witness") as ledger:
        assert ledger.relax("r", TABLE, epsilon=5).table["ward"] == ledger.view("r", epsilon=3).table["ward"] == WORDS
        assert read_sealed(tmp_path / "l.db", "r", ledger.level_key("r", epsilon=3)).table["ward"] == WORDS
        ledger.publish("s", TABLE, ut.Promise(**PROMISE), epsilon=1, independent=True)
        with pytest.raises(KeyRefused):
            read_sealed(tmp_path / "l.db", "r", ledger.level_key("s", epsilon=1))


def test_equal_labels_are_not_seen_to_be_equal_and_no_digest_tests_a_guess(tmp_path):
    """Two releases with the same public column share no encrypted block, key or digest."""
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY) as ledger:
        for name in ("r", "s"):
            ledger.publish(name, TABLE, ut.Promise(**PROMISE), epsilon=1, independent=True)
        facts = [event.facts for event in ledger.history() if event.kind == "published"]
    for fact in ("digest", "salt"):
        assert facts[0]["labels"][fact] != facts[1]["labels"][fact]
    assert facts[0]["label_key"] != facts[1]["label_key"]
    (guess,) = label_blocks({"ward": WORDS}, 3)
    assert all(sha256(sha256(guess).digest()).hexdigest() != fact["labels"]["digest"] for fact in facts)


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (3, 3), (500, 1), (500, 3), (BLOCK, 1), (BLOCK + 1, 3)])
def test_short_labels_have_one_length_and_longer_ones_double_it(rows, columns):
    """The stored length depends on rows and columns, for labels of up to 12 bytes a cell; then it doubles."""
    seal = Seal(bytes(32))

    def lengths(word):
        return {len(part) for part in label_blocks({f"c{at}": [word] * rows for at in range(columns)}, rows, seal)}

    least = max(1024, 16 * min(rows, BLOCK) * columns)
    assert lengths("") == lengths("x") == lengths("a dozen here") == {least + 28}
    assert all((size - 28) % least == 0 and ((size - 28) // least).bit_count() == 1 for size in lengths("x" * 99))
    mixed = label_blocks({"c": ["y" * 99] + [""] * (rows - 1)}, rows, seal)
    assert len({len(part) for part in mixed}) == 1


def test_what_was_changed_opens_nothing(tmp_path):
    """An encrypted block, the key of the labels under a level, and a salt of another release."""
    keys = written(tmp_path, tmp_path / "l.db")
    shutil.copy(tmp_path / "l.db", tmp_path / "copy.db")
    with closing(sqlite3.connect(tmp_path / "copy.db")) as connection, connection:
        connection.execute("UPDATE utmost_parts SET content = zeroblob(4124) WHERE event = 2 AND part = 1")
    connection.close()
    with pytest.raises(KeyRefused):
        read_sealed(tmp_path / "copy.db", "r", keys["1/2"])
    changed = Ledger.open(tmp_path / "copy.db", key=KEY, witness=tmp_path / "l.witness")
    with changed as ledger, pytest.raises(LedgerDamaged):
        ledger.view("r", epsilon=1)
    level, labels = Seal(bytes(32), b"facts"), Seal(bytes([1]) * 32, b"labels")
    kept = label_key_under(level, 7, labels)
    assert opened_label_seal(level, 7, kept) == labels
    for seal, event, text in (
        (level, 8, kept),
        (Seal(bytes(32), b"other"), 7, kept),
        (level, 7, f"00{kept[2:]}" if kept[:2] != "00" else f"11{kept[2:]}"),
        (level, 7, "no hexadecimal"),
        (level, 7, ""),
    ):
        with pytest.raises(LedgerDamaged):
            opened_label_seal(seal, event, text)
    assert label_key_under(level, 7, Seal(None)) is None
    assert opened_label_seal(level, 7, None) == Seal(None)


def test_sealed_labels_are_bound_to_their_place():
    """A block from another event, or from another place in the event, is refused."""

    class Parts:
        def __init__(self, parts):
            self.parts = dict(enumerate(parts, start=1))

        def part(self, event, part):
            return self.parts.get(part)

    seal, rows = Seal(bytes(32), b"labels"), BLOCK + 1
    parts = label_blocks({"ward": [str(row) for row in range(rows)]}, rows, seal, 2, 1)
    labels = Labels.of(["ward"], parts, "00")
    assert stored_labels(Parts(parts), 2, 3, labels, seal)["ward"][-1] == str(BLOCK)
    turned = Labels.of(["ward"], parts[::-1], "00")
    for kept, event, about in ((parts[::-1], 2, turned), (parts, 3, labels)):
        with pytest.raises(LedgerDamaged):
            stored_labels(Parts(kept), event, 3, about, seal)

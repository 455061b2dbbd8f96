"""`utmost verify`: the statement follows from itself, the table is the one stated, and the curator signed it."""

import html
import json
import os
from hashlib import sha256
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from running import new_ledger, with_recipe

ROOT = Path(__file__).parents[2]
BERKELEY = str(ROOT / "examples/berkeley_admissions.csv")
PROMISE = ["--columns", "admitted", "--public", "department,sex", "--drop", "applicants", "--epsilon", "1"]
PROMISE += ["--sensitivity", "1", "--cells", "1"]


def key_pair(folder, name="curator", kind=Ed25519PrivateKey):
    """A private and a public key file in PEM, as openssl writes them."""
    key = kind.generate()
    private, public = folder / f"{name}.pem", folder / f"{name}.pub"
    private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    private.chmod(0o600)
    public.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return private, public


@pytest.fixture
def released(run, tmp_path):
    """A signed release: its file, and the public key."""
    private, public = key_pair(tmp_path)
    out = tmp_path / "released.csv"
    assert run(*with_recipe("release", BERKELEY, *PROMISE, "--out", out, "--sign", private))[0] == 0
    return out, public


def test_a_release_is_what_its_statement_says(run, released, tmp_path):
    out, public = released
    code, shown, err = run("verify", out, "--public-key", public, "--json")
    found = json.loads(shown)
    assert (code, err) == (0, "")
    assert (found["statement"], found["table"], found["signature"]) == ("consistent", "unchanged", "valid")
    assert len(Path(f"{out}.json.sig").read_bytes()) == 64
    code, shown, _ = run("verify", out)
    assert (code, "not checked: no public key was given" in shown) == (0, True)
    signed = tmp_path / "signed.html"
    assert run("statement", out, "--html", signed)[0] == 0
    os.unlink(f"{out}.json.sig")
    shown = " ".join(run("verify", out)[1].split())
    assert "signature none: whoever can change the table and its statement can make them agree" in shown
    assert shown.endswith("these files come from the publisher: they are not signed")
    assert "matches its statement" in shown
    page = tmp_path / "page.html"
    assert run("statement", out, "--html", page)[0] == 0
    pages = [html.unescape(file.read_text()) for file in (signed, page)]
    for said in (
        "Signature: none: whoever can change the table and its statement",
        "<li>These files come from the publisher",
    ):
        assert [said in text for text in pages] == [False, True]
    assert json.loads(run("verify", out, "--json")[1])["signature"] == "none"
    code, _, err = run("verify", out, "--public-key", public)
    assert (code, "must be signed; got no signature" in err) == (1, True)


def test_refusals_name_the_remedy(run, tmp_path):
    """Each sentence names an option or a command that mends the call."""
    table, out = tmp_path / "t.csv", tmp_path / "out.csv"
    table.write_text("n\n1\n2\n")
    cells = ["--columns", "n", "--sensitivity", "1", "--cells", "1"]
    code, _, err = run("release", table, *cells, "--epsilon", "0,5")
    assert (code, "Write 0.5 with a point, or a fraction such as 1/2." in err) == (2, True)
    _, _, err = run("release", table, "--by", "n", "--epsilon", "1")
    assert "Say who is one person: add --each-row if each row is another person, or --person COLUMN." in err
    assert run("release", table, *cells, "--epsilon", "1/2", "--out", out)[0] == 0
    spent = "spends epsilon a second time"
    assert spent in run("release", table, *cells, "--epsilon", "1/2", "--out", out)[2]
    page = tmp_path / "page.html"
    page.write_text("")
    _, _, err = run("statement", out, "--html", page)
    assert ("Choose another name" in err, spent in err) == (True, False)
    assert "`utmost clean` works on releases by a plan" in run("clean", out)[2]
    code, _, err = run("verify", f"{out}.json")
    assert (code, "Name the table, not its statement: out.csv." in err) == (1, True)
    (tmp_path / "part.csv").write_text("".join(out.read_text().splitlines(keepends=True)[:2]))
    code, _, err = run("verify", tmp_path / "part.csv", "--statement", f"{out}.json")
    assert (code, "a part of the table, or a copy in another format" in err) == (1, True)


@pytest.mark.parametrize("at", [0, 30, -2])
def test_a_byte_of_the_table_changed_is_told(run, released, at):
    out, _ = released
    content = bytearray(out.read_bytes())
    content[at] ^= 1
    out.write_bytes(content)
    code, shown, err = run("verify", out)
    assert (code, shown) == (1, "")
    assert "the table was changed after it was released, or belongs to another statement; got another SHA-256" in err
    code, _, err = run("read", out, "--column", "admitted", "--n", 900, "--prior", "uniform")
    assert (code, "another SHA-256" in err) == (1, True)


def test_a_signature_by_another_is_refused(run, released, tmp_path):
    out, _ = released
    _, other = key_pair(tmp_path, "other")
    code, _, err = run("verify", out, "--public-key", other)
    assert (code, "by another key" in err) == (1, True)
    _, wrong = key_pair(tmp_path, "wrong", X25519PrivateKey)
    for text in (wrong.read_text(), "", "no key"):
        wrong.write_text(text)
        code, _, err = run("verify", out, "--public-key", wrong)
        assert (code, "must be an Ed25519 key in PEM" in err) == (1, True)


def test_a_key_that_cannot_sign_is_refused_before_anything_is_drawn(run, tmp_path):
    private, _ = key_pair(tmp_path)
    out = tmp_path / "o.csv"
    asked = ["release", BERKELEY, *PROMISE]
    code, _, err = run(*with_recipe(*asked, "--sign", private))
    assert (code, "a signed statement must go to a file" in err) == (2, True)
    private.chmod(0o640)
    code, _, err = run(*with_recipe(*asked, "--sign", private, "--out", out))
    assert (code, "only its owner may read a signing key" in err) == (1, True)
    private.chmod(0o600)
    for text in ("", "no key", key_pair(tmp_path, "wrong", X25519PrivateKey)[0].read_text()):
        private.write_text(text)
        code, _, err = run(*with_recipe(*asked, "--sign", private, "--out", out))
        assert (code, "must be an Ed25519 key in PEM" in err) == (1, True)
    assert not out.exists()


def test_releases_and_views_of_a_ledger_are_verified_too(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    private, public = key_pair(tmp_path)
    place, sign = ["--ledger", new_ledger("r.db"), "--name", "a"], ["--sign", private]
    assert run(*with_recipe("release", BERKELEY, *PROMISE, *place, *sign, "--out", "one.csv"))[0] == 0
    assert run(*with_recipe("relax", BERKELEY, *place, "--epsilon", "2", *sign, "--out", "two.csv"))[0] == 0
    assert run("view", *place, "--epsilon", "1/2", *sign, "--out", "half.csv")[0] == 0
    for name in ("one", "two", "half"):
        assert Path(f"{name}.csv").read_text().splitlines()[0] == "department,sex,admitted,admitted_margin"
        code, _, err = run("verify", f"{name}.csv", "--public-key", public)
        assert (code, err) == (0, "")


BROKEN = {
    "a name twice": '{"kind": "utmost statement", "kind": "utmost statement"}',
    "no number": '{"kind": "utmost statement", "margin": NaN}',
    "a deep nest": "[" * 100_000,
    "no text": "\x00",
    "another kind": '{"kind": "utmost design"}',
    "nothing else": '{"kind": "utmost statement", "format": 1}',
    "another format": '{"kind": "utmost statement", "format": 99}',
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_what_is_no_statement_is_one_message(run, released, text):
    out, _ = released
    Path(f"{out}.json").write_text(text)
    for command in (
        ["verify", out],
        ["read", out, "--column", "admitted", "--n", 9, "--prior", "uniform"],
    ):
        code, shown, err = run(*command)
        assert code in (1, 2)
        assert (shown, len(err.splitlines())) == ("", 1)


def test_a_statement_is_believed_of_its_own_columns_alone(run, released):
    out, _ = released
    code, _, err = run("read", out, "--column", "admitted_margin", "--n", 9, "--prior", "uniform")
    assert (code, "must describe the noise of the column that is read; got admitted" in err) == (1, True)


@pytest.mark.parametrize(("numbers", "options"), [("integers", []), ("reals", ["--numbers", "reals"])])
def test_a_cell_that_cannot_have_been_released_is_refused_whatever_the_digest_says(run, tmp_path, numbers, options):
    """A blank, a formula, text, a number between the steps; in the column of margins, too, where it was a crash."""
    table, out = tmp_path / "t.csv", tmp_path / "out.csv"
    table.write_text("ward,n\na,7\nb,9\n")
    promise = ["--columns", "n", "--public", "ward", "--sensitivity", "1", "--cells", "1", "--epsilon", "1"]
    assert run(*with_recipe("release", table, *promise, *options, "--out", out))[0] == 0
    beside = tmp_path / "out.csv.json"
    text, statement = out.read_text(), json.loads(beside.read_text())
    lines = [line.split(",") for line in text.splitlines()]
    for place in (1, 2):
        for cell in ("", "=1+1", "nan", "inf", "true", "1/3", "7.0001", "x", "1e400" if numbers == "reals" else "0.5"):
            forged = [line if at != 1 else [*line[:place], cell, *line[place + 1 :]] for at, line in enumerate(lines)]
            out.write_text("".join(",".join(line) + "\n" for line in forged))
            digest = {"of": "file", "sha256": sha256(out.read_bytes()).hexdigest()}
            beside.write_text(json.dumps(statement | {"table": digest}))
            code, _, err = run("verify", out)
            assert code == 1, (place, cell)
            assert "released cell" in err if place == 1 else "margin" in err
    out.write_text(text)
    beside.write_text(json.dumps(statement))
    assert run("verify", out)[0] == 0

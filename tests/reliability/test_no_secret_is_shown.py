"""No key stands in what is printed, logged, raised or shown, with every local variable of every frame."""

import io
import logging
import sys
import traceback
from pathlib import Path

import pytest

import utmost as ut
from utmost.errors import UtmostError
from utmost.ledger import Ledger

ROOT = Path(__file__).parents[2]
BERKELEY = str(ROOT / "examples/berkeley_admissions.csv")
# A key that is easy to recognise, as text, as bytes and as Python shows bytes.
SECRET = b"tell-nobody-" * 3
SHOWN = [SECRET.hex(), SECRET.decode(), SECRET.hex().upper(), repr(SECRET)[2:-1]]
PASSWORD = "swordfish-of-the-curator"
TABLE = {"row": ["a", "b", "c"], "n": [5, 6, 7]}
UNIT = {"columns": ["n"], "public": ["row"], "unit": ut.Unit(1, 1)}


def shown(error):
    """All that a traceback can show: messages, and every local of every frame, and of every error behind it."""
    found = traceback.TracebackException.from_exception(error, capture_locals=True, limit=None)
    return "".join(found.format(chain=True))


def check_silent(text, *more):
    """The frames of these tests hold the key; everything below them must not."""
    for secret in (*SHOWN, *more):
        assert secret not in text, f"{secret} is shown: ...{text[max(0, text.index(secret) - 300) :][:500]}"


def raised(call, *arguments, kind=UtmostError, **options):
    """The error of a call; its traceback without the frames of this file, which know the key."""
    with pytest.raises(kind) as caught:
        call(*arguments, **options)
    error = caught.value
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    return error.with_traceback(trace)


@pytest.fixture
def ledger(tmp_path):
    with Ledger.open(tmp_path / "l.db", create=True, key=SECRET) as opened:
        opened.publish("r", TABLE, ut.Promise(**UNIT), epsilon="1/2")
        yield opened


MISTAKES = {
    "another table": lambda ledger: ledger.relax("r", TABLE | {"n": [5, 6, 8]}, epsilon=2).table,
    "an unknown release": lambda ledger: ledger.view("x", epsilon=1).table,
    "a level too higher": lambda ledger: ledger.view("r", epsilon=2).table,
    "no level": lambda ledger: ledger.relax("r", TABLE, epsilon=0).table,
    "a bad cell": lambda ledger: ledger.publish("s", {"row": ["a"], "n": [None]}, ut.Promise(**UNIT), epsilon=1).table,
    "another promise": lambda ledger: (
        ledger.publish("r", TABLE, ut.Promise(**{**UNIT, "unit": ut.Unit(2, 1)}), epsilon="1/2").table
    ),
    "a receipt of another": lambda ledger: ledger.check("utmost-receipt:" + "0" * 200),
    "a needless resume": lambda ledger: ledger.resume("why"),
    "a copy": lambda ledger: ledger.__reduce__(),
    "a level key of nothing": lambda ledger: ledger.level_key("r", epsilon=3),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_errors_of_an_open_ledger(ledger, mistake):
    error = raised(MISTAKES[mistake], ledger)
    check_silent(shown(error))
    check_silent(str(error) + repr(error))


def test_reprs(ledger, tmp_path):
    """Whatever belongs to a ledger may be shown."""
    check_silent(repr(ledger) + str(ledger.status()) + repr(ledger.releases) + str(ledger.history()))
    check_silent(repr(ledger.verify()) + ledger.receipt())
    seen, waiting = set(), [ledger]
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen or not type(thing).__module__.startswith("utmost."):
            continue
        seen.add(id(thing))
        check_silent(repr(thing))
        for kind in type(thing).__mro__:
            slots = getattr(kind, "__slots__", ())
            for name in (slots,) if isinstance(slots, str) else slots:
                waiting.append(getattr(thing, name, None))
        waiting.extend(vars(thing).values() if hasattr(thing, "__dict__") else ())
    assert len(seen) > 3


def test_a_damaged_ledger(tmp_path, ledger):
    place = tmp_path / "l.db"
    content = bytearray(place.read_bytes())
    content[content.index(b'"published"') + 2] ^= 1
    place.write_bytes(content)
    check_silent(shown(raised(lambda: Ledger.open(place, create=True, key=SECRET).verify())))


def test_keys_that_are_refused(tmp_path, monkeypatch):
    """A key in a variable or a file that is wrong, too short, misspelt or open to others is not shown either."""
    place = tmp_path / "l.db"
    Ledger.open(place, create=True, key=bytes(32)).close()
    file = tmp_path / "key"
    for written, mode in (
        (SECRET.hex(), 0o600),
        (SECRET.hex(), 0o644),
        (SECRET.hex() + "x", 0o600),
        (SECRET.hex()[:40], 0o600),
    ):
        file.write_text(written)
        file.chmod(mode)
        error = raised(Ledger.open, place, key=str(file))
        check_silent(shown(error), written)
        check_silent(str(error), written)
    monkeypatch.setenv("UTMOST_LEDGER_KEY_FILE", str(file))
    for written in (SECRET.hex(), SECRET.hex() + "x", SECRET.hex()[:40], "not hexadecimal " + SECRET.decode()):
        monkeypatch.setenv("UTMOST_LEDGER_KEY", written)
        error = raised(Ledger.open, place)
        check_silent(shown(error), written)
    monkeypatch.delenv("UTMOST_LEDGER_KEY")
    error = raised(Ledger.open, place, key=SECRET[:20])
    check_silent(shown(error), repr(SECRET[:20])[2:-1])


@pytest.mark.parametrize("opening", [Ledger.open, Ledger.restore, Ledger.resume])
def test_a_misspelt_word_beside_a_key(tmp_path, opening):
    """The frame that compared the words held what came by them, the key too."""
    check_silent(shown(raised(opening, tmp_path / "l.db", kind=TypeError, creat=True, key=SECRET)))


def test_a_key_in_the_place_of_a_ledger():
    check_silent(str(raised(Ledger.open, SECRET, create=True)))


def test_logs(ledger, caplog):
    """Nothing of it is logged, at any level."""
    with caplog.at_level(logging.DEBUG):
        ledger.relax("r", TABLE, epsilon=2)
        ledger.view("r", epsilon=1)
        ledger.verify()
    check_silent(caplog.text)


def test_files_of_a_ledger(ledger, tmp_path):
    """A key that was given stands in no file, and the backup holds none."""
    ledger.relax("r", TABLE, epsilon=2)
    ledger.backup(tmp_path / "copy.db")
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    assert SECRET not in content
    assert SECRET.hex().encode() not in content


COMMANDS = [
    [
        "release", BERKELEY, "--columns", "admitted", "--drop", "department,sex,applicants", "--sensitivity", "1",
        "--cells", "1", "--epsilon", "1", "--name", "a",
    ],
    ["relax", BERKELEY, "--name", "a", "--epsilon", "2", "--json"],
    ["view", "--name", "a", "--epsilon", "1/2"],
    ["view", "--name", "a", "--epsilon", "3"],
    ["view", "--name", "unknown", "--epsilon", "1"],
    ["ledger", "status"],
    ["ledger", "status", "--json"],
    ["ledger", "verify"],
    ["ledger", "history", "--json"],
    ["ledger", "budget", "--dataset", "a", "--limit", "1"],
    ["ledger", "backup", "--out", "copy.db"],
    ["ledger", "receipt"],
    ["ledger", "resume", "--reason", "none"],
]  # fmt: skip


def test_commands(tmp_path, monkeypatch):
    """With the key in the environment no command prints it, right or wrong."""
    from running import main

    monkeypatch.chdir(tmp_path)
    for key in (SECRET.hex(), SECRET.hex()[::-1][:70] + "00", SECRET.hex() + "g"):
        monkeypatch.setenv("UTMOST_LEDGER_KEY", key)
        for arguments in COMMANDS:
            out, err = io.StringIO(), io.StringIO()
            monkeypatch.setattr(sys, "stdout", out)
            monkeypatch.setattr(sys, "stderr", err)
            out.buffer = io.BytesIO()
            with pytest.raises(SystemExit):
                main([*arguments, "--ledger", "l.db"])
            text = out.getvalue() + err.getvalue() + out.buffer.getvalue().decode()
            assert text, arguments
            assert "Traceback" not in text
            check_silent(text, key)


def test_no_option_takes_a_key():
    """Every option of every command: files and places, and no key itself.

    What `utmost respond` answers for is a secret in the sense of the glossary; `-` reads it from standard input.
    """
    from running import every_command

    found = [(words, option) for words, command in every_command() for one in command.params for option in one.opts]
    assert ("ledger verify", "--key-file") in found
    words = ("password", "secret", "token")
    told = {("respond", "--secret"), ("serve", "--new-admin-token")}  # the latter asks for one, and takes none
    assert {where for where in found if any(word in where[1] for word in words)} == told
    files = {"--count-key", "--key-file", "--public-key"}
    assert {name for _, name in found if "key" in name} == files | {"--unknown-keys"}  # keys of counts: a column


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://keeper:{PASSWORD}@127.0.0.1:1/none",
        f"postgresql://keeper@127.0.0.1:1/none?password={PASSWORD}",
        f"postgres://:{PASSWORD}@127.0.0.1:1/none",
        f"POSTGRESQL://k:{PASSWORD}@[::1]:1/none",
        f"host=127.0.0.1 password={PASSWORD}",
    ],
)
def test_passwords_on_the_command_line_are_refused_and_not_repeated(capsys, address):
    """The library takes an address with a password; the command line does not, and neither repeats it."""
    from running import main

    for command in (["ledger", "status"], ["view", "--name", "a", "--epsilon", "1"]):
        with pytest.raises(SystemExit) as ended:
            main([*command, "--ledger", address])
        out, err = capsys.readouterr()
        assert ended.value.code == 2
        assert PASSWORD not in out + err
        assert "PGPASSWORD" in err


def test_passwords_of_a_server_are_not_repeated(monkeypatch):
    """A server that is not there: neither the message nor a traceback shows the password."""
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    monkeypatch.setenv("UTMOST_LEDGER_KEY", SECRET.hex())
    error = raised(Ledger.open, "postgresql://keeper@127.0.0.1:1/none", timeout=1)
    check_silent(shown(error), PASSWORD)
    error = raised(Ledger.open, f"postgresql://keeper:{PASSWORD}@127.0.0.1:1/none", timeout=1)
    assert PASSWORD not in str(error)

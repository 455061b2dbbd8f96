"""Notices: one for what is new, once it is durable, with nothing in it but a sentence and an address."""

import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from socketserver import StreamRequestHandler, ThreadingTCPServer

import pytest

from service.conftest import TABLE, TERMS, publish
from service.publications import propose_by, publish_by
from utmost.errors import OutOfRange, UtmostError
from utmost.exact import level

# A notice goes to a webhook of the test, and its sentence is the one that is kept.
from utmost.interfaces.service.notices import SENTENCES, Notices
from utmost.service import Grant, Settings

ONE_STORE = True

ADDRESS = "https://ledger.example"


@contextmanager
def listening(server):
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def webhook(statuses=()):
    """A place that takes notices: what came, and the port."""
    came, left = [], list(statuses)

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self):
            came.append((self.path, json.loads(self.rfile.read(int(self.headers["content-length"])))))
            self.send_response(left.pop(0) if left else 200)
            self.send_header("Location", "/elsewhere")
            self.end_headers()

        def log_message(self, *_):
            pass

    with listening(HTTPServer(("127.0.0.1", 0), Hook)) as port:
        yield came, port


def wait_for(came, number):
    last = time.monotonic() + 30
    while len(came) < number and time.monotonic() < last:
        time.sleep(0.01)
    return [body["notice"] for _, body in came]


def test_each_step_is_told_once_and_says_no_value(service, who, clock):
    """A proposal and its approval, each once whatever is repeated; a token before it ends, once."""
    ada, grace, bo = (
        who("Ada", "curator"),
        who("Grace", "approver"),
        who("Bo", "recipient", ("secret town", level("1/4"))),
    )
    with webhook() as (came, port):
        notices = Notices(service, Settings(webhook=f"http://127.0.0.1:{port}/hook", address=ADDRESS + "/"))
        for _ in range(2):
            proposal = propose_by(service, ada, "p", "publish", "secret town", level(1), terms=TERMS)
            service.proposals.decide(grace, proposal.name, "approved")
        with pytest.raises(UtmostError):
            propose_by(service, ada, "p", "publish", "another", level(1), terms=TERMS)
        for _ in range(2):
            publish_by(service, ada, "k", "secret town", TABLE, level(1), TERMS, proposal=proposal.name)
        clock.now += 80 * 86_400
        for _ in range(2):
            service.bearers.note_expiring()
        service.bearers.revoke(bo, bo.name)
        notices.close()
        told = wait_for(came, 5)
    assert told == ["decide proposals", "publish", *["expires"] * 3]
    assert {path for path, _ in came} == {"/hook"}
    assert all(
        body == {"notice": body["notice"], "text": f"{SENTENCES[body['notice']]} {ADDRESS}/waiting"} for _, body in came
    )


def test_a_place_that_fails_holds_up_nobody(service, who, monkeypatch, caplog):
    """It is tried three times; redirects are not followed; what no place takes is in the log, and requests go on."""
    monkeypatch.setattr("utmost.interfaces.service.notices._BETWEEN", 0.0)
    with webhook([500, 302, 200, 503, 503, 503]) as (came, port):
        notices = Notices(service, Settings(webhook=f"http://127.0.0.1:{port}/hook"))
        publish(service, who, level(1))
        notices.close()
        assert wait_for(came, 6) == ["decide proposals"] * 3 + ["publish"] * 3
    assert {path for path, _ in came} == {"/hook"}
    assert "the receiver must accept a notice" in caplog.text
    Notices(service, Settings(webhook="http://127.0.0.1:9/")).close()
    propose_by(service, who("Ada", "curator"), "l", "relax", "admissions", level(2))


def test_a_notice_by_mail(service, who):
    """To the addresses of the settings, from the sender there, with the sentence alone."""
    letters = []

    class Mailbox(StreamRequestHandler):
        def handle(self):
            self.wfile.write(b"220 here\r\n")
            while line := self.rfile.readline():
                verb = line[:4].upper()
                if verb == b"DATA":
                    self.wfile.write(b"354 go on\r\n")
                    letter = [line]
                    while (line := self.rfile.readline()) != b".\r\n":
                        letter.append(line)
                    letters.append(b"".join(letter).decode())
                elif verb == b"RCPT":
                    letters.append(line.decode())
                self.wfile.write(b"221 bye\r\n" if verb == b"QUIT" else b"250 so be it\r\n")

    with listening(ThreadingTCPServer(("127.0.0.1", 0), Mailbox)) as port:
        where = {"smtp": f"127.0.0.1:{port}", "mail_from": "utmost@here.example"}
        notices = Notices(service, Settings(mail_to="a@x.example, b@x.example", address=ADDRESS, **where))
        propose_by(service, who("Ada", "curator"), "p", "publish", "secret town", level(1), terms=TERMS)
        notices.close()
    assert [line.partition("<")[2][:11] for line in letters[:-1]] == ["a@x.example", "b@x.example"]
    assert f"Subject: utmost: {SENTENCES['decide proposals']}" in letters[-1]
    assert f"{ADDRESS}/waiting" in letters[-1]
    assert "secret" not in letters[-1]


@pytest.mark.parametrize(
    "wrong",
    [
        {"webhook": "file:///etc/passwd"}, {"webhook": "gopher://x"}, {"mail_to": "a@x"}, {"smtp": "host:port"},
        {"mail_to": "a@x\nBcc: b@y", "mail_from": "c@z", "smtp": "h"}, {"smtp_user": "u"},
    ],
)  # fmt: skip
def test_settings_of_notices_are_read_whole(wrong):
    with pytest.raises(OutOfRange):
        Settings(**wrong)


def test_nothing_is_told_where_nothing_is_set(service, who):
    """No thread and no call: a service says nothing to the outside by itself."""
    before = threading.active_count()
    assert Grant("*").covers("x", None)
    publish(service, who, level(1))
    assert threading.active_count() == before

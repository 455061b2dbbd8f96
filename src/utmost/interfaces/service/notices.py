"""Send notices to a webhook or by mail: a proposal or a table waits, or a token expires soon.

A notice has one of three sentences and the address of a page: no name, level or value. Only the operator's settings
name the receiver, so no request can make this machine call an address. Redirects are not followed, and answers are not
read. A separate thread sends notices after the records are durable, so that a slow receiver delays nobody.
"""

import json
import smtplib
import ssl
import threading
import time
from collections.abc import Mapping
from email.message import EmailMessage
from pathlib import Path
from queue import Empty, Full, Queue

import httpx

from utmost.errors import UtmostError
from utmost.interfaces.service.access.bearers import EXPIRES
from utmost.interfaces.service.access.rate_limits import LOG
from utmost.interfaces.service.pending_queue import DECISION, TABLE
from utmost.interfaces.service.records import ignore_notice
from utmost.interfaces.service.service import Service
from utmost.interfaces.service.settings import THIS_MACHINE, Settings

SENTENCES: Mapping[str, str] = {
    DECISION: "A proposal waits for a second person.",
    TABLE: "A proposal was approved: its table can be uploaded.",
    EXPIRES: "A token expires within two weeks.",
}
_MOST, _TRIES, _PATIENCE, _BETWEEN, _HOUR = 100, 3, 10.0, 1.0, 3600.0


class Notices:
    """A thread that sends notices to a webhook, or by mail."""

    def __init__(self, service: Service, settings: Settings) -> None:
        self._service, self._settings = service, settings
        self._queue: Queue[str | None] = Queue(_MOST)
        service.context.records.notify = self.tell
        self._thread = threading.Thread(target=self._work, name="utmost-notices", daemon=True)
        self._thread.start()

    def tell(self, about: str) -> None:
        """Queue a notice; if a hundred notices are waiting, drop it and log that."""
        try:
            self._queue.put_nowait(about)
        except Full:
            _log("a notice must find room in the queue", f"{_MOST} waiting notices")

    def close(self) -> None:
        """Stop the thread after the queued notices were sent, at most some seconds later."""
        self._service.context.records.notify = ignore_notice
        try:
            self._queue.put(None, timeout=_PATIENCE)
        except Full:
            _log("notices must be sent before the service ends", f"{_MOST} waiting notices")
        self._thread.join(_PATIENCE)

    def _work(self) -> None:
        look = 0.0
        while True:
            if time.monotonic() >= look:
                try:
                    self._service.bearers.note_expiring()
                except UtmostError as error:
                    _log("tokens that expire soon must be looked up", type(error).__name__)
                look = time.monotonic() + _HOUR
            try:
                about = self._queue.get(timeout=_HOUR)
            except Empty:
                continue
            if about is None:
                return
            senders = [
                send
                for place, send in ((self._settings.webhook, self._post), (self._settings.mail_to, self._mail))
                if place
            ]
            for send in senders:
                for turn in range(_TRIES):  # a notice that fails is sent again, three times in all, and then logged
                    try:
                        send(about)
                    except Exception as error:  # a failing receiver must not stop the next notice
                        if turn == _TRIES - 1:
                            _log("the receiver must accept a notice", type(error).__name__)
                        else:
                            time.sleep(_BETWEEN * 4**turn)
                    else:
                        break

    def _post(self, about: str) -> None:
        body = {"notice": about, "text": f"{SENTENCES[about]} {self._page}".rstrip()}
        with httpx.stream(
            "POST", self._settings.webhook, json=body, timeout=_PATIENCE, follow_redirects=False
        ) as answer:
            answer.raise_for_status()

    def _mail(self, about: str) -> None:
        settings = self._settings
        letter = EmailMessage()
        letter["From"], letter["To"], letter["Subject"] = (
            settings.mail_from,
            settings.mail_to,
            f"utmost: {SENTENCES[about]}",
        )
        letter.set_content(f"{SENTENCES[about]}\n{self._page}\n")
        host, _, port = settings.smtp.partition(":")
        with smtplib.SMTP(host, int(port or 25 if host in THIS_MACHINE else port or 587), timeout=_PATIENCE) as server:
            if host not in THIS_MACHINE:
                server.starttls(context=ssl.create_default_context())
            if settings.smtp_user:
                password = Path(settings.smtp_password_file).read_text(encoding="utf-8").strip()
                server.login(settings.smtp_user, password)
            server.send_message(letter)

    @property
    def _page(self) -> str:
        return f"{self._settings.address.rstrip('/')}/waiting" if self._settings.address else ""


def _log(required: str, came: str) -> None:
    LOG.error(json.dumps({"required": required, "came": came}))

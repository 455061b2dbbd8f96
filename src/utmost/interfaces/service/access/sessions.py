"""Sessions of people who sign in through an OpenID provider: a secret in a cookie, and a record of the service.

A session records the provider's claims and an expiry. The rights are looked up for each request, so that making or
revoking a token takes effect at once.
"""

from base64 import urlsafe_b64encode
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from utmost.core.sampling.random_bits import entropy
from utmost.errors import NotAuthenticated
from utmost.interfaces.service.access.bearers import Bearers
from utmost.interfaces.service.access.tokens import Token
from utmost.interfaces.service.records import RecordTransaction
from utmost.interfaces.service.service_context import ServiceContext

SESSION = "session."
"""The prefix of session secrets; no token has it."""

_SECRET_BYTES = 32
_OLD_WAYS = 3600


class Sessions:
    """The sessions of a service."""

    __slots__ = ("_bearers", "_context")

    def __init__(self, context: ServiceContext, bearers: Bearers) -> None:
        self._context, self._bearers = context, bearers

    def begin(self, issuer: str, claims: Mapping[str, Any], way: str, seconds: float) -> str:
        """Begin a session, and return its secret; record nothing for a person without a token."""
        # Only claims that some token needs are stored. `way` identifies the sign-in, which makes one session only.
        needed = self._bearers.needed_claims() | {"sub"}
        claims_held = {name: claims[name] for name in sorted(needed) if name in claims}
        token, now = self._bearers.of_claims(issuer, claims_held), self._context.clock()
        secret = SESSION + urlsafe_b64encode(entropy(_SECRET_BYTES)).rstrip(b"=").decode()

        def work(store: RecordTransaction) -> None:
            for kind in ("session", "sign-in"):
                for name, session in store.all(kind):
                    if session["expires"] <= now:
                        store.drop(kind, name)
            if store.get("sign-in", _digest(way)) is not None:
                raise NotAuthenticated("a sign-in can be used only once")
            store.put("sign-in", _digest(way), {"expires": int(now) + _OLD_WAYS})
            about = {"issuer": issuer, "claims": claims_held, "expires": int(now + seconds)}
            store.put("session", _digest(secret), about)
            self._context.trail(store, token, "sign in")

        self._context.records.write(work)
        return secret

    def bearer(self, presented: str, issuer: str) -> Token:
        """Return the token of the person who presents the secret of a session; refuse expired and unknown sessions."""
        session = self._context.records.read(lambda store: store.get("session", _digest(presented)))
        if session is None or session["issuer"] != issuer or not self._context.clock() < session["expires"]:
            raise NotAuthenticated("the session has ended, or never began")
        return self._bearers.of_claims(issuer, session["claims"])

    def end(self, presented: str) -> None:
        """End a session, in all workers at once."""

        def work(store: RecordTransaction) -> None:
            store.drop("session", _digest(presented))

        self._context.records.write(work)


def _digest(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()

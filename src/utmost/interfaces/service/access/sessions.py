"""Sessions of people who signed in through an OpenID provider: a cookie has a secret, and the service has a record.

The record has the provider's claims and an expiry. The rights are looked up for each request, so that making or
revoking a token takes effect with the next request.
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
"""Prefix of session secrets; the text of a token never begins with it."""

_SECRET_BYTES = 32
_SIGN_IN_SECONDS = 3600


class Sessions:
    """Begins and ends the sessions of a service, and finds the token of a session."""

    __slots__ = ("_bearers", "_context")

    def __init__(self, context: ServiceContext, bearers: Bearers) -> None:
        self._context, self._bearers = context, bearers

    def begin(self, issuer: str, claims: Mapping[str, Any], sign_in: str, seconds: float) -> str:
        """Begin a session of at most `seconds`, and return its secret; refuse a person without a valid token."""
        # Only claims that some token needs are stored. `sign_in` identifies the sign-in, which can begin one session.
        needed = self._bearers.needed_claims() | {"sub"}
        claims_held = {name: claims[name] for name in sorted(needed) if name in claims}
        token, now = self._bearers.of_claims(issuer, claims_held), self._context.clock()
        secret = SESSION + urlsafe_b64encode(entropy(_SECRET_BYTES)).rstrip(b"=").decode()

        def work(store: RecordTransaction) -> None:
            for kind in ("session", "sign-in"):
                for name, session in store.all(kind):
                    if session["expires"] <= now:
                        store.drop(kind, name)
            if store.get("sign-in", _digest(sign_in)) is not None:
                raise NotAuthenticated("a sign-in must be used only once")
            store.put("sign-in", _digest(sign_in), {"expires": int(now) + _SIGN_IN_SECONDS})
            about = {"issuer": issuer, "claims": claims_held, "expires": int(now + seconds)}
            store.put("session", _digest(secret), about)
            self._context.trail(store, token, "sign in")

        self._context.records.write(work)
        return secret

    def bearer(self, presented: str, issuer: str) -> Token:
        """Return the token of the person whose session has this secret; refuse expired and unknown sessions."""
        session = self._context.records.read(lambda store: store.get("session", _digest(presented)))
        if session is None or session["issuer"] != issuer or not self._context.clock() < session["expires"]:
            raise NotAuthenticated("you must be signed in, and your session has ended or never began")
        return self._bearers.of_claims(issuer, session["claims"])

    def end(self, presented: str) -> None:
        """End a session in all worker processes."""

        def work(store: RecordTransaction) -> None:
            store.drop("session", _digest(presented))

        self._context.records.write(work)


def _digest(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()

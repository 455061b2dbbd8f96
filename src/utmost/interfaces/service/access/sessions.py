"""Sessions of people who sign in through an OpenID provider: a secret in their cookie, and the rest in the records.

A session says who the provider vouched for, until when, and nothing else: what that person may is looked up at each
request, so that a token that is revoked, or made, counts at once.
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
"""The beginning of the secret of a session; no token begins so."""

_SECRET_BYTES = 32
_OLD_WAYS = 3600


class Sessions:
    """The sessions of a service.

    Args:
        context: Records, names and time of the service.
        bearers: Tokens, which say what a person may do.
    """

    __slots__ = ("_bearers", "_context")

    def __init__(self, context: ServiceContext, bearers: Bearers) -> None:
        self._context, self._bearers = context, bearers

    def begin(self, issuer: str, claims: Mapping[str, Any], way: str, seconds: float) -> str:
        """The secret of a new session; nothing is written for somebody who may do nothing.

        Args:
            issuer: OpenID provider that vouches.
            claims: Claims that it signed; those that no token asks for are not kept.
            way: a text of the sign-in, by which there is one session and no other.
            seconds: Seconds that the session lasts.

        Raises:
            NotAuthenticated: for somebody without a token, and for a sign-in that was carried out before.
        """
        needed = self._bearers.claims_asked() | {"sub"}
        claims_held = {name: claims[name] for name in sorted(needed) if name in claims}
        token, now = self._bearers.of_claims(issuer, claims_held), self._context.clock()
        secret = SESSION + urlsafe_b64encode(entropy(_SECRET_BYTES)).rstrip(b"=").decode()

        def work(store: RecordTransaction) -> None:
            for kind in ("session", "sign-in"):
                for name, session in store.all(kind):
                    if session["expires"] <= now:
                        store.drop(kind, name)
            if store.get("sign-in", _digest(way)) is not None:
                raise NotAuthenticated("a sign-in must be carried out once")
            store.put("sign-in", _digest(way), {"expires": int(now) + _OLD_WAYS})
            about = {"issuer": issuer, "claims": claims_held, "expires": int(now + seconds)}
            store.put("session", _digest(secret), about)
            self._context.trail(store, token, "sign in")

        self._context.records.write(work)
        return secret

    def bearer(self, presented: str, issuer: str) -> Token:
        """The rights of whoever has the secret of a session.

        Raises:
            NotAuthenticated: for a session that is over, or was never there, or one of another provider; and where the
                person has no token that is valid now.
        """
        session = self._context.records.read(lambda store: store.get("session", _digest(presented)))
        if session is None or session["issuer"] != issuer or not self._context.clock() < session["expires"]:
            raise NotAuthenticated("a session must be one that is not over")
        return self._bearers.of_claims(issuer, session["claims"])

    def end(self, presented: str) -> None:
        """End a session, in all workers at once; one that is over stays so."""

        def work(store: RecordTransaction) -> None:
            store.drop("session", _digest(presented))

        self._context.records.write(work)


def _digest(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()

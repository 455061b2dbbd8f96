"""Bearers whom an OpenID provider vouches for, read with PyJWT and httpx.

The provider says by its discovery document where its keys are (OpenID Connect Discovery 1.0, Section 4), and which
issuer it is; its keys are kept, and asked for again at most once a minute, when a token names one that is not there.
"""

import threading
import time
from collections.abc import Callable
from typing import Any

from utmost.errors import LedgerUnavailable, NotAuthenticated, OutOfRange, Unsupported

ALGORITHMS = ("RS256", "PS256", "ES256", "EdDSA")
_DISCOVERY = "/.well-known/openid-configuration"
_PATIENCE, _APART = 10.0, 60.0
_LONGEST = 16_384

Fetch = Callable[[str], Any]


class OpenId:
    """An OpenID provider: its keys are fetched when they are first needed, and kept.

    Args:
        issuer: its address, as its tokens name it.
        audience: the name under which it knows this service.
        fetch: gives the JSON at an address; by httpx if left out.
        clock: seconds, which only go on.

    Raises:
        OutOfRange: for an issuer that would be asked in the clear.
        Unsupported: where PyJWT or httpx is not there.
    """

    __slots__ = ("_asked", "_audience", "_clock", "_fetch", "_issuer", "_keys", "_turn")

    def __init__(
        self, issuer: str, audience: str, fetch: Fetch | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        try:
            import httpx  # noqa: F401
            import jwt  # noqa: F401
        except ImportError as error:
            remedy = 'Run: pip install "utmost[server]"'
            raise Unsupported("OpenID tokens need PyJWT and httpx", came=error.name, remedy=remedy) from None
        _check_address(issuer)
        self._issuer, self._audience, self._fetch, self._clock = issuer, audience, fetch or _fetched, clock
        self._keys: dict[str | None, Any] = {}
        self._asked: float | None = None
        self._turn = threading.Lock()

    def subject(self, presented: str) -> str:
        """The provider's name for whoever presents one of its tokens.

        Raises:
            NotAuthenticated: for a token that is not the provider's, for somebody else, or of another time.
            LedgerUnavailable: where the provider cannot be asked for its keys.
        """
        import jwt

        required: Any = {"require": ["exp", "iss", "aud", "sub"]}
        try:
            if len(presented) > _LONGEST:
                raise ValueError
            key = self._key(jwt.get_unverified_header(presented).get("kid"))
            claims = jwt.decode(
                presented, key, algorithms=ALGORITHMS, audience=self._audience, issuer=self._issuer, options=required
            )
        except (jwt.PyJWTError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise NotAuthenticated("a token must be one that the OpenID provider signed for this service") from None
        return f"{self._issuer} {claims['sub']}"

    def _key(self, named: object) -> Any:
        """The provider's key of a name, or its only key for a token that names none.

        Raises:
            KeyError: where there is none.
        """
        found = self._kept(named)
        if found is None:
            self._ask()
            found = self._kept(named)
        if found is None:
            raise KeyError
        return found

    def _kept(self, named: object) -> Any:
        if named is None and len(self._keys) == 1:
            return next(iter(self._keys.values()))
        return self._keys.get(named) if isinstance(named, str) else None

    def _ask(self) -> None:
        """Ask the provider for its keys, but not more often than once a minute, whatever tokens come."""
        with self._turn:
            now = self._clock()
            if self._asked is not None and now - self._asked < _APART:
                return
            self._keys = self._found()
            self._asked = now

    def _found(self) -> dict[str | None, Any]:
        import httpx
        import jwt

        try:
            about = self._fetch(self._issuer.rstrip("/") + _DISCOVERY)
            if about["issuer"] != self._issuer:
                raise ValueError
            _check_address(about["jwks_uri"])
            known = jwt.PyJWKSet.from_dict(self._fetch(about["jwks_uri"])).keys
        except (httpx.HTTPError, jwt.PyJWTError, OutOfRange, ValueError, TypeError, KeyError, AttributeError) as error:
            came = type(error).__name__
            raise LedgerUnavailable("the OpenID provider must say which keys it has", came=came) from None
        return {key.key_id: key for key in known if key.public_key_use in (None, "sig")}


def _fetched(address: str) -> Any:
    """The JSON at an address; no redirection is followed."""
    import httpx

    answer = httpx.get(address, timeout=_PATIENCE, headers={"Accept": "application/json"})
    answer.raise_for_status()
    return answer.json()


def _check_address(address: str) -> None:
    """Check that an address is https, or http on this machine.

    Raises:
        OutOfRange: else.
    """
    import httpx

    try:
        parts = httpx.URL(address)
    except (httpx.InvalidURL, TypeError):
        raise OutOfRange("an OpenID provider must have an address", where="issuer") from None
    if parts.scheme != "https" and (parts.scheme != "http" or parts.host not in ("localhost", "127.0.0.1", "::1")):
        remedy = "Give an address that begins with https://."
        raise OutOfRange("an OpenID provider must not be asked in the clear", where="issuer", remedy=remedy)

"""Check tokens that an OpenID provider signed, and read their claims, with PyJWT and httpx.

The discovery document of the provider names its issuer and the address of its keys (OpenID Connect Discovery 1.0,
Section 4). The keys stay in memory, and are fetched again, at most once a minute, when a token names an unknown
key. For five seconds after a failed request, the provider is not asked again, and all sign-ins are refused.
"""

import threading
import time
from collections.abc import Callable, Mapping
from math import inf
from typing import Any

from utmost.errors import LedgerUnavailable, NotAuthenticated, OutOfRange, Unsupported
from utmost.interfaces.service.settings import THIS_MACHINE

ALGORITHMS = ("RS256", "PS256", "ES256", "EdDSA")
_DISCOVERY = "/.well-known/openid-configuration"
# Seconds: to wait for the provider, between two fetches of its keys, and after a failed request.
_PATIENCE, _MINUTE, _PAUSE = 10.0, 60.0, 5.0
_LONGEST = 16_384  # characters of a provider's token

Fetch = Callable[[str], Any]


class OpenId:
    """Checks the signed tokens of one OpenID provider; fetches the provider's keys on first use."""

    # `audience` is the provider's name for this service; it is empty if bearers cannot present tokens of the provider.

    __slots__ = ("_audience", "_clock", "_discovery", "_fetch", "_is_out", "_keys", "_lock", "_next_fetch", "issuer")

    def __init__(
        self, issuer: str, audience: str, fetch: Fetch | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        try:
            import httpx  # noqa: F401
            import jwt  # noqa: F401
        except ImportError as error:
            remedy = 'Run: pip install "utmost[server]"'
            raise Unsupported(
                "OpenID tokens need the packages PyJWT and httpx", came=error.name, remedy=remedy
            ) from None
        check_provider_address(issuer)
        self.issuer, self._audience, self._fetch, self._clock = issuer, audience, fetch or _fetch_json, clock
        self._keys: dict[str | None, Any] = {}
        self._discovery: Mapping[str, Any] = {}
        self._is_out, self._next_fetch = False, -inf
        self._lock = threading.Lock()

    def signed_claims(self, presented: str) -> dict[str, Any]:
        """Return the signed claims in a token that a bearer presents; check signature, audience and time."""
        if not self._audience:
            raise _not_signed()
        return self.claims(presented, self._audience)

    def claims(self, presented: str, audience: str, *, also: tuple[str, ...] = (), leeway: float = 0) -> dict[str, Any]:
        """Return the signed claims in a token for an audience; check signature, issuer and time."""
        # `also` names more claims that must be present; `leeway` is how many seconds the provider's clock may differ.
        import jwt

        required: Any = {"require": ["exp", "iss", "aud", "sub", *also]}
        about: dict[str, Any] = {"audience": audience, "issuer": self.issuer, "leeway": leeway, "options": required}
        try:
            if len(presented) > _LONGEST:
                raise ValueError
            # The token names a key of the provider; a token without a key name uses the provider's only key.
            named = jwt.get_unverified_header(presented).get("kid")
            key = self._key_named(named)
            if key is None:
                self._fetch_keys()
                key = self._key_named(named)
            if key is None:
                raise KeyError
            claims = dict(jwt.decode(presented, key, algorithms=ALGORITHMS, **about))
            if claims["iss"] != self.issuer:  # PyJWT 2.10.0 accepted a part of the address
                raise ValueError
            return claims
        except (jwt.PyJWTError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise _not_signed() from None

    def endpoint(self, name: str) -> str:
        """Return the address that the discovery document has under a name, such as "token_endpoint"."""
        if not self._discovery:
            self._fetch_keys()
        address = self._discovery.get(name)
        try:
            if not isinstance(address, str):
                raise TypeError
            check_provider_address(address)
        except (OutOfRange, TypeError):
            raise LedgerUnavailable(f"the OpenID provider must state its {name}", came="none", where="issuer") from None
        return address

    def discovered(self, name: str) -> Any:
        """Return an entry of the discovery document; None if there is none."""
        if not self._discovery:
            self._fetch_keys()
        return self._discovery.get(name)

    def _key_named(self, named: object) -> Any:
        if named is None and len(self._keys) == 1:
            return next(iter(self._keys.values()))
        return self._keys.get(named) if isinstance(named, str) else None

    def _fetch_keys(self) -> None:
        """Fetch the provider's keys, at most once a minute, so that forged tokens cause no flood of requests."""
        import httpx
        import jwt

        with self._lock:
            if self._clock() < self._next_fetch:
                if self._is_out:
                    raise _unavailable("no answer a moment ago")
                return
            self._is_out = True
            try:
                about = self._fetch(self.issuer.rstrip("/") + _DISCOVERY)
                if about["issuer"] != self.issuer:
                    raise ValueError
                check_provider_address(about["jwks_uri"])
                known = jwt.PyJWKSet.from_dict(self._fetch(about["jwks_uri"])).keys
                self._keys = {key.key_id: key for key in known if key.public_key_use in (None, "sig")}
                self._discovery, self._is_out = about, False
            except (
                httpx.HTTPError,
                jwt.PyJWTError,
                OutOfRange,
                ValueError,
                TypeError,
                KeyError,
                AttributeError,
            ) as error:
                raise _unavailable(type(error).__name__) from None
            finally:
                self._next_fetch = self._clock() + (_PAUSE if self._is_out else _MINUTE)


def _unavailable(came: str) -> LedgerUnavailable:
    return LedgerUnavailable("the OpenID provider must send its public keys", came=came)


def _not_signed() -> NotAuthenticated:
    return NotAuthenticated("a token must be one that the OpenID provider signed for this service")


def _fetch_json(address: str) -> Any:
    """Return the JSON at an address, without following redirects."""
    import httpx

    answer = httpx.get(address, timeout=_PATIENCE, headers={"Accept": "application/json"})
    answer.raise_for_status()
    return answer.json()


def check_provider_address(address: str) -> None:
    """Check that an address begins with https, or with http and the name of this machine."""
    import httpx

    try:
        parts = httpx.URL(address)
    except (httpx.InvalidURL, TypeError):
        raise OutOfRange("an OpenID provider must have an address", where="issuer") from None
    if parts.scheme != "https" and (parts.scheme != "http" or parts.host not in THIS_MACHINE):
        remedy = "Pass an address that begins with https://."
        raise OutOfRange("the address of an OpenID provider must begin with https://", where="issuer", remedy=remedy)

"""The claims of an OpenID provider about a bearer, read with PyJWT and httpx.

The discovery document of the provider names its issuer and the address of its keys (OpenID Connect Discovery 1.0,
Section 4). The keys are kept, and fetched again at most once a minute, when a token names an unknown key. After a
failed request the provider is left alone for five seconds; meanwhile, all sign-ins are refused at once.
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
_PATIENCE, _APART, _PAUSE = 10.0, 60.0, 5.0
_LONGEST = 16_384

Fetch = Callable[[str], Any]


class OpenId:
    """An OpenID provider, whose keys are fetched on first use, and kept."""

    # `audience` is the provider's name for this service; it is empty if bearers cannot present tokens of the provider.

    __slots__ = ("_about", "_again", "_audience", "_clock", "_fetch", "_is_out", "_keys", "_turn", "issuer")

    def __init__(
        self, issuer: str, audience: str, fetch: Fetch | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        try:
            import httpx  # noqa: F401
            import jwt  # noqa: F401
        except ImportError as error:
            remedy = 'Run: pip install "utmost[server]"'
            raise Unsupported("OpenID tokens need PyJWT and httpx", came=error.name, remedy=remedy) from None
        check_provider_address(issuer)
        self.issuer, self._audience, self._fetch, self._clock = issuer, audience, fetch or _fetched, clock
        self._keys: dict[str | None, Any] = {}
        self._about: Mapping[str, Any] = {}
        self._is_out, self._again = False, -inf
        self._turn = threading.Lock()

    def signed_claims(self, presented: str) -> dict[str, Any]:
        """Return the signed claims in a token that a bearer presents; check signature, audience and time."""
        if not self._audience:
            raise _not_signed()
        return self.claims(presented, self._audience)

    def claims(self, presented: str, audience: str, *, also: tuple[str, ...] = (), leeway: float = 0) -> dict[str, Any]:
        """Return the signed claims in a token for an audience; check signature, issuer and time."""
        # `also` names claims that must be there; `leeway` is how many seconds the provider's clock may differ.
        import jwt

        required: Any = {"require": ["exp", "iss", "aud", "sub", *also]}
        about: dict[str, Any] = {"audience": audience, "issuer": self.issuer, "leeway": leeway, "options": required}
        try:
            if len(presented) > _LONGEST:
                raise ValueError
            # The provider's key by name; for a token without a key name, the provider's only key.
            named = jwt.get_unverified_header(presented).get("kid")
            key = self._kept(named)
            if key is None:
                self._ask()
                key = self._kept(named)
            if key is None:
                raise KeyError
            claims = dict(jwt.decode(presented, key, algorithms=ALGORITHMS, **about))
            if claims["iss"] != self.issuer:  # PyJWT 2.10.0 accepted a part of the address
                raise ValueError
            return claims
        except (jwt.PyJWTError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise _not_signed() from None

    def place(self, name: str) -> str:
        """Return an address from the discovery document by its name, such as "token_endpoint"."""
        if not self._about:
            self._ask()
        address = self._about.get(name)
        try:
            if not isinstance(address, str):
                raise TypeError
            check_provider_address(address)
        except (OutOfRange, TypeError):
            raise LedgerUnavailable(f"the OpenID provider must state its {name}", came="none", where="issuer") from None
        return address

    def says(self, name: str) -> Any:
        """Return an entry of the discovery document; None if there is none."""
        if not self._about:
            self._ask()
        return self._about.get(name)

    def _kept(self, named: object) -> Any:
        if named is None and len(self._keys) == 1:
            return next(iter(self._keys.values()))
        return self._keys.get(named) if isinstance(named, str) else None

    def _ask(self) -> None:
        """Fetch the provider's keys, at most once a minute, so that forged tokens cause no flood of requests."""
        import httpx
        import jwt

        with self._turn:
            if self._clock() < self._again:
                if self._is_out:
                    raise _silent("no answer a moment ago")
                return
            self._is_out = True
            try:
                about = self._fetch(self.issuer.rstrip("/") + _DISCOVERY)
                if about["issuer"] != self.issuer:
                    raise ValueError
                check_provider_address(about["jwks_uri"])
                known = jwt.PyJWKSet.from_dict(self._fetch(about["jwks_uri"])).keys
                self._keys = {key.key_id: key for key in known if key.public_key_use in (None, "sig")}
                self._about, self._is_out = about, False
            except (
                httpx.HTTPError,
                jwt.PyJWTError,
                OutOfRange,
                ValueError,
                TypeError,
                KeyError,
                AttributeError,
            ) as error:
                raise _silent(type(error).__name__) from None
            finally:
                self._again = self._clock() + (_PAUSE if self._is_out else _APART)


def _silent(came: str) -> LedgerUnavailable:
    return LedgerUnavailable("the OpenID provider must send its keys", came=came)


def _not_signed() -> NotAuthenticated:
    return NotAuthenticated("a token must be one that the OpenID provider signed for this service")


def _fetched(address: str) -> Any:
    """Return the JSON at an address, without following redirects."""
    import httpx

    answer = httpx.get(address, timeout=_PATIENCE, headers={"Accept": "application/json"})
    answer.raise_for_status()
    return answer.json()


def check_provider_address(address: str) -> None:
    """Check that an address is https, or http on this machine."""
    import httpx

    try:
        parts = httpx.URL(address)
    except (httpx.InvalidURL, TypeError):
        raise OutOfRange("an OpenID provider must have an address", where="issuer") from None
    if parts.scheme != "https" and (parts.scheme != "http" or parts.host not in THIS_MACHINE):
        remedy = "Give an address that begins with https://."
        raise OutOfRange("the address of an OpenID provider must be encrypted", where="issuer", remedy=remedy)

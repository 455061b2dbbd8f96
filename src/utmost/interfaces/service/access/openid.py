"""The claims of an OpenID provider about a bearer, read with PyJWT and httpx.

The provider says by its discovery document where its keys are (OpenID Connect Discovery 1.0, Section 4), and which
issuer it is; its keys are kept, and asked for again at most once a minute, when a token names one that is not there. A
provider that cannot be reached is left alone for five seconds, and all who come meanwhile are told so at once.
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
    """An OpenID provider: its keys are fetched when they are first needed, and kept.

    Args:
        issuer: its address, as its tokens name it.
        audience: the name under which it knows this service; empty where bearers cannot present its tokens.
        fetch: gives the JSON at an address; by httpx if left out.
        clock: seconds, which only go on.

    Attributes:
        issuer: its address.

    Raises:
        OutOfRange: for an issuer that would be asked in the clear.
        Unsupported: where PyJWT or httpx is not there.
    """

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

    def vouched(self, presented: str) -> dict[str, Any]:
        """The claims of the provider about whoever presents one of its tokens.

        Raises:
            NotAuthenticated: for a token that is not the provider's, for somebody else, or of another time.
            LedgerUnavailable: where the provider cannot be asked for its keys.
        """
        if not self._audience:
            raise _not_vouched()
        return self.claims(presented, self._audience)

    def claims(self, presented: str, audience: str, *, also: tuple[str, ...] = (), leeway: float = 0) -> dict[str, Any]:
        """The claims of the provider in a signed token.

        Args:
            presented: the token.
            audience: Audience that the token must be for.
            also: claims that it must have, beside its end, issuer, audience and subject.
            leeway: seconds by which the provider's clock may differ.

        Raises:
            NotAuthenticated: for a token that is not the provider's, for somebody else, or of another time.
            LedgerUnavailable: where the provider cannot be asked for its keys.
        """
        import jwt

        required: Any = {"require": ["exp", "iss", "aud", "sub", *also]}
        about: dict[str, Any] = {"audience": audience, "issuer": self.issuer, "leeway": leeway, "options": required}
        try:
            if len(presented) > _LONGEST:
                raise ValueError
            key = self._key(jwt.get_unverified_header(presented).get("kid"))
            claims = dict(jwt.decode(presented, key, algorithms=ALGORITHMS, **about))
            if claims["iss"] != self.issuer:  # PyJWT 2.10.0 took a part of the address for the whole
                raise ValueError
            return claims
        except (jwt.PyJWTError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise _not_vouched() from None

    def place(self, name: str) -> str:
        """An address of the provider, by its name in the discovery document: "token_endpoint", say."""
        if not self._about:
            self._ask()
        address = self._about.get(name)
        try:
            if not isinstance(address, str):
                raise TypeError
            check_provider_address(address)
        except (OutOfRange, TypeError):
            raise LedgerUnavailable(f"the OpenID provider must say its {name}", came="none", where="issuer") from None
        return address

    def says(self, name: str) -> Any:
        """An entry of the discovery document; None where there is none."""
        if not self._about:
            self._ask()
        return self._about.get(name)

    def _key(self, named: object) -> Any:
        """The provider's key of a name, or its only key for a token that names none."""
        key = self._kept(named)
        if key is None:
            self._ask()
            key = self._kept(named)
        if key is None:
            raise KeyError
        return key

    def _kept(self, named: object) -> Any:
        if named is None and len(self._keys) == 1:
            return next(iter(self._keys.values()))
        return self._keys.get(named) if isinstance(named, str) else None

    def _ask(self) -> None:
        """Ask the provider for its keys, but not more often than once a minute, whatever tokens come."""
        with self._turn:
            if self._clock() < self._again:
                if self._is_out:
                    raise _silent("none a moment ago")
                return
            self._is_out = True
            try:
                self._about, self._keys = self._found()
                self._is_out = False
            finally:
                self._again = self._clock() + (_PAUSE if self._is_out else _APART)

    def _found(self) -> tuple[Mapping[str, Any], dict[str | None, Any]]:
        import httpx
        import jwt

        try:
            about = self._fetch(self.issuer.rstrip("/") + _DISCOVERY)
            if about["issuer"] != self.issuer:
                raise ValueError
            check_provider_address(about["jwks_uri"])
            known = jwt.PyJWKSet.from_dict(self._fetch(about["jwks_uri"])).keys
        except (httpx.HTTPError, jwt.PyJWTError, OutOfRange, ValueError, TypeError, KeyError, AttributeError) as error:
            raise _silent(type(error).__name__) from None
        return about, {key.key_id: key for key in known if key.public_key_use in (None, "sig")}


def _silent(came: str) -> LedgerUnavailable:
    return LedgerUnavailable("the OpenID provider must say which keys it has", came=came)


def _not_vouched() -> NotAuthenticated:
    return NotAuthenticated("a token must be one that the OpenID provider signed for this service")


def _fetched(address: str) -> Any:
    """The JSON at an address; no redirection is followed."""
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
        raise OutOfRange("an OpenID provider must not be asked in the clear", where="issuer", remedy=remedy)

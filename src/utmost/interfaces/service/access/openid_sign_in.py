"""Sign people in through an OpenID provider, by the code flow of OpenID Connect with PKCE, state and nonce.

The browser goes to the provider, comes back with a code, and the service exchanges the code for signed claims (OpenID
Connect Core 1.0, Section 3.1; RFC 7636; RFC 9700). Meanwhile, state, nonce and verifier are in an authenticated cookie
of the browser: the service stores nothing for people who are not signed in. Only PyJWT and httpx are used, so that no
other library's sessions, keys or defaults matter.
"""

import hmac
import json
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

from utmost.core.sampling.random_bits import entropy
from utmost.errors import KeyRefused, LedgerUnavailable, NotAuthenticated
from utmost.interfaces.service.access.openid import OpenId, check_provider_address

REDIRECT_PATH = "/login/openid/back"
"""Path to which the provider redirects browsers."""

# A sign-in through the provider must end within ten minutes; its clock may differ by half a minute.
_SECONDS, _PATIENCE, _LEEWAY = 600, 10.0, 30.0
_LONGEST_CODE, _LONGEST_ANSWER = 4096, 1 << 20


@dataclass(frozen=True, slots=True, repr=False)
class SignIn:
    """Signs people in through one OpenID provider."""

    openid: OpenId
    client: str  # the provider's name for this service
    secret: str  # empty for a client without a secret
    address: str  # of this service, as browsers reach it
    scopes: str
    key: bytes  # of the HMAC that authenticates cookies, 32 bytes
    clock: Callable[[], float] = time.time  # seconds since 1970

    def __post_init__(self) -> None:
        check_provider_address(self.address)

    @property
    def redirect_address(self) -> str:
        """Return the address to which the provider redirects browsers."""
        return self.address.rstrip("/") + REDIRECT_PATH

    def start(self, following: str) -> tuple[str, str]:
        """Return the address at the provider where the sign-in begins, and the cookie; `following` is the next page."""
        import httpx

        state, nonce, verifier = (_text(entropy(32)) for _ in range(3))
        query = {
            "response_type": "code",
            "client_id": self.client,
            "redirect_uri": self.redirect_address,
            "scope": self.scopes,
            "state": state,
            "nonce": nonce,
            "code_challenge": _text(sha256(verifier.encode()).digest()),
            "code_challenge_method": "S256",
        }
        endpoint = httpx.URL(self.openid.endpoint("authorization_endpoint")).copy_merge_params(query)
        pending = {"state": state, "nonce": nonce, "verifier": verifier, "next": following}
        body = _text(json.dumps(pending | {"until": self.clock() + _SECONDS}).encode())
        return str(endpoint), f"{body}.{hmac.digest(self.key, body.encode(), sha256).hex()}"

    def finish(self, query: Mapping[str, str], cookie: str) -> tuple[dict[str, Any], str, str]:
        """Return the signed claims about the person, the state (valid for one sign-in), and the page to show next."""
        # Refuse unless the sign-in began in this browser, at most ten minutes ago, and the provider signed the claims.
        body, _, mac = cookie.partition(".")
        if not hmac.compare_digest(hmac.digest(self.key, body.encode(), sha256).hex().encode(), mac.encode()):
            raise _no_sign_in()
        pending: dict[str, Any] = json.loads(urlsafe_b64decode(body + "=" * (-len(body) % 4)))
        if not self.clock() < pending["until"]:
            raise _no_sign_in()
        state, code = query.get("state", ""), query.get("code", "")
        if not hmac.compare_digest(pending["state"].encode(), state.encode()):
            raise _no_sign_in()
        issuer = query.get("iss")
        promised = self.openid.discovered("authorization_response_iss_parameter_supported") is True
        if issuer != self.openid.issuer and (issuer is not None or promised):
            raise _no_sign_in()
        if "error" in query or not 0 < len(code) <= _LONGEST_CODE or not (code.isascii() and code.isprintable()):
            raise _no_sign_in()
        also = ("nonce", "iat")
        claims = self.openid.claims(self._exchange(code, pending["verifier"]), self.client, also=also, leeway=_LEEWAY)
        several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
        nonce = claims["nonce"] if isinstance(claims["nonce"], str) else ""
        if claims.get("azp", None if several else self.client) != self.client:
            raise _no_sign_in()
        if not hmac.compare_digest(pending["nonce"].encode(), nonce.encode()):
            raise _no_sign_in()
        return claims, state, pending["next"]

    def _exchange(self, code: str, verifier: str) -> str:
        """Exchange a code for a signed token, with the client's credentials (RFC 6749, Section 2.3.1)."""
        import httpx

        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.redirect_address,
            "code_verifier": verifier,
        }
        endpoint, headers = self.openid.endpoint("token_endpoint"), {"Accept": "application/json"}
        known, credentials = self.openid.discovered("token_endpoint_auth_methods_supported"), None
        if self.secret and (not isinstance(known, list) or "client_secret_basic" in known):
            credentials = quote(self.client, safe=""), quote(self.secret, safe="")
        else:
            form |= {"client_id": self.client} | ({"client_secret": self.secret} if self.secret else {})
        try:
            answer = httpx.post(endpoint, data=form, auth=credentials, headers=headers, timeout=_PATIENCE)
        except httpx.HTTPError as error:
            raise _unreached(type(error).__name__) from None
        if answer.status_code >= 500:
            raise _unreached(str(answer.status_code))
        try:
            tokens = answer.json() if answer.is_success and len(answer.content) < _LONGEST_ANSWER else {}
        except (ValueError, RecursionError):
            tokens = {}
        statement = tokens.get("id_token") if isinstance(tokens, dict) else None
        if not isinstance(statement, str):
            raise _no_sign_in()
        return statement


def client_secret(path: str) -> str:
    """Read the secret of an OpenID client from a file; return "" if the path is empty."""
    if not path:
        return ""
    try:
        secret = Path(path).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        secret = ""
    if not secret:
        raise KeyRefused(
            "the file of the client secret must contain the secret of the OpenID client", came="no secret", where=path
        )
    return secret


def _no_sign_in() -> NotAuthenticated:
    return NotAuthenticated(
        "a sign-in must begin on this page in this browser, and the OpenID provider must confirm the sign-in"
    )


def _unreached(came: str) -> LedgerUnavailable:
    return LedgerUnavailable("the OpenID provider must exchange the code of a sign-in for a signed token", came=came)


def _text(content: bytes) -> str:
    return urlsafe_b64encode(content).rstrip(b"=").decode()

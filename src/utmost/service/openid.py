"""Bearers whom an OpenID provider vouches for, read with PyJWT."""

from typing import Any

from utmost.errors import NotAuthenticated, Unsupported


class OpenId:
    """An OpenID provider: its keys are fetched when they are first needed, and kept.

    Args:
        issuer: its address, as its tokens name it.
        audience: the name under which it knows this service.
        keys: a client for its keys; found by the issuer's own description where left out.

    Raises:
        Unsupported: where PyJWT is not there.
    """

    __slots__ = ("_audience", "_issuer", "_keys")

    def __init__(self, issuer: str, audience: str, keys: Any = None) -> None:
        try:
            import jwt
        except ImportError:
            remedy = 'Run: pip install "utmost[server]"'
            raise Unsupported("OpenID tokens need PyJWT", came="none", remedy=remedy) from None
        self._issuer, self._audience = issuer, audience
        self._keys = keys or jwt.PyJWKClient(f"{issuer.rstrip('/')}/.well-known/jwks.json")

    def subject(self, presented: str) -> str:
        """The provider's name for whoever presents one of its tokens.

        Raises:
            NotAuthenticated: for a token that is not the provider's, for somebody else, or of another time.
        """
        import jwt

        try:
            key = self._keys.get_signing_key_from_jwt(presented).key
            required = ["exp", "iss", "aud", "sub"]
            algorithms = ["RS256", "ES256", "PS256", "EdDSA"]
            options: Any = {"require": required}
            claims = jwt.decode(
                presented, key, algorithms=algorithms, audience=self._audience, issuer=self._issuer, options=options
            )
        except jwt.PyJWTError:
            raise NotAuthenticated("a token must be one that the OpenID provider signed for this service") from None
        return f"{self._issuer} {claims['sub']}"

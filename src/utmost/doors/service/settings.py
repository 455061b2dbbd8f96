"""How a service is run: from the command line, or from the environment, which workers of one service share."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import inf
from typing import Any

from utmost.errors import OutOfRange

_PREFIX = "UTMOST_SERVE_"


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a service.

    Attributes:
        ledger: a path, "sqlite:///path" or "postgresql://user@host/database"; its key is where `Ledger.open` looks.
        witness: the path of its witness file; empty for the usual place.
        approvals: whether a second person must confirm what cannot be undone.
        most_bytes: the longest body of a curator who brings a table.
        few_bytes: the longest body of any other request.
        rate: requests a second for each token, and for each address that sends none that is valid.
        burst: requests that may come at once.
        patience: seconds within which the body of a request must come.
        most_levels: how many new levels of a release a recipient may ask for.
        behind_proxy: whether to believe the headers by which a proxy names the client.
        oidc_issuer: an OpenID provider; empty for none.
        oidc_audience: its name for this service in the signed tokens that bearers present; empty where they cannot.
        oidc_client: its name for the pages of this service, where people sign in through it; empty where they cannot.
        oidc_secret_file: where the secret of that client is; empty for a client without one.
        oidc_scopes: what the pages ask the provider for, between spaces.
        address: of this service, as browsers reach it: to it the provider sends people back.
        session_hours: for how long a sign-in through the provider lasts.
        docs: whether the OpenAPI page is served.
    """

    ledger: str = "releases.db"
    witness: str = ""
    approvals: bool = True
    most_bytes: int = 32 << 20
    few_bytes: int = 64 << 10
    rate: float = 20.0
    burst: int = 60
    patience: float = 60.0
    most_levels: int = 64
    behind_proxy: bool = False
    oidc_issuer: str = ""
    oidc_audience: str = ""
    oidc_client: str = ""
    oidc_secret_file: str = ""
    oidc_scopes: str = "openid"
    address: str = ""
    session_hours: float = 8.0
    docs: bool = True

    def __post_init__(self) -> None:
        for name in ("most_bytes", "few_bytes", "rate", "burst", "patience", "most_levels", "session_hours"):
            if not getattr(self, name) > 0:
                raise OutOfRange(f"{name} must be positive", came=getattr(self, name))
        if self.session_hours == inf:
            raise OutOfRange("session_hours must be finite", came=inf)
        if bool(self.oidc_issuer) != bool(self.oidc_audience or self.oidc_client):
            raise OutOfRange("an OpenID provider needs an issuer, and an audience or a client", came="one of the two")
        if self.oidc_client and not self.address:
            remedy = "Give the address under which browsers reach this service: --address https://ledger.example."
            raise OutOfRange("people come back from an OpenID provider to an address", came="none", remedy=remedy)
        if "openid" not in self.oidc_scopes.split():
            raise OutOfRange("the scopes of a sign-in must have openid among them", where="oidc_scopes")

    def environment(self) -> dict[str, str]:
        """The settings as environment variables, which `of_environment` reads."""
        return {_PREFIX + field.name.upper(): str(getattr(self, field.name)) for field in fields(self)}

    @classmethod
    def of_environment(cls, environment: Mapping[str, str] = os.environ) -> "Settings":
        """The settings in environment variables; the rest are the usual ones.

        Raises:
            OutOfRange: for a variable that is no such setting.

        >>> Settings.of_environment(Settings(rate=5.0, approvals=False).environment()) == Settings(
        ...     rate=5.0, approvals=False
        ... )
        True
        """
        given: dict[str, Any] = {}
        for field in fields(cls):
            text = environment.get(_PREFIX + field.name.upper())
            if text is not None:
                given[field.name] = _read(text, field.type, field.name)
        return cls(**given)


def _read(text: str, kind: Any, name: str) -> Any:
    try:
        if kind is bool:
            return {"true": True, "1": True, "false": False, "0": False}[text.lower()]
        return kind(text)
    except (KeyError, ValueError):
        remedy = f"Set {_PREFIX}{name.upper()} to a {kind.__name__}."
        raise OutOfRange(f"{name} must be a {kind.__name__}", came="something else", remedy=remedy) from None

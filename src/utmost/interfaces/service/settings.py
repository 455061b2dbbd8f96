"""Read the settings of a service from a file, environment variables and the command line."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from math import inf
from pathlib import Path
from typing import Any

from utmost.core.exact.arguments import wrong_kind
from utmost.core.exact.numbers import exact, exact_integer
from utmost.errors import OutOfRange

_PREFIX = "UTMOST_SERVE_"

THIS_MACHINE = ("localhost", "127.0.0.1", "::1")
"""Hosts that may receive secrets without encryption."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a service.

    Attributes:
        ledger: A path, "sqlite:///path" or "postgresql://user@host/database"; `Ledger.open` finds its key.
        key_file: Path of the key file; if empty, the path in the environment, or else the default path.
        witness: Path of the witness file, which detects an older copy of the ledger; empty for the default path.
        host, port: Address and port to listen at.
        workers: Number of processes that answer; more than one needs PostgreSQL.
        demo: Whether a new ledger gets an example of public data.
        approvals: Whether a second person must approve what cannot be undone.
        most_bytes: Largest size of a request in which a curator sends a table, in bytes.
        few_bytes: Largest size of any other request, in bytes.
        rate: Requests per second for each token, and for each address that sends no valid token.
        burst: Largest number of requests that may come without a pause.
        patience: Number of seconds within which the body of a request must arrive.
        most_levels: Number of new levels of a release that a recipient may make.
        behind_proxy: Whether to trust the headers by which a proxy names the client.
        oidc_issuer: Address of an OpenID provider; empty for none.
        oidc_audience: Audience of the provider's tokens that bearers may present; empty for none.
        oidc_client: Client name for people who sign in on pages through the provider; empty for none.
        oidc_secret_file: File with the secret of that client; empty for a client without one.
        oidc_scopes: Scopes that pages request from the provider, separated by spaces.
        address: Address of this service for browsers; the provider redirects people to it.
        session_hours: Hours that a sign-in through the provider lasts.
        docs: Whether the OpenAPI page is served.
        webhook: Address to which a notice is posted when something waits; empty for none.
        mail_to, mail_from: Receivers of these notices, separated by commas, and their sender; empty for none.
        smtp: HOST or HOST:PORT of the mail server, with STARTTLS unless it is on this machine.
        smtp_user, smtp_password_file: User of the mail server and file of the password; empty for no sign-in.
    """

    ledger: str = "releases.db"
    key_file: str = ""
    witness: str = ""
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    demo: bool = True
    approvals: bool = True
    most_bytes: int = 32 << 20  # 32 MB for a curator's table
    few_bytes: int = 64 << 10  # 64 kB for any other body
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
    webhook: str = ""
    mail_to: str = ""
    mail_from: str = ""
    smtp: str = ""
    smtp_user: str = ""
    smtp_password_file: str = ""

    def __post_init__(self) -> None:
        for each in fields(self):
            value, kind = getattr(self, each.name), type(each.default)
            kinds = (int, float) if kind is float else kind
            if not isinstance(value, kinds) or (isinstance(value, bool) and kind is not bool):
                raise wrong_kind(each.name, {str: "text", bool: "True or False"}.get(kind, "a number"), value)
        for name in ("most_bytes", "few_bytes", "rate", "burst", "patience", "most_levels", "session_hours"):
            if not getattr(self, name) > 0:
                raise OutOfRange(
                    f"{name} must be positive", came=getattr(self, name), remedy=f"Leave out {name} for the default."
                )
        for name, most in (("port", 65_535), ("workers", 256)):
            if not 1 <= getattr(self, name) <= most:
                raise OutOfRange(
                    f"{name} must be from 1 to {most}",
                    came=getattr(self, name),
                    remedy=f"Leave out {name} for the default.",
                )
        if self.session_hours == inf:
            raise OutOfRange("session_hours must be finite", came=inf)
        if bool(self.oidc_issuer) != bool(self.oidc_audience or self.oidc_client):
            remedy = "Set oidc_issuer, and oidc_client for sign-in on pages or oidc_audience for programs."
            raise OutOfRange(
                "an OpenID provider needs oidc_issuer, and oidc_audience or oidc_client",
                came="one of the two",
                remedy=remedy,
            )
        if self.oidc_client and not self.address:
            remedy = "Set the address under which browsers reach this service: --address https://ledger.example."
            raise OutOfRange("address must be set if oidc_client is set", came="none", remedy=remedy)
        if self.address and not self.address.startswith(("https://", "http://")):
            remedy = "Write https://ledger.example."
            raise OutOfRange("address must begin with https:// or http://", came=self.address, remedy=remedy)
        if self.webhook and not self.webhook.startswith(("https://", "http://")):
            raise OutOfRange(
                "webhook must begin with https:// or http://",
                came="another text",
                remedy="Begin the address with https://.",
            )
        if self.mail_to and not (self.mail_from and self.smtp):
            remedy = "Also set mail_from and smtp."
            raise OutOfRange(
                "notices by mail need a sender, mail_from, and a server, smtp", where="mail_to", remedy=remedy
            )
        if any(mark in self.mail_to + self.mail_from for mark in "\r\n"):
            raise OutOfRange(
                "mail_to and mail_from must be one line each",
                came="a line break",
                remedy="Separate addresses by commas.",
            )
        port = self.smtp.partition(":")[2]
        if port and not (port.isascii() and port.isdecimal()):
            raise OutOfRange(
                "smtp must be HOST or HOST:PORT", came="another text", remedy="Write, for example, mail.example:587."
            )
        if bool(self.smtp_user) != bool(self.smtp_password_file):
            raise OutOfRange(
                "smtp_user and smtp_password_file must be set together",
                came="one of the two",
                remedy="Set both, or neither.",
            )
        if "openid" not in self.oidc_scopes.split():
            raise OutOfRange(
                "oidc_scopes must contain openid", came="other scopes", remedy="Write, for example, openid profile."
            )

    def environment(self) -> dict[str, str]:
        """Return the settings as environment variables for `of_environment`."""
        return {_PREFIX + field.name.upper(): str(getattr(self, field.name)) for field in fields(self)}

    @classmethod
    def of_environment(
        cls, environment: Mapping[str, str] = os.environ, *, file: Path | str | None = None, **options: Any
    ) -> "Settings":
        """Return the settings in environment variables; other settings come from a file, or have their defaults.

        Args:
            environment: Environment variables, each named ``UTMOST_SERVE_`` and the name of a setting.
            file: TOML file with a value for each named setting; it overrides the defaults.
            options: Settings that override all others; None for settings that are not given.

        >>> Settings.of_environment(Settings(rate=5.0, approvals=False).environment()) == Settings(
        ...     rate=5.0, approvals=False
        ... )
        True
        """
        written = (
            {} if file is None else _settings_in_file(Path(file), {field.name: field.type for field in fields(cls)})
        )
        known = [_PREFIX + field.name.upper() for field in fields(cls)]
        unknown = [name for name in environment if name.startswith(_PREFIX) and name not in known]
        if unknown:
            remedy = f"Write {(get_close_matches(unknown[0], known, 1) or ['one of them'])[0]}, or unset the variable."
            raise OutOfRange(
                f"a variable {_PREFIX}... must name a setting of the service", came=unknown[0], remedy=remedy
            )
        for field in fields(cls):
            text = environment.get(_PREFIX + field.name.upper())
            if text is not None:
                written[field.name] = _read_setting(text, field.type, field.name)
        return cls(**written | {name: value for name, value in options.items() if value is not None})


def _settings_in_file(path: Path, kinds: Mapping[str, Any]) -> dict[str, Any]:
    try:
        settings = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        remedy = 'Write a setting in each line: rate = 5.0, ledger = "releases.db".'
        raise OutOfRange(
            "the file of settings must be TOML", came=type(error).__name__, where=str(path), remedy=remedy
        ) from None
    for name, value in settings.items():
        if name not in kinds:
            remedy = f"Name only these settings: {', '.join(kinds)}."
            raise OutOfRange(
                "the file of settings must contain only settings of the service",
                came=name,
                where=str(path),
                remedy=remedy,
            )
        fits = (int, float) if kinds[name] is float else (kinds[name],)
        if type(value) not in fits:
            remedy = "Write text in quotation marks, and numbers, true and false without quotation marks."
            raise OutOfRange(
                f"{name} must be {kinds[name].__name__}", came=type(value).__name__, where=str(path), remedy=remedy
            )
    return settings


def _read_setting(text: str, kind: Any, name: str) -> Any:
    try:
        if kind is bool:
            return {"true": True, "1": True, "false": False, "0": False}[text.lower()]
        if kind is str or text == str(inf):
            return kind(text)
        return exact_integer(text, name) if kind is int else float(exact(text, name))
    except (KeyError, ValueError, OverflowError):
        remedy = f"Set {_PREFIX}{name.upper()} to a {kind.__name__}."
        raise OutOfRange(f"{name} must be a {kind.__name__}", came="another value", remedy=remedy) from None

"""`utmost serve`: the release service over a ledger."""

import os
from dataclasses import replace
from pathlib import Path
from time import time
from typing import Annotated

import typer
from rich.console import Group
from rich.text import Text

from utmost.doors.cli.ledger_place import Place, check_no_password
from utmost.doors.cli.options import KeyFile, WitnessFile
from utmost.doors.cli.screen import facts, screen
from utmost.errors import OutOfRange, Unsupported
from utmost.publish.ledger.key import FILE_VARIABLE

_LEDGER = "releases.db"
_SOON = 14

# The exit codes of uvicorn where it could not start, of older versions and newer.
_NOT_STARTED = (1, 3)

Where = Annotated[
    str,
    typer.Option("--ledger", metavar="PLACE", help="A path, made where it is not there, or postgresql://HOST/NAME."),
]
Host = Annotated[str, typer.Option(metavar="ADDRESS", help="On which address to listen.")]
Port = Annotated[int, typer.Option(min=1, max=65535, help="On which port.")]
Workers = Annotated[int, typer.Option(min=1, max=256, help="Processes that answer; more than one needs PostgreSQL.")]
Approvals = Annotated[
    bool, typer.Option("--approvals/--no-approvals", help="Whether a second person confirms what cannot be undone.")
]
Demo = Annotated[bool, typer.Option("--demo/--no-demo", help="Whether a new ledger gets an example of public data.")]
Proxy = Annotated[bool, typer.Option("--behind-proxy", help="Believe a proxy on this machine about who asks.")]
Rate = Annotated[float, typer.Option(min=0.001, help="Requests a second for each token.")]
NewAdmin = Annotated[
    bool, typer.Option("--new-admin-token", help="Make another admin's token and print it: where the last one expired.")
]
Issuer = Annotated[str, typer.Option("--oidc-issuer", metavar="URL", help="An OpenID provider to accept, too.")]
Audience = Annotated[
    str, typer.Option("--oidc-audience", metavar="NAME", help="Its name for this service, in tokens that bearers have.")
]
Client = Annotated[
    str, typer.Option("--oidc-client", metavar="NAME", help="Its name for the pages, on which people sign in by it.")
]
Address = Annotated[
    str, typer.Option(metavar="URL", help="Of this service, as browsers reach it: where the provider sends back to.")
]


def serve(
    *,
    ledger: Where = _LEDGER,
    key_file: KeyFile = None,
    witness: WitnessFile = None,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    workers: Workers = 1,
    approvals: Approvals = True,
    demo: Demo = True,
    behind_proxy: Proxy = False,
    rate: Rate = 20.0,
    new_admin_token: NewAdmin = False,
    oidc_issuer: Issuer = "",
    oidc_audience: Audience = "",
    oidc_client: Client = "",
    address: Address = "",
) -> None:
    """Serve a ledger over HTTP: an API and pages for curators, recipients and auditors, each with a token.

    The first start prints a token for an admin and one for a curator, once. Stop it with Ctrl-C: requests that have
    begun are answered first.
    """
    try:
        import uvicorn

        from utmost.doors.service.first_start import first_tokens, new_admin, publish_demo
        from utmost.doors.service.service import Service
        from utmost.doors.service.settings import Settings
    except ImportError as error:
        remedy = 'Run: pip install "utmost[server]"'
        raise Unsupported("to serve a ledger needs FastAPI and uvicorn", came=error.name, remedy=remedy) from None
    check_no_password(ledger)
    place = Place(ledger, key_file, witness)
    if workers > 1 and place.path is not None:
        remedy = "Give --ledger postgresql://HOST/NAME, or one worker."
        raise OutOfRange("more than one worker needs PostgreSQL", came=workers, where="--workers", remedy=remedy)
    settings = replace(
        Settings.of_environment(),
        ledger=ledger,
        approvals=approvals,
        rate=rate,
        behind_proxy=behind_proxy,
        witness=_text(witness),
        oidc_issuer=oidc_issuer,
        oidc_audience=oidc_audience,
        oidc_client=oidc_client,
        address=address,
    )
    is_new = not place.is_there
    with place.opened(create=True) as opened:
        if demo and is_new:
            publish_demo(opened)
        service = Service(opened)
        tokens = first_tokens(service)
        if new_admin_token and not tokens:
            tokens = {"admin": new_admin(service)}
        _greet(tokens, address or f"http://{host}:{port}", approvals)
        _warn_of_admins(service.bearers.last_admin_until())
    os.environ.update(settings.environment())
    if key_file is not None:
        os.environ[FILE_VARIABLE] = os.fspath(key_file)
    try:
        uvicorn.run(
            "utmost.doors.service.app:of_environment",
            factory=True,
            host=host,
            port=port,
            workers=workers,
            proxy_headers=behind_proxy,
            server_header=False,
            access_log=False,
            timeout_graceful_shutdown=30,
            log_config=None,
        )
    except SystemExit as ended:
        if ended.code not in _NOT_STARTED:
            raise
        remedy = "The line above says why; where the address is taken, name another --port."
        raise Unsupported("the service must start", came="nothing", where=f"{host}:{port}", remedy=remedy) from None


def _text(path: Path | None) -> str:
    return "" if path is None else os.fspath(path)


def _greet(tokens: dict[str, str], address: str, approvals: bool) -> None:
    """Say where the service is, and its first tokens."""
    second = "confirms what cannot be undone" if approvals else "is not asked"
    screen(stderr=True).print(
        Group(Text("Serving.", style="bold"), facts({"address": address, "a second person": second}))
    )
    if tokens:
        _say("These tokens are said once. Keep them as you keep passwords; each is valid for 90 days.")
    for role, presented in tokens.items():
        _say(f"  {role}: {presented}")


def _warn_of_admins(until: int | None) -> None:
    """Say where nobody can make tokens, or soon nobody can."""
    left = -1 if until is None else (until - time()) / 86_400
    if left < _SOON:
        when = "no admin's token is valid" if until is None else f"the last admin's token expires in {left:.0f} days"
        _say(f"utmost: warning: {when}; start with --new-admin-token to make one")


def _say(line: str) -> None:
    """Print a line as it is: a token must not be broken in two."""
    typer.echo(line, err=True)

"""`utmost serve`: the release service over a ledger."""

import atexit
import os
import shutil
import tempfile
from dataclasses import asdict
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Annotated

import click

from utmost.errors import OutOfRange, Unsupported
from utmost.interfaces.cli.ledger_place import Place
from utmost.interfaces.cli.options.option_kinds import flag, option
from utmost.interfaces.cli.options.shared_options import KeyFile, WitnessFile
from utmost.interfaces.cli.screens.screen import facts, screen
from utmost.interfaces.cli.screens.terminal import Group, Text
from utmost.publish.ledger.key import FILE_VARIABLE, KEY_VARIABLE

if TYPE_CHECKING:
    from utmost.interfaces.service.backups import Restored

_HOST = "127.0.0.1"
_SOON = 14

# The exit codes of uvicorn where it could not start, of older versions and newer.
_NOT_STARTED = (1, 3)

Config = Annotated[Path | None, option("FILE", "Settings as TOML, one name a line.", exists=True, dir_okay=False)]
Check = Annotated[bool, flag("Read all settings, name what is wrong, and end.", "--check")]
BackUp = Annotated[Path | None, option("FOLDER", "New folder for a copy of ledger and records, which is tried out.")]
PutBack = Annotated[
    Path | None,
    option("FOLDER", "Folder of a backup, from which ledger and records are made.", exists=True, file_okay=False),
]
Where = Annotated[
    str | None,
    option(
        "PLACE",
        "Path of a ledger, made if it is not there, or postgresql://HOST/NAME.",
        "--ledger",
        show_default="releases.db",
    ),
]
Host = Annotated[str | None, option("ADDRESS", "Address to listen on.", show_default=_HOST)]
Port = Annotated[int | None, option("N", "Port to listen on.", min=1, max=65535, show_default="8000")]
Workers = Annotated[
    int | None, option("N", "Processes that answer; more than one needs PostgreSQL.", min=1, max=256, show_default="1")
]
Approvals = Annotated[
    bool | None,
    option(
        None,
        "Whether a second person confirms what cannot be undone.",
        "--approvals/--no-approvals",
        show_default="approvals",
    ),
]
Demo = Annotated[
    bool | None,
    option(None, "Whether a new ledger gets an example of public data.", "--demo/--no-demo", show_default="demo"),
]
Proxy = Annotated[
    bool | None,
    option(None, "Take the client's address from a proxy on this machine.", "--behind-proxy", show_default=False),
]
Rate = Annotated[float | None, option("NUMBER", "Requests a second for each token.", min=0.001, show_default="20")]
NewAdmin = Annotated[bool, flag("Print a new token for an admin.", "--new-admin-token")]
Issuer = Annotated[
    str | None, option("URL", "Address of an OpenID provider whose tokens are accepted.", "--oidc-issuer")
]
Audience = Annotated[
    str | None, option("NAME", "Provider's name for this service, in tokens of programs.", "--oidc-audience")
]
Client = Annotated[
    str | None, option("NAME", "Provider's name for the pages, on which people sign in.", "--oidc-client")
]
Address = Annotated[str | None, option("URL", "Address of this service in browsers, to which the provider sends back.")]


def serve(
    *,
    config: Config = None,
    check: Check = False,
    back_up: BackUp = None,
    put_back: PutBack = None,
    ledger: Where = None,
    key_file: KeyFile = None,
    witness: WitnessFile = None,
    host: Host = None,
    port: Port = None,
    workers: Workers = None,
    approvals: Approvals = None,
    demo: Demo = None,
    behind_proxy: Proxy = None,
    rate: Rate = None,
    new_admin_token: NewAdmin = False,
    oidc_issuer: Issuer = None,
    oidc_audience: Audience = None,
    oidc_client: Client = None,
    address: Address = None,
) -> None:
    """Serve a ledger over HTTP: an API and pages for curators, recipients and auditors, each with a token.

    Every setting may stand in a file (--config), in the environment (UTMOST_SERVE_ and its name) or among the options
    here; the later goes before the earlier. --check reads them all and starts nothing.

    The first start prints a token for an admin and one for a curator, once. Stop it with Ctrl-C: requests that have
    begun are answered first.
    """
    try:
        import uvicorn

        from utmost.interfaces.service import backups
        from utmost.interfaces.service.access.first_start import first_tokens, new_admin, publish_demo
        from utmost.interfaces.service.metrics import FOLDER
        from utmost.interfaces.service.service import Service
        from utmost.interfaces.service.settings import Settings
    except ImportError as error:
        remedy = 'Run: pip install "utmost[server]"'
        raise Unsupported("to serve a ledger needs FastAPI and uvicorn", came=error.name, remedy=remedy) from None
    settings = Settings.of_environment(
        file=config,
        ledger=ledger,
        key_file=_text(key_file),
        witness=_text(witness),
        host=host,
        port=port,
        workers=workers,
        approvals=approvals,
        demo=demo,
        behind_proxy=behind_proxy,
        rate=rate,
        oidc_issuer=oidc_issuer,
        oidc_audience=oidc_audience,
        oidc_client=oidc_client,
        address=address,
    )
    place = Place(settings.ledger, _path(settings.key_file), _path(settings.witness))
    if settings.workers > 1 and place.path is not None:
        remedy = "Give --ledger postgresql://HOST/NAME, or one worker."
        raise OutOfRange("more than one worker needs PostgreSQL", came=settings.workers, where="workers", remedy=remedy)
    if check:
        for name in ("key_file", "oidc_secret_file", "smtp_password_file"):
            _check_secret(name, getattr(settings, name), is_new=not place.is_there)
        shown = {name: str(value) for name, value in asdict(settings).items() if value != ""}
        screen(stderr=True).print(Group(Text("These settings can be served.", style="bold"), facts(shown)))
        return
    if put_back is not None:
        _say_restored(
            "Put back, and in quarantine until it is resumed.",
            backups.put_back(put_back, place.ledger, key=place.key, witness=place.witness_path),
        )
        return
    if back_up is not None:
        with place.opened() as opened:
            restored = backups.back_up(Service(opened), back_up, key=_key_of(place))
        _say_restored(f"Backed up in {back_up}, and put back in a rehearsal.", restored)
        return
    is_new = not place.is_there
    with place.opened(create=True) as opened:
        if settings.demo and is_new:
            publish_demo(opened)
        service = Service(opened)
        tokens = first_tokens(service)
        if new_admin_token and not tokens:
            tokens = {"admin": new_admin(service)}
        _greet(tokens, settings.address or f"http://{settings.host}:{settings.port}", settings.approvals)
        _warn_of_admins(service.bearers.last_admin_until())
    # Workers are processes of their own, which know the settings by the environment alone.
    os.environ.update(settings.environment())
    if settings.key_file:
        os.environ[FILE_VARIABLE] = settings.key_file
    if settings.workers > 1:
        os.environ[FOLDER] = shared = tempfile.mkdtemp(prefix="utmost-metrics-")
        atexit.register(shutil.rmtree, shared, ignore_errors=True)
    try:
        uvicorn.run(
            "utmost.interfaces.service.app:of_environment",
            factory=True,
            host=settings.host,
            port=settings.port,
            workers=settings.workers,
            proxy_headers=settings.behind_proxy,
            server_header=False,
            access_log=False,
            timeout_graceful_shutdown=30,
            log_config=None,
        )
    except SystemExit as ended:
        # It ends the process by itself where it cannot start, and has said why in its log.
        if ended.code not in _NOT_STARTED:
            raise
        remedy = "The line above says why; where the address is taken, name another --port."
        where = f"{settings.host}:{settings.port}"
        raise Unsupported("the service must start", came="nothing", where=where, remedy=remedy) from None


def _key_of(place: Place) -> str | None:
    """The file that the key of a ledger is in; None for where the environment says."""
    named = place.key
    is_elsewhere = place.path is None or any(os.environ.get(name) for name in (KEY_VARIABLE, FILE_VARIABLE))
    return named if named or is_elsewhere else f"{place.path}.key"


def _say_restored(what: str, restored: "Restored") -> None:
    shown = {name: str(number) for name, number in asdict(restored).items()}
    screen(stderr=True).print(Group(Text(what, style="bold"), facts(shown)))


def _check_secret(name: str, file: str, *, is_new: bool) -> None:
    """Check that a file of a secret can be read; the key of a ledger that is yet to be made is made with it."""
    if not file or (is_new and name == "key_file"):
        return
    try:
        Path(file).read_bytes()
    except OSError as error:
        raise OutOfRange("a secret must be in a file that can be read", came=type(error).__name__, where=name) from None


def _text(path: Path | None) -> str | None:
    return None if path is None else os.fspath(path)


def _path(text: str) -> Path | None:
    return Path(text) if text else None


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
    click.echo(line, err=True)

"""`utmost serve`: serve a ledger over HTTP; check settings, back up and restore."""

import atexit
import errno
import os
import shlex
import shutil
import socket
import tempfile
from dataclasses import asdict
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Annotated

import click

from utmost.errors import LedgerUnavailable, OutOfRange, Unsupported
from utmost.interfaces.cli.ledger_place import LedgerPlaceOptions
from utmost.interfaces.cli.options.option_kinds import flag, option
from utmost.interfaces.cli.options.shared_options import KeyFile, WitnessFile
from utmost.interfaces.cli.screens.screen import facts, screen
from utmost.interfaces.cli.screens.terminal import ScreenGroup, ScreenText
from utmost.publish.ledger.key import FILE_VARIABLE, KEY_VARIABLE

if TYPE_CHECKING:
    from utmost.interfaces.service.backups import Restored
    from utmost.publish.ledger.ledger import Ledger

_SECONDS_TO_OPEN = 5.0  # in which --check must reach a database

_SOON = 14  # days before the last admin's token ends, from which on each start warns

# Exit codes of older and newer versions of uvicorn if the server cannot start.
_NOT_STARTED = (1, 3)

RARE = (
    *("--workers", "--behind-proxy", "--rate", "--new-admin-token"),
    *("--oidc-issuer", "--oidc-audience", "--oidc-client", "--address"),
)


def serve(
    *,
    config: Annotated[Path | None, option("FILE", "TOML file of settings.", exists=True, dir_okay=False)] = None,
    check: Annotated[bool, flag("Check settings, ledger and port; start nothing.", "--check")] = False,
    back_up: Annotated[Path | None, option("FOLDER", "New folder for a backup of ledger and service records.")] = None,
    put_back: Annotated[
        Path | None,
        option("FOLDER", "Folder of a backup to restore.", exists=True, file_okay=False),
    ] = None,
    ledger: Annotated[
        str | None,
        option(
            "PLACE",
            "SQLite file, created if missing, or postgresql://HOST/DATABASE.",
            "--ledger",
            show_default="releases.db",
        ),
    ] = None,
    key_file: KeyFile = None,
    witness: WitnessFile = None,
    host: Annotated[str | None, option("ADDRESS", "Address to listen on.", show_default="127.0.0.1")] = None,
    port: Annotated[int | None, option("N", "Port to listen on.", min=1, max=65535, show_default="8000")] = None,
    workers: Annotated[
        int | None,
        option("N", "Number of processes; more than one needs PostgreSQL.", min=1, max=256, show_default="1"),
    ] = None,
    approvals: Annotated[
        bool | None,
        option(
            None,
            "A second person must approve publications and relaxations.",
            "--approvals/--no-approvals",
            show_default="approvals",
        ),
    ] = None,
    demo: Annotated[
        bool | None,
        option(None, "Publish public example data in a new ledger.", "--demo/--no-demo", show_default="demo"),
    ] = None,
    behind_proxy: Annotated[
        bool | None,
        option(None, "Trust client addresses from a proxy on this machine.", "--behind-proxy", show_default=False),
    ] = None,
    rate: Annotated[
        float | None,
        option("NUMBER", "Largest number of requests per second for each token.", min=0.001, show_default="20"),
    ] = None,
    new_admin_token: Annotated[
        bool, flag("Print a new admin token, if the last is lost or expired.", "--new-admin-token")
    ] = False,
    oidc_issuer: Annotated[
        str | None, option("URL", "OpenID provider whose tokens are accepted, too.", "--oidc-issuer")
    ] = None,
    oidc_audience: Annotated[
        str | None, option("NAME", "Name of this service in the provider's tokens.", "--oidc-audience")
    ] = None,
    oidc_client: Annotated[
        str | None, option("NAME", "Client ID at the OpenID provider, for sign-in.", "--oidc-client")
    ] = None,
    address: Annotated[str | None, option("URL", "Address of this service in browsers; needed for sign-in.")] = None,
) -> None:
    """Serve a ledger over HTTP: an API and pages, with tokens for curators, recipients and auditors.

    utmost serve --ledger releases.db

    An option such as --port overrides UTMOST_SERVE_PORT, which overrides --config. The first start prints two tokens.

    More: docs/howto/serve-a-ledger.md
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
        raise Unsupported(
            "utmost serve needs the packages fastapi and uvicorn", came=error.name, remedy=remedy
        ) from None
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
    place = LedgerPlaceOptions(settings.ledger, _path(settings.key_file), _path(settings.witness))
    if settings.workers > 1 and place.path is not None:
        remedy = "Leave out --workers; or keep the ledger in PostgreSQL: --ledger postgresql://HOST/NAME."
        raise OutOfRange("--workers must be 1 for a ledger in a file", came=settings.workers, remedy=remedy)

    if check:
        _check_free(settings.host, settings.port)
        ledger_found = _check_ledger(place)
        for name in ("oidc_secret_file", "smtp_password_file"):
            secret = getattr(settings, name)
            if not secret:
                continue
            try:
                Path(secret).read_bytes()
            except OSError as error:
                required = f"the file of {name} must be readable by this user"
                remedy = f"Check the path and the permissions of {secret}."
                raise OutOfRange(required, came=type(error).__name__, remedy=remedy) from None
        shown = {"checked": f"the address is free; {ledger_found}"}
        shown |= {name: str(value) for name, value in asdict(settings).items() if value != ""}
        screen(stderr=True).print(ScreenGroup(ScreenText("These settings can be served.", style="bold"), facts(shown)))
        return
    if put_back is not None:
        _print_restored(
            "The ledger is restored, and in quarantine until utmost ledger resume.",
            backups.put_back(put_back, place.ledger, key=place.key, witness=place.witness_path),
        )
        return
    if back_up is not None:
        key = place.key
        if not key and place.path is not None and not any(map(os.environ.get, (KEY_VARIABLE, FILE_VARIABLE))):
            key = f"{place.path}.key"
        with place.opened() as opened:
            restored = backups.back_up(Service(opened), back_up, key=key)
        _print_restored(f"The backup is in {back_up}; it was restored once as a test.", restored)
        return

    is_new = not place.is_there
    with place.opened(create=True) as opened:
        if settings.demo and is_new:
            publish_demo(opened)
        service = Service(opened)
        service.check_newest_receipt()
        tokens = first_tokens(service)
        if new_admin_token and not tokens:
            tokens = {"admin": new_admin(service)}
        rows = {
            "ledger": f"{settings.ledger} (new)" if is_new else settings.ledger,
            "address": settings.address or f"http://{settings.host}:{settings.port}",
            "a second person": "must approve publications and relaxations" if settings.approvals else "is not needed",
        }
        warnings = [f"the ledger is {words}" for words in _quarantine(opened)]
        screen(stderr=True).print(
            ScreenGroup(ScreenText("Starting; it listens in a few seconds.", style="bold"), facts(rows))
        )
        if tokens and not is_new and opened.releases:
            # Whoever loses the records starts like the first who serves a ledger: with new tokens, and no proposals.
            lost = "the ledger has releases, and no records of a service; if it was served before, then its tokens, "
            lost += "proposals and trail are lost"
            if place.path is not None:
                lost += f": stop, and copy {backups.RECORDS} of the newest backup to {place.path}.service"
            warnings.append(lost)
        if tokens:
            _print_line("These tokens are shown once. Keep them as you keep passwords; each is valid for 90 days.")
        for role, presented in tokens.items():
            _print_line(f"  {role}: {presented}")
        until = service.bearers.last_admin_until()
        left = -1 if until is None else (until - time()) / 86_400
        if left < _SOON:  # nobody can make tokens now, or soon nobody can
            when = (
                "no admin's token is valid" if until is None else f"the last admin's token expires in {left:.0f} days"
            )
            warnings.append(f"{when}; start with --new-admin-token to make one")
        for warning in warnings:
            _print_line(f"utmost: warning: {warning}")

    # Workers are separate processes, which get the settings from the environment.
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
        # If uvicorn cannot start, it exits, and its log has the reason.
        if ended.code not in _NOT_STARTED:
            raise
        remedy = "The line above says why; if the port is in use, choose another --port."
        where = f"{settings.host}:{settings.port}"
        raise Unsupported(
            "the service must start", came="a server that stopped at once", where=where, remedy=remedy
        ) from None


def _check_free(host: str, port: int) -> None:
    """Check that the service can listen here: listen once, and stop."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[
            0
        ]
        with socket.socket(family, kind) as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind(address)
            tried.listen()
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            remedy = "End the other program, or choose another --port."
            raise OutOfRange(
                "--port must be a free port", came="one in use", where=f"port {port}", remedy=remedy
            ) from None
        if error.errno == errno.EACCES:
            remedy = "Choose a --port from 1024 on, behind a proxy."
            required = "--port must be a port on which this user may listen"
            raise OutOfRange(required, came=port, where="port", remedy=remedy) from None
        remedy = "Write --host 127.0.0.1, or 0.0.0.0 for every address of this machine."
        raise OutOfRange("--host must be an address of this machine", came=host, remedy=remedy) from None


def _check_ledger(place: LedgerPlaceOptions) -> str:
    """Open and close the ledger, or check that the first start can create it; return in words which was done."""
    for path in (place.path, _path(place.key or ""), _path(place.witness_path or "")):
        folder = None if path is None else path.absolute().parent
        if folder is not None and not os.access(folder, os.W_OK | os.X_OK):
            remedy = f"Make it: mkdir -p {shlex.quote(str(folder))}; or correct its permissions."
            raise OutOfRange("this folder must exist, and be writable", where=str(folder), remedy=remedy)
    if place.is_there:
        try:
            with place.opened(timeout=_SECONDS_TO_OPEN) as opened:
                return "; ".join(("the ledger opens with its key", *_quarantine(opened)))
        except LedgerUnavailable as error:
            if not error.is_absent:
                raise
    return "the first start creates the ledger"


def _quarantine(ledger: "Ledger") -> list[str]:
    """Return why the ledger is in quarantine, in which the service answers nothing new; empty without quarantine."""
    reason = ledger.status().quarantine
    return [] if reason is None else [f"in quarantine: {reason}; nothing new is answered until utmost ledger resume"]


def _print_restored(what: str, restored: "Restored") -> None:
    shown = {name: str(number) for name, number in asdict(restored).items()}
    screen(stderr=True).print(ScreenGroup(ScreenText(what, style="bold"), facts(shown)))


def _text(path: Path | None) -> str | None:
    return None if path is None else os.fspath(path)


def _path(text: str) -> Path | None:
    return Path(text) if text else None


def _print_line(line: str) -> None:
    """Print a line without wrapping, so that a token can be copied."""
    click.echo(line, err=True)

"""Print or install the script with which a shell completes commands and options."""

import os
import shlex
import subprocess
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from utmost.errors import Unsupported

_ASKED = "_UTMOST_COMPLETE"


def completion_script(command: click.Command, shell: str) -> str:
    """Return the completion script of bash, zsh, fish or powershell; "this" is the shell in the environment."""
    shell = _named(shell)
    known = get_completion_class(shell)
    if known is None:
        raise Unsupported(
            "completion is for bash, zsh, fish and powershell", came=shell, remedy="Name one of these shells."
        )
    return known(command, {}, "utmost", _ASKED).source().strip("\n")


def install_completion(command: click.Command, shell: str) -> str:
    """Write the completion script where a shell reads it when it starts, and return a sentence that says where."""
    shell = _named(shell)
    script, home = completion_script(command, shell), Path.home()
    if shell == "fish":
        path = home / ".config/fish/completions/utmost.fish"
        _write(path, script)
        return f"Completion of utmost is in {path}; every new fish reads it."
    path = home / f".local/share/utmost/complete.{shell.replace('powershell', 'ps1')}"
    _write(path, script)
    start = {"bash": home / ".bashrc", "zsh": home / ".zshrc"}.get(shell) or _profile()
    doubled = "'" + str(path).replace("'", "''") + "'"
    line = f". {doubled if shell == 'powershell' else shlex.quote(str(path))}"
    begun = start.read_bytes() if start.exists() else b""  # bytes, because the encoding is unknown
    if line.encode() not in begun.splitlines():
        between = "" if begun.endswith(b"\n") or not begun else "\n"
        before = "autoload -Uz compinit && compinit\n" if shell == "zsh" and b"compinit" not in begun else ""
        start.parent.mkdir(parents=True, exist_ok=True)
        with start.open("ab") as file:  # appended, so that an interruption loses nothing
            file.write(f"{between}{before}{line}\n".encode())
    return f"Completion of utmost is in {path}; {start} reads it from the next start of {shell} on."


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{text}\n", encoding="utf-8")


def _named(shell: str) -> str:
    """Return the name of a shell; "this" stands for the shell of the environment."""
    if shell == "this":
        shell = Path(os.environ.get("SHELL") or ("powershell" if os.name == "nt" else "bash")).stem
    return {"pwsh": "powershell"}.get(shell, shell)


def _profile() -> Path:
    """Return the start file of PowerShell, as PowerShell reports it."""
    for shell in ("pwsh", "powershell"):
        try:
            done = subprocess.run([shell, "-NoProfile", "-Command", "echo $profile"], capture_output=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            continue
        return Path(done.stdout.decode().strip())
    raise Unsupported("PowerShell must be installed, because it tells the path of its profile", came="none")

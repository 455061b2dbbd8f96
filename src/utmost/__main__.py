"""The command `utmost`, and `python -m utmost`."""

import os
import signal
import sys
from typing import NoReturn


def main() -> None:
    """Run the command line. Ctrl-C ends the process with one line of text, even while modules are still being
    imported.
    """
    # The handler ends the process itself: an import could swallow a KeyboardInterrupt, or turn it into another error.
    is_own = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_own:
        signal.signal(signal.SIGINT, _interrupted)
    from utmost.interfaces.cli.main import main as run

    if is_own:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


def _interrupted(*_: object) -> NoReturn:
    """Write the line that `utmost.interfaces.cli.main` writes for Ctrl-C, and end the process."""
    line = "utmost: interrupted"
    if "--json" in sys.argv:
        line = '{"error": "KeyboardInterrupt", "message": "interrupted", "remedy": null, "exit_code": 130}'
    try:
        os.write(2, f"{line}\n".encode())
    finally:
        os._exit(128 + signal.SIGINT)


if __name__ == "__main__":
    main()

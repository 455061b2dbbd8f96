"""The command `utmost`, and `python -m utmost`."""

import os
import signal
import sys
from typing import NoReturn


def main() -> None:
    """Run the command line; Ctrl-C ends it with one line also while its modules are imported."""
    # The handler ends the process itself: an exception could be lost in an import, or come out of one as another.
    is_own = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # else a shell said to ignore Ctrl-C
    if is_own:
        signal.signal(signal.SIGINT, _interrupted)
    from utmost.interfaces.cli.main import main as run

    if is_own:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


def _interrupted(*_: object) -> NoReturn:
    """Write the line of `utmost.interfaces.cli.main` for Ctrl-C, and end; nothing has been done yet."""
    line = "utmost: interrupted"
    if "--json" in sys.argv:
        line = '{"error": "KeyboardInterrupt", "message": "interrupted", "remedy": null, "exit_code": 130}'
    try:
        os.write(2, f"{line}\n".encode())
    finally:
        os._exit(128 + signal.SIGINT)


if __name__ == "__main__":
    main()

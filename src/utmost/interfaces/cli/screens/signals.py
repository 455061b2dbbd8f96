"""Handle signals during a command. This module imports nothing heavy: a command's first lines need it."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn


@contextmanager
def on_signal(number: signal.Signals, call: Callable[..., NoReturn]) -> Iterator[None]:
    """Call a function if a signal arrives while the block runs; outside the main thread, just run the block."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(number, call)
    try:
        yield
    finally:
        signal.signal(number, before)

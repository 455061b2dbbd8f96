"""Threads that stand for processes: one runs at a time, and a coin says which, wherever one of them touches a disk."""

import threading


class Process:
    """A thread with its turn.

    Attributes:
        is_alive: False once it was killed: what it does from then on nobody sees.
        error: what it ended with, if that was no death.
    """

    def __init__(self, work):
        self.is_alive, self.error, self._work = True, None, work
        self.turn = threading.Lock()
        self.turn.acquire()


class Processes:
    """All that run at once.

    Args:
        coin: says who goes on.

    Attributes:
        current: the one whose turn it is; None outside `run`.
    """

    def __init__(self, coin):
        self.current, self._coin, self._ready, self._ended = None, coin, [], threading.Lock()
        self._ended.acquire()

    def run(self, works):
        """Run them to their ends, each to be called with its process; raise the first error that is no death."""
        all_of_them = [Process(work) for work in works]
        threads = [threading.Thread(target=self._live, args=(process,), daemon=True) for process in all_of_them]
        self._ready = list(all_of_them)
        for thread in threads:
            thread.start()
        self._pass_on()
        self._ended.acquire()
        for thread in threads:
            thread.join()
        for process in all_of_them:
            if process.error is not None:
                raise process.error

    def pause(self):
        """Let the coin say who goes on."""
        process = self.current
        if process is None or len(self._ready) == 1:
            return
        self._pass_on()
        process.turn.acquire()

    def _pass_on(self):
        self.current = self._coin.choice(self._ready)
        self.current.turn.release()

    def _live(self, process):
        process.turn.acquire()
        try:
            process._work(process)
        except Exception as error:
            process.error = error
        self._ready.remove(process)
        if self._ready:
            self._pass_on()
        else:
            self.current = None
            self._ended.release()

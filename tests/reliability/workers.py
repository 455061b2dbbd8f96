"""What a worker does; here, so that a spawned one can import it."""

import utmost as ut
from utmost.ledger import Ledger

VALUES = {"n": [0] * 8}
WIDE = "1/1000000000000"
"""Noise so wide that two cells are equal once in 10^12 times."""

opened = None
"""A ledger that was opened before the workers were forked."""


def publish(arguments):
    """One release of its own; the noise."""
    place, number = arguments
    ledger = opened if opened is not None else Ledger.open(place, create=True, key=bytes(32))
    return list(
        ledger.publish(
            f"w{number}", VALUES, ut.Promise(columns=["n"], unit=ut.Unit(1, 1)), epsilon=WIDE, dataset="all"
        ).table["n"]
    )

"""A search that is interrupted from the keyboard, and what its certificate must be all the same."""

from utmost.channels import Channel
from utmost.optima import optimal_mechanism


def check_interrupted(ptype, consumer, last):
    """Ctrl-C in one round: a private channel for all places, and bounds that enclose the optimum; the certificate."""

    def stop(rounds, _):
        if rounds == last:
            raise KeyboardInterrupt

    found = optimal_mechanism(ptype, consumer, progress=stop, method="columns").certificate
    assert found.verify()
    assert ptype.contains(Channel(found.matrix))
    assert found.lower <= optimal_mechanism(ptype, consumer, method="columns").certificate.upper
    return found

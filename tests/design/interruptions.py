"""A search that is interrupted from the keyboard, and what its certificate must be all the same."""

from utmost.channels import Channel
from utmost.design.optima.column_generation import certificate_of_rays


def check_interrupted(ptype, consumer, last):
    """Ctrl-C in one round: a private channel for all places, and bounds that enclose the optimum; the certificate."""

    def stop(rounds, _):
        if rounds == last:
            raise KeyboardInterrupt

    found = certificate_of_rays(ptype, consumer, progress=stop)
    assert found.verify()
    assert ptype.contains(Channel(found.matrix))
    assert found.lower <= certificate_of_rays(ptype, consumer).upper
    return found

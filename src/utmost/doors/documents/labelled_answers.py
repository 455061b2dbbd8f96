"""A design in the words of its places: what each is most often answered with, by label."""

from typing import Any

from utmost.design.optima import Optimum

_MOST = 5


def labelled_answers(optimum: Optimum) -> dict[str, Any]:
    """The unit of the distances, and the likeliest answers for the likeliest place; nothing where there are no labels.

    >>> from utmost.design.optima import optimal_mechanism
    >>> from utmost.design.types import PrivacyType
    >>> from utmost.design.spaces import Consumer, losses, places
    >>> towns = places({"Oslo": (59.91, 10.75), "Bergen": (60.39, 5.32)})
    >>> consumer = Consumer(["2/3", "1/3"], losses.distance(towns))
    >>> found = labelled_answers(optimal_mechanism(PrivacyType(towns, "ln 3", per="303431 m"), consumer))
    >>> found["unit"], found["likeliest_secret"], found["answers_for_it"][0]
    ('m', 'Oslo', ['Oslo', 0.75])
    """
    certificate, channel = optimum.certificate, optimum.channel
    if channel.secrets is None or channel.outcomes is None:
        return {}
    likeliest = int(certificate.consumer.prior.argmax())
    row = [float(p) for p in channel.matrix[likeliest]]
    order = sorted(range(len(row)), key=lambda y: -row[y])[:_MOST]
    return {
        "unit": certificate.ptype.space.unit,
        "likeliest_secret": str(channel.secrets[likeliest]),
        "answers_for_it": [[str(channel.outcomes[y]), row[y]] for y in order if row[y] > 0],
    }

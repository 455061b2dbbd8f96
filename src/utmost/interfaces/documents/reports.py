"""The reports that commands give to programs: plain data, printed as JSON."""

import json
import sys
from collections.abc import Hashable, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import groupby
from typing import TYPE_CHECKING, Any

from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import exact
from utmost.core.exact.written_levels import level_facts
from utmost.core.noise.costs import Cost, absolute
from utmost.core.noise.integer_law import IntegerLaw
from utmost.core.noise.law import Law
from utmost.core.noise.optimal import gain
from utmost.errors import OutOfRange
from utmost.publish.promises.noise_at_level import CellNoiseAtLevel
from utmost.publish.promises.table_statements import law_parameters, promise

if TYPE_CHECKING:  # a released table does not wait for the room of designs
    from utmost.design.channels.channel import Remap
    from utmost.design.optima.attacks import Attack
    from utmost.design.optima.optimum import Optimum
    from utmost.design.optima.reading import Reading
    from utmost.design.spaces.consumer import Consumer
    from utmost.design.spaces.space import Space

CONFIDENCES = ("0.5", "0.8", "0.9", "0.95", "0.99", "0.999")
_LARGEST_MATRIX = 1_001


def print_json(value: Any) -> None:
    """Print JSON on standard output, uncoloured and unwrapped."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def law_report(law: Law, cost: Cost) -> dict[str, Any]:
    """A law: what it is, by which theorem, what it costs, its error bars and its gains."""
    return {
        "law": type(law).__name__,
        "text": repr(law),
        **level_facts(law.level),
        "parameters": law_parameters(law),
        "domain": law.numbers,
        "theorem": law.theorem,
        "cost": repr(cost),
        "expected_cost": float(law.expected_cost(cost)),
        "mean_absolute_error": float(law.expected_cost(absolute)),
        "variance": float(law.variance()),
        "margin": {confidence: law.margin(confidence) for confidence in CONFIDENCES},
        "gain": _gains(law, cost),
    }


def noise_report(noise: CellNoiseAtLevel) -> dict[str, Any]:
    """A plan: its level, its law, its error bar and its guarantee."""
    return {
        **level_facts(noise.level),
        "margin": noise.margin,
        "confidence": float(noise.confidence),
        "law": repr(noise.law),
        "drawn": repr(noise.drawn),
        "grid": None if noise.grid is None else str(noise.grid),
        "theorem": noise.theorem,
        "guarantee": promise(noise.level, noise.unit, "the released columns", "released cell"),
    }


def reading_report(
    reading: "Reading", consumer: "Consumer", level: Level, response: int, confidence: str, names: tuple[str, str]
) -> dict[str, Any]:
    """A reading: the answer, what is believed, and what is still risked; exact numbers as text beside the floats."""
    prior, loss = names
    return {
        "response": response,
        "n": consumer.secrets - 1,
        **level_facts(level),
        "prior": prior,
        "loss": loss,
        "answer": reading.action,
        "ties": list(reading.ties),
        "interval": list(reading.interval),
        "confidence": float(exact(confidence)),
        "mass": float(reading.mass),
        "expected_loss": float(reading.loss),
        "expected_loss_exact": exact_text(reading.loss),
        "believed_before": [float(p) for p in consumer.prior.tolist()],
        "believed_after": [float(p) for p in reading.posterior.tolist()],
    }


def design_report(optimum: "Optimum", space: str, prior: str, loss: str) -> dict[str, Any]:
    """An optimum in short: its loss, why none is less, and the remap as runs of responses."""
    certificate = optimum.certificate
    return {
        "space": space,
        **level_facts(certificate.ptype.level),
        "prior": prior,
        "loss": loss,
        "method": optimum.method,
        "theorem": optimum.theorem,
        "hypotheses": list(certificate.hypotheses),
        "expected_loss": float(optimum.loss),
        "expected_loss_exact": exact_text(optimum.loss) if optimum.is_exact else None,
        "lower_bound": float(optimum.lower),
        "verified": certificate.verify(),
        "face_value_loss": _face_value(optimum),
        "remap": None if optimum.remap is None else remap_runs(optimum.remap),
        "attack": _attack_facts(optimum),
    }


def _attack_facts(optimum: "Optimum") -> list[dict[str, Any]] | None:
    """The gain of an attacker with the consumer's prior, by the optimum first; nothing where matrices are large."""
    consumer = optimum.certificate.consumer
    if max(consumer.secrets, consumer.actions) > _LARGEST_MATRIX:
        return None
    told, space = optimum.attack(), optimum.certificate.ptype.space
    answers = space.names if consumer.actions == space.size else None
    return [attack_facts(told, space, answers), *(attack_facts(other, space) for other in told.others)]


_MOST = 5  # answers of a place


def labelled_answers(optimum: "Optimum") -> dict[str, Any]:
    """The unit of the distances, and the likeliest answers for the likeliest place; nothing where there are no labels.

    >>> from utmost.optima import optimal_mechanism
    >>> from utmost.privacy_types import PrivacyType
    >>> from utmost.spaces import Consumer, places
    >>> from utmost.design.spaces import losses
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


def attack_facts(told: "Attack", space: "Space", answers: Sequence[Hashable] | None = None) -> dict[str, Any]:
    """An attack as a screen shows it: numbers as they are, Fractions or floats that err on the safe side."""
    odds = told.odds
    return {
        "mechanism": told.mechanism,
        "guessed_before": told.prior_vulnerability,
        "guessed_after": told.vulnerability,
        "error_before": told.prior_error,
        "error_after": told.error,
        "reader_loses": told.loss,
        "worst_odds": None
        if odds is None
        else {
            "secret": str(space.labels[odds.secret]),
            "outcome": odds.outcome if answers is None else str(answers[odds.outcome]),
            "before": odds.before,
            "after": odds.after,
            "factor": odds.factor,
        },
    }


def remap_runs(remap: "Remap") -> list[dict[str, Any]]:
    """The remap as runs of responses with one answer, or taken at face value.

    >>> from utmost.channels import Remap
    >>> [(run["responses"], run["answer"]) for run in remap_runs(Remap([0, 2, 2, 3, 4, 4], size=6))]
    [('0', '0'), ('1', '2'), ('2 to 4', 'the response'), ('5', '4')]
    """
    actions, ties = remap.actions.tolist(), set(remap.ties)
    runs = []
    kinds = groupby(range(len(actions)), key=lambda y: ("itself" if actions[y] == y else actions[y], y in ties))
    for (kind, tie), members in kinds:
        ys = list(members)
        answer = "the response" if kind == "itself" and len(ys) > 1 else str(actions[ys[0]])
        runs.append({"responses": f"{ys[0]} to {ys[-1]}" if len(ys) > 1 else str(ys[0]), "answer": answer, "tie": tie})
    return runs


def _face_value(optimum: "Optimum") -> float | None:
    """The loss of G unmapped, where its matrix is small and its responses are answers."""
    consumer, ptype = optimum.certificate.consumer, optimum.certificate.ptype
    if optimum.remap is None or consumer.actions < consumer.secrets or consumer.secrets > _LARGEST_MATRIX:
        return None
    from utmost.design.channels.on_counts import geometric_channel
    from utmost.design.optima.reading import face_value_loss

    return float(face_value_loss(geometric_channel(consumer.secrets, ptype.level), consumer.to_floats()))


def exact_text(number: Any) -> str | None:
    """An exact number as text, None for a float."""
    return str(number) if isinstance(number, Fraction) else None


def _gains(law: Law, cost: Cost) -> dict[str, float]:
    """How many times as much the usual noise costs; nothing where that, or the cost itself, exceeds the floats."""
    is_compared = isinstance(law, IntegerLaw) and law.ratio is None
    others: tuple[Any, ...] = ("laplace", "geometric") if is_compared else ("laplace",)
    gains = {}
    for other in others:
        with suppress(OutOfRange):
            gains["Laplace" if other == "laplace" else other] = gain(law, other, cost)
    return gains

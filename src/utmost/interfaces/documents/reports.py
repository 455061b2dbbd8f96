"""Make reports of commands for programs, as plain data, and print them as JSON."""

import json
import sys
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import exact
from utmost.core.exact.written_levels import level_facts
from utmost.core.noise.costs import Cost, absolute
from utmost.core.noise.distribution import Distribution
from utmost.core.noise.integer_distribution import IntegerDistribution
from utmost.core.noise.optimal import gain
from utmost.errors import OutOfRange
from utmost.publish.promises.noise_at_level import CellNoiseAtLevel
from utmost.publish.promises.table_statements import distribution_parameters, promise

if TYPE_CHECKING:  # importing designs would delay every release
    from utmost.design.channels.channel import Remap
    from utmost.design.optima.attacks import Attack
    from utmost.design.optima.best_actions import Reading
    from utmost.design.optima.optimum import Optimum
    from utmost.design.spaces.consumer import Consumer
    from utmost.design.spaces.space import Space

REPORTED_CONFIDENCES = ("0.5", "0.8", "0.9", "0.95", "0.99", "0.999")
_LARGEST_MATRIX = 1_001


def with_repeated(printed: Mapping[str, Any], repeated: bool | None) -> dict[str, Any]:
    """Add to the JSON of a ledger's answer whether the ledger repeated it, so that nothing was spent."""
    return dict(printed) if repeated is None else {**printed, "repeated": repeated}


def print_json(value: Any) -> None:
    """Print JSON on standard output, without colours and line breaks of a terminal."""
    text = json.dumps(value, indent=2, ensure_ascii=False, default=_as_json)
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate
        text = json.dumps(value, indent=2, default=_as_json)
    sys.stdout.write(text + "\n")


def _as_json(cell: Any) -> Any:
    if isinstance(cell, np.generic):
        return cell.item()
    return float(cell) if isinstance(cell, Decimal) else str(cell)


def distribution_report(distribution: Distribution, cost: Cost) -> dict[str, Any]:
    """Report on a distribution: theorem, cost, margins, and gains over usual noise."""
    # `gains` has the cost of usual noise divided by the cost of this distribution, unless a cost exceeds the floats.
    is_compared = isinstance(distribution, IntegerDistribution) and distribution.ratio is None
    others: tuple[Any, ...] = ("laplace", "geometric") if is_compared else ("laplace",)
    gains = {}
    for other in others:
        with suppress(OutOfRange):
            gains["Laplace" if other == "laplace" else other] = gain(distribution, other, cost)
    return {
        "distribution": type(distribution).__name__,
        "text": repr(distribution),
        **level_facts(distribution.level),
        "parameters": distribution_parameters(distribution),
        "domain": distribution.numbers,
        "theorem": distribution.theorem,
        "cost": repr(cost),
        "expected_cost": float(distribution.expected_cost(cost)),
        "mean_absolute_error": float(distribution.expected_cost(absolute)),
        "variance": float(distribution.variance()),
        "margin": {confidence: distribution.margin(confidence) for confidence in REPORTED_CONFIDENCES},
        "gain": gains,
    }


def noise_report(noise: CellNoiseAtLevel) -> dict[str, Any]:
    """Report on noise at a level: distribution, margins and guarantee."""
    return {
        **level_facts(noise.level),
        "margin": noise.margin,
        "confidence": float(noise.confidence),
        "distribution": repr(noise.distribution),
        "drawn": repr(noise.drawn),
        "grid": None if noise.grid is None else str(noise.grid),
        "theorem": noise.theorem,
        "guarantee": promise(noise.level, noise.unit, "the released columns", "released cell"),
    }


def reading_report(
    reading: "Reading", consumer: "Consumer", level: Level, response: int, confidence: str, names: tuple[str, str]
) -> dict[str, Any]:
    """Report on a reading: answer, posterior and remaining risk; exact numbers also as text."""
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
    """Report on an optimum: its loss, why no loss is smaller, and the remap as runs of responses."""
    certificate = optimum.certificate
    # `face_value` is the loss of geometric responses taken as answers without a remap; None if responses are no answers
    # or the matrix is large.
    consumer, face_value = certificate.consumer, None
    if optimum.remap is not None and consumer.secrets <= min(consumer.actions, _LARGEST_MATRIX):
        from utmost.design.channels.on_counts import geometric_channel
        from utmost.design.optima.best_actions import face_value_loss

        face_value = float(
            face_value_loss(geometric_channel(consumer.secrets, certificate.ptype.level), consumer.to_floats())
        )
    attacks = None  # of an attacker with the consumer's prior; not computed for large matrices
    if max(consumer.secrets, consumer.actions) <= _LARGEST_MATRIX:
        attack, secrets = optimum.attack(), certificate.ptype.space
        answers = secrets.names if consumer.actions == secrets.size else None
        attacks = [attack_facts(attack, secrets, answers), *(attack_facts(other, secrets) for other in attack.others)]
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
        "face_value_loss": face_value,
        "remap": None if optimum.remap is None else remap_runs(optimum.remap),
        "attack": attacks,
    }


_MOST = 5  # answers of a place


def labelled_answers(optimum: "Optimum") -> dict[str, Any]:
    """Report the unit of distances, and the likeliest answers for the secret with the largest prior probability."""
    certificate, channel = optimum.certificate, optimum.channel
    if channel.secrets is None or channel.outcomes is None:  # answers without names are not reported
        return {}
    likeliest = int(certificate.consumer.prior.argmax())
    row = [float(p) for p in channel.matrix[likeliest]]
    order = sorted(range(len(row)), key=lambda y: -row[y])[:_MOST]
    return {
        "unit": certificate.ptype.space.unit,
        "likeliest_secret": str(channel.secrets[likeliest]),
        "answers_for_it": [[str(channel.outcomes[y]), row[y]] for y in order if row[y] > 0],
    }


def attack_facts(attack: "Attack", space: "Space", answers: Sequence[Hashable] | None = None) -> dict[str, Any]:
    """Report on an attack: numbers are exact, or floats (chances and losses rounded up, the attacker's errors down)."""
    odds = attack.odds
    return {
        "mechanism": attack.mechanism,
        "guessed_before": attack.prior_vulnerability,
        "guessed_after": attack.vulnerability,
        "error_before": attack.prior_error,
        "error_after": attack.error,
        "reader_loses": attack.loss,
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
    """Return a remap as runs of successive responses that have the same answer, or are their own answers."""
    actions, ties = remap.actions.tolist(), set(remap.ties)
    runs = []
    kinds = groupby(range(len(actions)), key=lambda y: ("itself" if actions[y] == y else actions[y], y in ties))
    for (kind, tie), members in kinds:
        ys = list(members)
        answer = "the response" if kind == "itself" and len(ys) > 1 else str(actions[ys[0]])
        runs.append({"responses": f"{ys[0]} to {ys[-1]}" if len(ys) > 1 else str(ys[0]), "answer": answer, "tie": tie})
    return runs


def exact_text(number: Any) -> str | None:
    return str(number) if isinstance(number, Fraction) else None

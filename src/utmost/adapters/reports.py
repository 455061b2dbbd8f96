"""What the commands say to programs: plain data, printed as JSON."""

import json
import sys
from fractions import Fraction
from typing import Any

from utmost.design import Reading
from utmost.exact import Level, exact
from utmost.noise import DiscreteStaircase, Law, gain
from utmost.noise.costs import Cost, absolute
from utmost.release import Plan
from utmost.release.statement import guarantee, law_parameters, level_facts
from utmost.spaces import Consumer

CONFIDENCES = ("0.5", "0.8", "0.9", "0.95", "0.99", "0.999")


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
        "domain": law.domain,
        "theorem": law.theorem,
        "cost": repr(cost),
        "expected_cost": float(law.expected_cost(cost)),
        "mean_absolute_error": float(law.expected_cost(absolute)),
        "variance": float(law.variance()),
        "radius": {confidence: law.radius(confidence) for confidence in CONFIDENCES},
        "gain": _gains(law, cost),
    }


def plan_report(plan: Plan) -> dict[str, Any]:
    """A plan: its level, its law, its error bar and its guarantee."""
    return {
        **level_facts(plan.level),
        "radius": plan.radius,
        "confidence": float(plan.confidence),
        "law": repr(plan.law),
        "theorem": plan.theorem,
        "guarantee": guarantee(plan),
    }


def reading_report(
    reading: Reading, consumer: Consumer, level: Level, response: int, confidence: str, names: tuple[str, str]
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


def exact_text(number: Any) -> str | None:
    """An exact number as text, None for a float."""
    return str(number) if isinstance(number, Fraction) else None


def _gains(law: Law, cost: Cost) -> dict[str, float]:
    """How many times as much the usual noise costs."""
    gains = {"Laplace": gain(law, "laplace", cost)}
    if isinstance(law, DiscreteStaircase):
        gains["geometric"] = gain(law, "geometric", cost)
    return gains

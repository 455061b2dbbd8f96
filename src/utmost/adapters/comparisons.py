"""Two channels compared in both directions, as plain data: verdicts with their witnesses."""

from fractions import Fraction
from typing import Any

from utmost.adapters.channel_file import document
from utmost.adapters.reports import exact_text
from utmost.channels import Channel
from utmost.design import expected_loss
from utmost.errors import OutOfRange
from utmost.geometry import max_case_verdict, privacy_order_verdict, refinement_verdict
from utmost.geometry.max_case_order import MaxCaseVerdict
from utmost.geometry.privacy_order import PrivacyOrderVerdict
from utmost.geometry.refinement import RefinementVerdict
from utmost.spaces import Consumer

ORDERS = ("refinement", "max-case", "privacy")
RELATIONS = {
    (True, True): "equal",
    (True, False): "the first is above",
    (False, True): "the second is above",
    (False, False): "incomparable",
}


def comparison(first: Channel, second: Channel, order: str) -> dict[str, Any]:
    """Which of two channels is above the other in an order: is the second the first one made safer, and conversely?

    Args:
        first, second: channels on the same secrets.
        order: one of `ORDERS`.

    Raises:
        OutOfRange: for another order.
        NotAChannel: for different numbers of secrets.
    """
    if order not in ORDERS:
        raise OutOfRange(f"the order must be one of {', '.join(ORDERS)}", came=order, where="--order")
    told = {"refinement": _by_refinement, "max-case": _by_worst_case, "privacy": _by_privacy}[order]
    down, up = told(first, second), told(second, first)
    return {
        "order": order,
        "exact": first.is_exact and second.is_exact,
        "relation": RELATIONS[down["holds"], up["holds"]],
        "second_below_first": down,
        "first_below_second": up,
    }


def _by_refinement(B: Channel, A: Channel) -> dict[str, Any]:
    verdict: RefinementVerdict = refinement_verdict(B, A)
    if verdict.remap is not None:
        return {"holds": True, "verified": verdict.verify(), "remap": document(verdict.remap)}
    assert verdict.consumer is not None, "a verdict has one of the two witnesses"
    return {"holds": False, "verified": verdict.verify(), "consumer": _consumer(verdict.consumer, B, A)}


def _consumer(consumer: Consumer, B: Channel, A: Channel) -> dict[str, Any]:
    """A consumer who prefers A to B, and what it loses with each."""
    above, below = expected_loss(B, consumer), expected_loss(A, consumer)
    return {
        "prior": [_number(p) for p in consumer.prior.tolist()],
        "loss": [[_number(v) for v in row] for row in consumer.loss.tolist()],
        "expected_loss_above": float(above),
        "expected_loss_below": float(below),
        "expected_loss_above_exact": exact_text(above),
        "expected_loss_below_exact": exact_text(below),
    }


def _by_worst_case(B: Channel, A: Channel) -> dict[str, Any]:
    verdict: MaxCaseVerdict = max_case_verdict(B, A)
    if verdict.weights is not None:
        weights = [[_number(v) for v in row] for row in verdict.weights.tolist()]
        return {"holds": True, "verified": verdict.verify(), "weights": weights}
    assert verdict.separator is not None, "a verdict has one of the two witnesses"
    return {
        "holds": False,
        "verified": verdict.verify(),
        "outcome": verdict.outcome,
        "separator": [_number(v) for v in verdict.separator.tolist()],
    }


def _by_privacy(B: Channel, A: Channel) -> dict[str, Any]:
    verdict: PrivacyOrderVerdict = privacy_order_verdict(B, A)
    if verdict.pair is None:
        return {"holds": True, "verified": verdict.verify()}
    x, z = verdict.pair
    ratios = {"ratio_above": _number(verdict.B[x, z]), "ratio_below": _number(verdict.A[x, z])}
    return {"holds": False, "verified": verdict.verify(), "pair": [x, z], **ratios}


def _number(value: Any) -> Any:
    return str(value) if isinstance(value, Fraction) else float(value)

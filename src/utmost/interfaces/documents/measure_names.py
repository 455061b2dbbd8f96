"""Find measures of leakage by name, and report the leakage of a channel by a measure as plain data."""

from collections.abc import Hashable, Sequence
from contextlib import suppress
from itertools import compress
from math import inf
from pathlib import Path
from typing import Any

from utmost.core.exact.arrays import Array, as_array
from utmost.design.capacities.capacity import capacity
from utmost.design.channels.channel import Channel, Remap
from utmost.design.leakage.channel_capacity import CapacityKind
from utmost.design.leakage.entropies import guessing_entropy, shannon_entropy
from utmost.design.leakage.hypers import hyper, joint
from utmost.design.leakage.measures import (
    Measure,
    PaidMeasure,
    bayes_risk,
    bayes_vulnerability,
    g_vulnerability,
    l_uncertainty,
    property_vulnerability,
)
from utmost.design.privacy_types.smallest_level import smallest_epsilon
from utmost.design.spaces.losses import loss_named
from utmost.design.spaces.priors import prior_named
from utmost.design.spaces.space import Space
from utmost.errors import NotALoss, OutOfRange, Unsupported
from utmost.interfaces.documents.consumer_files import prior_file
from utmost.interfaces.documents.cost_files import is_file
from utmost.interfaces.documents.reports import exact_text
from utmost.tables.files.small_tables import number_rows

MEASURES: dict[str, Measure] = {
    "bayes": bayes_vulnerability,
    "bayes-risk": bayes_risk,
    "shannon": shannon_entropy,
    "guessing": guessing_entropy,
}
"""Measures without parameters."""

_PROPERTY = "property:"
# The capacity of other measures needs exponentially many priors: it is not computed for more secrets than this.
_MOST_SEARCHED = 8
_MOST_SECRETS = {bayes_vulnerability.name: 24, bayes_risk.name: 24, shannon_entropy.name: 200}


def measure_of(name: str | None, gain: str | None, loss: str | None) -> Measure:
    """Return the one measure of the options: a name, a file of gains, or a loss; by default Bayes vulnerability."""
    options = [option for option, text in (("--measure", name), ("--gain", gain), ("--loss", loss)) if text is not None]
    if len(options) > 1:
        raise OutOfRange(
            "only one of --measure, --gain and --loss may be given",
            came=" and ".join(options),
            remedy="Leave out all of these options but one.",
        )
    if gain is not None:
        return _from_file(g_vulnerability, gain)
    if loss is not None:
        return _from_file(l_uncertainty, loss) if is_file(loss) else l_uncertainty(loss_named(loss))
    text = (name or "bayes").strip()
    if text.lower().startswith(_PROPERTY):
        return property_vulnerability([value.strip() for value in text[len(_PROPERTY) :].split(",")])
    if text.lower() not in MEASURES:
        known = f"{', '.join(MEASURES)} or {_PROPERTY}A,B,... with a value for each secret"
        raise OutOfRange(f"a measure must be one of {known}", came=text)
    return MEASURES[text.lower()]


def prior_of(text: str, secrets: int, labels: Sequence[Hashable] | None = None) -> Array:
    """Return a prior by name or from a file, which may name secrets by ``labels``."""
    return prior_file(text, secrets, labels) if is_file(text) else prior_named(text, secrets)


def leakage_report(C: Channel, prior: Array, measure: Measure, space: Space | None = None) -> dict[str, Any]:
    """Return the leakage of a channel by one measure as plain data; exact numbers are given as float and as text."""
    # With a space, the report has the smallest epsilon that the channel satisfies.
    leaked = hyper(C, prior)
    # max C[x, y] / C[x', y] over secrets x, x' and possible outcomes y.
    highs, lows = C.matrix.max(axis=0), C.matrix.min(axis=0)
    largest_ratio = max(high / low if low else inf for high, low in zip(highs, lows, strict=True) if high)
    multiplicative = None  # stays None for gains with negative entries
    with suppress(NotALoss):
        multiplicative = _number(measure.multiplicative_leakage(C, prior))
    report = {
        "secrets": C.shape[0],
        "outcomes": C.shape[1],
        "posteriors": leaked.shape[1],
        "exact": C.is_exact,
        "measure": measure.name,
        "is_vulnerability": measure.rises,
        "prior": _number(measure.prior(prior)),
        "posterior": _number(measure.posterior(C, prior)),
        "multiplicative_leakage": multiplicative,
        "additive_leakage": _number(measure.additive_leakage(C, prior)),
        "multiplicative_capacity": _capacity(C, measure, "multiplicative"),
        "additive_capacity": _capacity(C, measure, "additive"),
        "multiplicative_capacity_any_gain": _number(capacity(C).value),
        "additive_capacity_any_gain": _number(capacity(C, kind="additive").value),
        "max_case_capacity": _number(largest_ratio),
        "hyper": [
            {"weight": _number(w), "posterior": [_number(p) for p in column]}
            for w, column in zip(leaked.weights, leaked.posteriors.T, strict=True)
        ],
        "strategy": _strategy(C, prior, measure),
    }
    if space is not None:
        # A pair of secrets and an outcome show that the channel satisfies no smaller epsilon.
        epsilon = smallest_epsilon(C, space)
        pair = None if epsilon.pair is None else [str(space.labels[x]) for x in epsilon.pair]
        outcomes = range(C.shape[1]) if C.outcomes is None else C.outcomes
        outcome = None if epsilon.outcome is None else str(outcomes[epsilon.outcome])
        level = None if epsilon.level is None else str(epsilon.level)
        value = epsilon.value if epsilon.value != float("inf") else None
        report["smallest_epsilon"] = {"value": value, "level": level, "pair": pair, "outcome": outcome}
    return report


def _from_file(make: Any, text: str) -> Measure:
    try:
        measure: Measure = make(as_array(number_rows(Path(text))))
    except NotALoss as error:
        raise NotALoss(error.required, where=text, remedy=error.remedy) from None
    return measure


def _capacity(C: Channel, measure: Measure, kind: CapacityKind) -> dict[str, Any] | None:
    """Return the capacity by one measure; None without a method, for a negative gain, or if it would take minutes."""
    if C.shape[0] > _MOST_SECRETS.get(measure.name, _MOST_SEARCHED):
        return None
    try:
        return _number(measure.capacity(C, kind).value)
    except (NotALoss, Unsupported):
        return None


def _strategy(C: Channel, prior: Array, measure: Measure) -> list[dict[str, Any]] | None:
    """Return the best action for each possible outcome, in the order of outcomes; None without a best strategy."""
    try:
        chosen = measure.strategy(C, prior)
    except Unsupported:
        return None
    outcomes = range(C.shape[1]) if C.outcomes is None else C.outcomes
    is_possible = (joint(C, prior).sum(axis=0) > 0).tolist()
    if not isinstance(chosen, Remap):
        # The strategy of guessing entropy is an order of all secrets.
        names = list(range(C.shape[0]) if C.secrets is None else C.secrets)
        orders = chosen.T.tolist()
        listed = compress(zip(outcomes, orders, strict=True), is_possible)
        return [{"outcome": str(y), "order": [str(names[x]) for x in order]} for y, order in listed]
    ties, actions = set(chosen.ties), chosen.actions.tolist()
    own = measure.actions if isinstance(measure, PaidMeasure) else None
    secrets = C.secrets if C.secrets is not None and chosen.size == C.shape[0] else range(chosen.size)
    named = secrets if own is None else own
    return [
        {"outcome": str(y), "action": str(named[action]), "tie": k in ties}
        for k, (y, action) in compress(enumerate(zip(outcomes, actions, strict=True)), is_possible)
    ]


def _number(value: Any) -> dict[str, Any]:
    """Return a number as a float, and as text if exact; infinity, which JSON lacks, only as text."""
    infinite = value == float("inf")
    return {"value": None if infinite else float(value), "exact": "infinity" if infinite else exact_text(value)}

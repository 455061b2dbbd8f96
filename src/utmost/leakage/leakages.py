"""Vulnerability, uncertainty and leakage of a prior, a channel or a hyper, by any measure: one call for each."""

from typing import Any

from utmost.channels import Channel
from utmost.errors import OutOfRange
from utmost.exact import checked
from utmost.leakage.hypers import Hyper
from utmost.leakage.measures import Measure, bayes_risk, bayes_vulnerability, g_vulnerability, l_uncertainty
from utmost.spaces import Consumer, Loss


def vulnerability(of: object, prior: object = None, gain: object = None) -> Any:
    """V_g of a prior, or the posterior V_g of a channel and a prior or of a hyper; by default Bayes vulnerability.

    Args:
        of: a prior (n,), a `Hyper`, or a `Channel` (n, m).
        prior: (n,), with a channel; without one, the gain may stand here.
        gain: an (n, k) matrix, a function g(x, w), or a vulnerability, such as `property_vulnerability`.

    Returns:
        A Fraction where everything is exact, else a float.

    Source: [fernandes2022], section II-A and (3).

    >>> from utmost.channels import geometric_channel
    >>> from utmost.spaces import priors
    >>> vulnerability(priors.uniform(3)), vulnerability(geometric_channel(2, alpha="1/2"), priors.uniform(3))
    (Fraction(1, 3), Fraction(5, 9))
    """
    where, belief, rule = _arguments(of, prior, gain)
    measure = bayes_vulnerability if rule is None else _vulnerability(rule)
    return _measured(measure, where, belief)


def uncertainty(of: object, prior: object = None, loss: object = None) -> Any:
    """U_l of a prior, or the posterior U_l of a channel and a prior or of a hyper; by default Bayes risk.

    Args:
        of: a prior (n,), a `Hyper`, a `Channel` (n, m), or a consumer alone: its loss before anything is seen.
        prior: (n,) or a consumer, with a channel; without one, the loss may stand here.
        loss: a named loss, an (n, k) matrix, a function l(x, w), or an uncertainty, such as `shannon_entropy`.

    Returns:
        A Fraction where everything is exact, else a float.

    Source: [fernandes2022], (4) and (5).

    >>> from utmost.channels import geometric_channel
    >>> from utmost.spaces import losses, priors
    >>> consumer = Consumer(priors.uniform(3), losses.absolute)
    >>> uncertainty(consumer), uncertainty(geometric_channel(2, alpha="1/2"), consumer)
    (Fraction(2, 3), Fraction(5, 9))
    """
    where, belief, rule = _arguments(of, prior, loss)
    if rule is None:
        rule = next((given for given in (belief, where) if isinstance(given, Consumer)), None)
    measure = bayes_risk if rule is None else _uncertainty(rule)
    return _measured(measure, where, belief)


@checked
def multiplicative_leakage(
    channel: object, prior: object = None, gain: object = None, *, loss: object = None, measure: Measure | None = None
) -> Any:
    """V[p, C] / V(p), or U(p) / U[p, C]: by what factor the outcome improves the adversary's best.

    Args:
        channel: (n, m), or a `Hyper`, which needs no prior.
        prior: (n,), or a consumer, whose loss is then the measure.
        gain: nowhere negative, see `vulnerability`; a named loss that stands here is read as a loss.
        loss: see `uncertainty`.
        measure: any measure of this room. One of gain, loss and measure; Bayes vulnerability when all are left out.

    Returns:
        At least 1; infinity where an uncertainty becomes 0.

    Source: [fernandes2022], section II-B c).

    >>> from utmost.channels import randomized_response
    >>> from utmost.spaces import priors
    >>> multiplicative_leakage(randomized_response(3, alpha="1/2"), priors.uniform(3))
    Fraction(3, 2)
    """
    where, belief, chosen = _leak(channel, prior, gain, loss, measure)
    return chosen.multiplicative_leakage(where, belief)


@checked
def additive_leakage(
    channel: object, prior: object = None, gain: object = None, *, loss: object = None, measure: Measure | None = None
) -> Any:
    """V[p, C] - V(p), or U(p) - U[p, C]: how much the outcome improves the adversary's best.

    Args:
        channel: (n, m), or a `Hyper`, which needs no prior.
        prior: (n,), or a consumer, whose loss is then the measure.
        gain: see `vulnerability`; a named loss that stands here is read as a loss.
        loss: see `uncertainty`.
        measure: any measure of this room. One of gain, loss and measure; Bayes vulnerability when all are left out.

    Returns:
        At least 0.

    Source: [fernandes2022], section II-B c).

    >>> from utmost.channels import randomized_response
    >>> from utmost.spaces import priors
    >>> additive_leakage(randomized_response(3, alpha="1/2"), priors.uniform(3))
    Fraction(1, 6)
    """
    where, belief, chosen = _leak(channel, prior, gain, loss, measure)
    return chosen.additive_leakage(where, belief)


def _arguments(of: object, prior: object, rule: object) -> tuple[object, object, object]:
    """(channel, hyper or prior; the prior of a channel; the payments), from the places in which they may stand."""
    if isinstance(of, tuple) and len(of) == 2 and isinstance(of[0], Channel):
        return (*of, prior if rule is None else rule)
    if isinstance(prior, Channel) and not isinstance(of, Channel):
        return prior, of, rule
    if isinstance(of, Channel) or _is_matrix(of):
        return of, prior, rule
    if prior is not None and rule is not None:
        came = f"{type(of).__name__}, {type(prior).__name__} and {type(rule).__name__}"
        raise OutOfRange("without a channel there is one prior or hyper, and at most one gain or loss", came=came)
    rule = prior if rule is None else rule
    return of, None, rule


def _measured(measure: Measure, where: object, belief: object) -> Any:
    if belief is not None:
        return measure.posterior(where, belief)
    if isinstance(where, Channel) or _is_matrix(where):
        raise OutOfRange("a channel needs a prior", came="none", mend="Write vulnerability(C, prior), say.")
    return measure.posterior(where) if isinstance(where, Hyper) else measure.prior(where)


def _leak(
    channel: object, prior: object, gain: object, loss: object, measure: Measure | None
) -> tuple[object, object, Measure]:
    where, belief, rule = _arguments(channel, prior, gain)
    if isinstance(rule, Loss | Consumer) and loss is None:
        loss, rule = rule, None
    elif isinstance(rule, Measure) and measure is None:
        measure, rule = rule, None
    given = [name for name, x in (("gain", rule), ("loss", loss), ("measure", measure)) if x is not None]
    if len(given) > 1:
        raise OutOfRange("one of gain, loss and measure can be given", came=" and ".join(given))
    if measure is not None:
        return where, belief, measure
    if loss is None and rule is None and isinstance(belief, Consumer):
        loss = belief
    if loss is not None:
        return where, belief, _uncertainty(loss)
    return where, belief, bayes_vulnerability if rule is None else _vulnerability(rule)


def _vulnerability(gain: object) -> Measure:
    if isinstance(gain, Measure):
        return _check_way(gain, rises=True)
    return g_vulnerability(gain)


def _uncertainty(loss: object) -> Measure:
    if isinstance(loss, Measure):
        return _check_way(loss, rises=False)
    return l_uncertainty(loss)


def _check_way(measure: Measure, rises: bool) -> Measure:
    if measure.rises != rises:
        kind, call = ("a vulnerability", "uncertainty") if rises else ("an uncertainty", "vulnerability")
        raise OutOfRange(f"{kind} is needed here", came=measure.name, mend=f"Call {call} instead.")
    return measure


def _is_matrix(of: object) -> bool:
    """Whether an array or nested list is a channel rather than a prior: its first entry is a row."""
    if isinstance(of, Hyper | Consumer | str):
        return False
    try:
        return len(of[0]) > 0 and not isinstance(of[0], str)  # type: ignore[index]
    except (TypeError, IndexError, KeyError):
        return False

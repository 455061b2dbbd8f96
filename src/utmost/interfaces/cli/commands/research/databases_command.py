"""`utmost research databases`: does a mechanism gain by seeing the database, not only its count? [ghosh2009]"""

from typing import Annotated, Any

from utmost.core.exact.numbers import exact, exact_integer
from utmost.core.exact.progress_bar import progress_bar
from utmost.core.exact.written_levels import level_facts
from utmost.design.optima.beyond_oblivious import (
    CountQuery,
    averaged,
    best_worst_case,
    conflicting_users,
    expanded,
    worst_case_loss,
)
from utmost.design.optima.optimum import optimal_mechanism
from utmost.design.optima.several_consumers import shared_mechanism
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.design.spaces.families import counts
from utmost.errors import NotANumber, OutOfRange
from utmost.interfaces.cli.options import people_options, research_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import flag, option
from utmost.interfaces.cli.screens.screen import facts, screen, with_exact
from utmost.interfaces.documents.consumer_files import consumer_of
from utmost.interfaces.documents.reports import exact_text

RARE = ("--tilt", "--satisfying")


def show_databases(report: dict[str, Any]) -> None:
    """Print the report about Proposition 6.2 of Ghosh et al."""
    agree = report["oblivious_loss_exact"] == report["any_loss_exact"]
    shown = {
        "databases": f"{report['databases']:,}, each of {report['rows']} rows with one of {report['values']} values",
        "level": f"epsilon = {report['epsilon']}",
        "consumer": f"prior {report['prior']} over counts, loss {report['loss']}",
        "loss of a count": "the largest expected loss of the databases with this count",
        "least loss for a mechanism that sees the count": _both(report, "oblivious_loss"),
        "least loss for a mechanism that sees the database": _both(report, "any_loss"),
        "the same mechanism, averaged over equal counts": _both(report, "averaged_loss"),
        "Proposition 6.2": "holds: seeing the database gains nothing" if agree else "DOES NOT HOLD",
    }
    screen().print(facts(shown))


def show_conflict(report: dict[str, Any]) -> None:
    """Print the report about Theorem 6.3 of Ghosh et al."""
    shown = {
        "consumers": f"two consumers, with mirrored priors over the 8 databases; tilt {report['tilt']}",
        "level": f"epsilon = {report['epsilon']}",
        "loss of each consumer by its best mechanism": _both(report, "alone"),
        "least sum of both losses by one mechanism": _both(report, "together"),
        "regret of that one mechanism": _both(report, "regret"),
        "Theorem 6.3": "no mechanism is the best for both consumers"
        if report["conflict"]
        else "one mechanism is the best for both consumers",
        "checked": "yes, by the certificate of the linear program" if report["verified"] else "NO",
    }
    screen().print(facts(shown))


def _both(report: dict[str, Any], name: str) -> str:
    return with_exact(report[name], report[f"{name}_exact"])


def databases(
    *,
    values: Annotated[int, option("K", "Number of values that a row may take.")] = 2,
    rows: Annotated[int, option("N", "Number of rows of a database.")] = 3,
    satisfying: Annotated[
        list[str] | None, option("VALUES", "Values whose rows are counted, each in 0..K-1; default 1.")
    ] = None,
    prior: options.PriorName = "uniform",
    loss: options.LossName = "absolute",
    level: options.LevelOptions,
    conflict: Annotated[bool, flag("Show two consumers without a common best mechanism.")] = False,
    tilt: Annotated[
        str | None,
        option("NUMBER", "Prior probability of the fourth database for each consumer of --conflict; default 1/100."),
    ] = None,
    answer: options.Output,
) -> None:
    """Decide whether a mechanism that sees the whole database loses less than one that sees only a count.

    With a prior over counts, both lose the same (Ghosh et al. 2009, Proposition 6.2); --conflict shows
    Theorem 6.3.

    More: docs/theory/designs.md
    """
    at = level.read()
    if tilt is not None and not conflict:
        raise OutOfRange("--tilt needs --conflict", came="none", remedy="Add --conflict, or leave out --tilt.")

    if conflict:
        given = {"--values": values != 2, "--rows": rows != 3, "--satisfying": satisfying is not None}
        given |= {"--prior": prior != "uniform", "--loss": loss != "absolute"}
        research_options.check_unused(given, "with --conflict, which has the two consumers of the paper")
        tilt = tilt or "1/100"
        small, first, second = conflicting_users(exact(tilt, "tilt"))
        with progress_bar("Solving the linear program for both consumers"):
            optimum = shared_mechanism(PrivacyType(small.space, at), [first, second])
        report = {
            "tilt": tilt,
            **level_facts(at),
            **_numbers(alone=optimum.alone[0].loss, together=optimum.together.loss, regret=optimum.regret),
            "conflict": not optimum.exists,
            "verified": optimum.together.certificate.verify(),
        }
        if answer.give(report):
            show_conflict(report)
        return

    listed = satisfying or ["1"]
    try:
        integers = [exact_integer(text) for text in people_options.split_names(listed)]
    except NotANumber:
        remedy = "Write --satisfying 1,2."
        raise OutOfRange("--satisfying must list integers", came=", ".join(listed), remedy=remedy) from None
    query = CountQuery(values, rows, integers)
    if not at.is_rational:
        remedy = "Write, for example, --epsilon alpha=1/2: both linear programs are solved in fractions."
        raise OutOfRange("alpha = e^-epsilon must be rational", came=f"epsilon = {at.epsilon}", remedy=remedy)

    space, count_of_databases = counts(rows), query.values**query.rows
    consumer = consumer_of(prior, loss, space, at)
    with progress_bar(f"Solving the program on {count_of_databases} databases"):
        best, mechanism = best_worst_case(query, at.alpha_fraction(), consumer)
        least_of_count = optimal_mechanism(PrivacyType(space, at), consumer).loss
    mean = worst_case_loss(query, expanded(query, averaged(query, mechanism)), consumer)
    report = {
        "values": query.values,
        "rows": query.rows,
        "satisfying": sorted(query.satisfying),
        "databases": count_of_databases,
        **level_facts(at),
        "prior": prior,
        "loss": loss,
        **_numbers(oblivious_loss=least_of_count, any_loss=best, averaged_loss=mean),
    }
    if answer.give(report):
        show_databases(report)


def _numbers(**values: Any) -> dict[str, Any]:
    floats = {name: float(value) for name, value in values.items()}
    return floats | {f"{name}_exact": exact_text(value) for name, value in values.items()}

"""`utmost plan`: choose sums to measure and their budget shares; show errors, and how near they are to the least."""

from contextlib import suppress
from math import ceil, isfinite, prod, sqrt
from pathlib import Path
from typing import Annotated, Any

from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.levels import level as level_of
from utmost.core.exact.numbers import exact, exact_integer, read_confidence
from utmost.core.exact.progress_bar import progress_bar
from utmost.core.exact.written_levels import level_text
from utmost.core.privacy.amount import Amount
from utmost.core.privacy.unit import Unit
from utmost.errors import OutOfRange, Unsupported
from utmost.interfaces.cli.options import file_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import flag, option
from utmost.interfaces.cli.screens.screen import facts, grid, number, percent, screen
from utmost.interfaces.cli.screens.terminal import ScreenGroup, ScreenText
from utmost.interfaces.cli.screens.workload_screens import (
    column_margin,
    margins_by_themselves,
    no_clean_table,
    own_budget,
    planning_gain,
    promised_bars,
    promised_column_bars,
)
from utmost.publish.promises.sum_noise import check_level_names
from utmost.publish.statements.counted_files import COUNTED_FORM
from utmost.publish.statements.plan_files import PLAN_FORM
from utmost.publish.workloads.amount_pair import AmountPair
from utmost.publish.workloads.bounds.rotated_bounds import joint_times
from utmost.publish.workloads.measuring.wanted_sums import wants_marginals
from utmost.publish.workloads.planning.branch_and_bound import certified_shares
from utmost.publish.workloads.planning.candidate_marginals import candidate_marginals
from utmost.publish.workloads.planning.choose_plan import choose_plan
from utmost.publish.workloads.planning.plan import Alternatives, Plan
from utmost.publish.workloads.row_unit import WholeRows
from utmost.publish.workloads.sums_in_words import TOTAL_WORD, read_share, read_wanted
from utmost.publish.workloads.workload import Workload
from utmost.tables.axes.domain import Domain
from utmost.tables.files.json_files import read_json

_FEW, _MOST_BOXES = 4, 2_000
_SHOWN = 24  # measured marginals on a screen
_MOST_PARTS = 16  # requested tables side by side on a screen
_MARGIN = 1e-6  # rounding error of a ratio of 1, which must not be shown as 1.001

FIRST = ("--want", "--epsilon", "--at-most", "--up-to")
RARE = (
    *(
        "--share",
        "--per-answer",
        "--weightings",
        "--choose",
        "--method",
        "--per-cell",
        "--in-total",
        "--values",
        "--step",
    ),
    *("--neighbours", "--nonnegative", "--exactly", "--together"),
)
"""Options that control the search, or that plan for a domain before anything is counted."""


def plan(
    source: Annotated[
        file_options.File, file_options.file_argument("COUNTED", "File of `utmost count`, or domain.json.")
    ],
    *,
    want: Annotated[
        list[str] | None,
        option(
            "SUMS",
            'Wanted tables: "department sex", "sex=2" (weight 2), "" (total), "ranges of age", "tables of 2 columns".',
        ),
    ] = None,
    per_answer: Annotated[
        bool, flag("Weight the variance of each cell of a wanted table, not the table's mean variance.")
    ] = False,
    level: options.LevelOptions,
    up_to: Annotated[str | None, option("NUMBER", "Largest epsilon to which the release will be relaxed.")] = None,
    share: Annotated[
        list[str] | None,
        option("SUMS=NUMBER", 'Sums to measure, with budget shares: "department sex=3/4", "=1/4" (total).'),
    ] = None,
    weightings: Annotated[bool, flag("Also plan for other weights of the same tables.")] = False,
    choose: Annotated[str | None, option("NAME", "Name of the plan to write, as --weightings shows it.")] = None,
    at_most: Annotated[int | None, option("K", "Number of cells that one person may change.")] = None,
    per_cell: Annotated[str | None, option("S", "One person's largest change of a cell; default 1.")] = None,
    in_total: Annotated[str | None, option("S", "One person's largest change of all cells together.")] = None,
    values: Annotated[str | None, option("COLUMN", "Column of the amounts to sum.")] = None,
    step: Annotated[str | None, option("STEP", "Rounding step of amounts; default 1.")] = None,
    neighbours: Annotated[
        str | None, option("NAME", "Neighbours: add-remove (default), or change-one (twice the noise).")
    ] = None,
    nonnegative: Annotated[
        bool, flag("State that no person lowers a cell; under change-one, `utmost count` proves this.")
    ] = False,
    exactly: Annotated[
        bool, flag("State that each person is in exactly --at-most cells; then the total has no noise.")
    ] = False,
    together: Annotated[str | None, option("AXIS", "Axis for which `utmost count` will get --together.")] = None,
    method: Annotated[
        str | None,
        option(
            "NAME",
            "Kind of plan to search for: marginals, 'hat functions', independent, rotated, signed or rows.",
        ),
    ] = None,
    confidence: options.Confidence = DEFAULT_CONFIDENCE,
    answer: options.Output,
) -> None:
    """Choose the sums to measure, and their budget shares, for the tables you want.

    utmost plan counted.json --want "region age" --want region --epsilon 1 --out plan.json

    No count is read. Release with `utmost release counted.json --plan plan.json`.

    More: docs/howto/publish-consistent-tables.md
    """
    bounds = {"--at-most": at_most, "--per-cell": per_cell, "--in-total": in_total, "--values": values, "--step": step}
    promised = {"nonnegative": nonnegative, "exactly": exactly}
    domain, unit, along = _domain_and_unit(source, bounds, neighbours, together, promised)
    amounts = AmountPair.of(domain, unit)
    own = None if amounts is None else amounts.amount.name
    workload = read_wanted(domain, want or [], per_answer=per_answer, without=own)
    at, sure = level.read(), read_confidence(confidence)
    check_level_names(domain, unit)
    highest = None if up_to is None else level_of(up_to)
    with progress_bar("Searching for shares"):
        if share:
            if method == "rotated" and along is None:
                raise OutOfRange(
                    "--method rotated needs --together, an axis along which one person changes whole rows",
                    came="none",
                    remedy="Add --together AXIS, or leave out --method.",
                )
            if method not in (None, "rotated"):
                required, remedy = (
                    "--method can only be rotated with --share, which names the sums to measure",
                    "Leave out --method.",
                )
                raise OutOfRange(required, came=f"--method {method}", remedy=remedy)
            shares = [read_share(domain, text) for text in share]
            if len(dict(shares)) < len(shares):
                remedy = "Leave out one of the two."
                raise OutOfRange("--share must name each table only once", came="one twice", remedy=remedy)
            rotated = along if method == "rotated" else None
            chosen = Plan(domain, unit, dict(shares), workload, at, highest, rotated)
        else:
            chosen = choose_plan(workload, unit, epsilon=at, up_to=highest, together=along, method=method)
        others = chosen.alternatives() if weightings or choose is not None else None
        if choose is not None and others is not None:
            if choose not in others.plans:
                shown = ", ".join(repr(other) for other in others.plans)
                remedy = f"Choose one of {shown}."
                required = "--choose must name a weighting that --weightings shows"
                raise OutOfRange(required, came=repr(choose), remedy=remedy)
            chosen = others[choose]
        report = _report(chosen, others, sure)
    if answer.give(report, PLAN_FORM.document(chosen)):
        _show(report, answer.file)


def _domain_and_unit(
    source: Path, bounds: dict[str, Any], neighbours: str | None, together: str | None, promised: dict[str, bool]
) -> tuple[Domain, Unit, str | None]:
    """Return the domain, the privacy unit, and the axis along which a person changes whole rows (None without one)."""
    if source.suffix.lower() != ".json":
        remedy = "Count first: utmost count TABLE --person ... --domain ... --at-most ... --out counted.json."
        raise OutOfRange("utmost plan reads a .json file: a counted table or a domain", came=source.name, remedy=remedy)
    document = read_json(source, "a plan is made for a counted table or a domain, which must")
    if isinstance(document, dict) and document.get("kind") == COUNTED_FORM.kind:
        counted = COUNTED_FORM.of(document, str(source))
        stated = {**bounds, "--neighbours": neighbours, "--together": together}
        stated |= {f"--{name}": known or None for name, known in promised.items()}
        for name, value in stated.items():
            if value is not None:
                again = (
                    "plan for the domain"
                    if name in ("--nonnegative", "--exactly")
                    else "count again with another bound"
                )
                required, remedy = (
                    "a counted table already has its unit of privacy",
                    f"Leave out {name}; or {again}.",
                )
                raise OutOfRange(required, came=name, remedy=remedy)
        return counted.domain, counted.unit, counted.together
    domain, in_total = Domain.of_facts(document), bounds["--in-total"]
    # A bound over all cells also bounds each cell; one person may then be in every cell.
    at_most = domain.size if bounds["--at-most"] is None and in_total is not None else bounds["--at-most"]
    if at_most is None:
        remedy = "Add, for example, --at-most 1; or plan for a file of utmost count, which contains this bound."
        raise OutOfRange(
            "--at-most must give the number of cells that one person may change", came="none", remedy=remedy
        )
    if exact_integer(at_most, "at_most") < 1:
        raise OutOfRange("--at-most must be at least 1", came=at_most, remedy="Write, for example, --at-most 1.")
    values, step = bounds["--values"], bounds["--step"]
    most = exact(bounds["--per-cell"] or in_total or "1", "per_cell")
    if values is None and step is not None:
        raise OutOfRange("--step needs --values", came="none", remedy="Name the column of amounts: --values amount.")
    amount = None if values is None else Amount(values, step or 1)
    wide = most if amount is None else amount.steps(most, "per_cell")
    relation = neighbours or "add-remove"
    steps_in_total = in_total if in_total is None or amount is None else amount.steps(in_total, "in_total")
    promised |= {"nonnegative": promised["nonnegative"] or promised["exactly"]}
    unit = Unit(wide, min(at_most, domain.size), relation, amount, in_total=steps_in_total, **promised)
    if together is not None and in_total is None:
        WholeRows.of(domain, together).check_whole(unit.cells, "at_most")
    return domain, unit, together


def _report(chosen: Plan, others: Alternatives | None, sure: Any) -> dict[str, Any]:
    workload, unit, bounds = chosen.workload, chosen.unit, chosen.lower_bounds
    assert isinstance(workload, Workload)
    bars, deviations = promised_bars(chosen, sure), chosen.variances
    column_bars = promised_column_bars(chosen, sure)
    counts = {} if chosen.amount_pair is None else chosen.count_variances_at(bounds.level)
    by_itself = margins_by_themselves(chosen, bounds.level, sure)

    # `certified` is a proved factor by which the error may exceed the least error over all budget shares of useful
    # marginals. Branch and bound finds it for at most four marginals, and not if the groups of a level differ in size.
    certified: float | None = None
    are_plain = chosen.together is None and not unit.exactly and not any(map(chosen.measurement.kind, chosen.shares))
    if are_plain and not wants_marginals(workload):
        with suppress(Unsupported):
            marginals = candidate_marginals(workload)
            if len(marginals) <= _FEW:
                certificate = certified_shares(workload, unit, bounds.level, marginals, most_boxes=_MOST_BOXES)
                if certificate.is_certified:
                    certified = max(1.0, chosen.value / certificate.bound)

    return {
        "level": level_text(bounds.level),
        "tuned_at": level_text(chosen.tuned_at or bounds.level),
        "confidence": float(sure),
        "unit": unit.facts(),
        "cells": chosen.domain.size,
        "measured": [
            {
                "marginal": chosen.marginal_words(marginal),
                "sums": prod(chosen.measured_shape(marginal)),
                "share": str(share),
            }
            for marginal, share in chosen.shares.items()
        ],
        "epsilon_parts": 1 if chosen.measurement.adds_to_one(chosen.shares) else unit.epsilon_parts_json,
        "together": chosen.together,
        "independent_noise_times": chosen.independent_times,
        "joint_draw_times": None
        if (pair := chosen.pair) is None
        else joint_times(chosen.unit, bounds.level, pair.rows.size),
        "rows_bound_times": None if not (rows := chosen.rows_bound) else chosen.value / rows,
        "wanted": [
            {
                "sums": part.name,
                "answers": part.answers,
                "weight": str(part.weight),
                "standard_deviation": sqrt(deviations[part.name]),
                "error_bar": bars.get(part.name),
                **{f"{column}_error_bar": bar for column, bar in by_itself.get(part.name, {}).items()},
                **({"count_standard_deviation": sqrt(counts[part.name])} if counts else {}),
                **({"column_error_bars": column_bars.get(part.name, {})} if counts else {}),
            }
            for part in workload.parts
        ],
        **({} if others is None else {"weightings": others.deviations}),
        "within": {
            kind: {"times": times if isfinite(times) else None, "holds_for": bound.holds_for, "under": bound.hypotheses}
            for (kind, bound), times in zip(
                bounds.by_class().items(), bounds.ratios(chosen.value).values(), strict=True
            )
        },
        "one_way_times": chosen.one_way_times,
        "not_bounded": dict(bounds.not_bounded),
        "certified": certified,
        "tried": dict(chosen.tried),
        "made_once": None
        if (words := chosen.once_words) is None
        else f"{words}: utmost release COUNTED --want ... --once tables",
        "would_help": [help._asdict() for help in chosen.would_help],
        "clean_needs": chosen.clean_needs,
        "budget_part": own_budget(chosen) if by_itself else None,
    }


def _show(report: dict[str, Any], out: Path | None) -> None:
    """Print the plan: measured sums, errors, alternatives, and how near the errors are to the least."""
    parts = [row["sums"] or TOTAL_WORD for row in report["wanted"]]
    sure = percent(report["confidence"])
    tuned = "" if report["tuned_at"] == report["level"] else f", with shares chosen for epsilon = {report['tuned_at']}"
    unit = report["unit"]
    rows = {
        "level": f"epsilon = {report['level']}{tuned}",
        "one person": f"changes at most {Unit.of_facts(unit).cells_text('cell')} of {report['cells']}, each by at most "
        f"{Unit.of_facts(unit).largest_change_named} ({unit['neighbours']})",
    }

    if report["together"] is not None:
        times = number(report["independent_noise_times"], 4)
        kind = "signed sums" if report["joint_draw_times"] is None else "sums and differences"
        rows["noise"] = (
            f"on {kind} of {report['together']}: noise on each cell would have {times} times the weighted variance "
            f"(--method independent chooses such noise)"
        )
        if report["joint_draw_times"] is not None:
            draw = number(report["joint_draw_times"], 3)
            rows["drawn once"] = (
                f"with utmost release --once row, a cell has {draw} times the variance; this noise cannot be relaxed"
            )
        rows["one person"] += f", which are whole rows along {report['together']}"
    if report["clean_needs"] is not None:
        rows["clean"] = no_clean_table(report["clean_needs"])

    beside = {row["sums"]: row for row in report["wanted"] if "alone_error_bar" in row}
    if len(beside) > 1:
        planned = {name: row["error_bar"] for name, row in beside.items()}
        alone = {name: row["alone_error_bar"] for name, row in beside.items()}
        times_alone = {
            name: 0.0 if bar is None or not alone[name] else float(bar) / float(alone[name])
            for name, bar in planned.items()
        }
        least = max(sorted(beside), key=lambda name: times_alone[name])
        rows["gain"] = planning_gain(
            planned,
            {name: {"alone": alone[name], "split": row["split_error_bar"]} for name, row in beside.items()},
            report["budget_part"],
        )
        rows["weights"] = (
            f'a table with a larger weight gets a smaller error: --want "{least or TOTAL_WORD}=10" gives it a larger '
            "part of epsilon"
        )

    if report["made_once"] is not None and report["together"] is None:
        rows["drawn once"] = report["made_once"]
    if report["would_help"]:
        rows["may help"] = "; ".join(
            f"--{change['argument']}{'' if change['value'] is True else ' ' + str(change['value'])}"
            f", {change['condition']}"
            for change in report["would_help"]
        )
    if out is not None:
        rows["written"] = str(out)
        rows["release it"] = f"utmost release COUNTED --plan {out} --epsilon {report['level']} --out release.json"

    measured = [[row["marginal"] or TOTAL_WORD, str(row["sums"]), row["share"]] for row in report["measured"][:_SHOWN]]
    if len(report["measured"]) > _SHOWN:
        measured.append([f"and {len(report['measured']) - _SHOWN} more", "", ""])
    part = "" if report["epsilon_parts"] == 1 else f" of 1/{report['epsilon_parts']}"

    sum_rows = []
    amount = (unit.get("amount") or {}).get("name")
    for row in report["wanted"]:
        name, has_counts = row["sums"] or TOTAL_WORD, "count_standard_deviation" in row
        cells = [str(row["answers"]), row["weight"]]
        of = f"{name}: {amount}" if has_counts else name
        bars = [row.get(kind) for kind in ("error_bar", "alone_error_bar", "split_error_bar")]
        shown_bars = ["" if bar is None else f"± {number(bar)}" for bar in bars]
        sum_rows.append([of, *cells, number(row["standard_deviation"], 4), *shown_bars])
        if has_counts:
            deviation = number(row["count_standard_deviation"], 4)
            for column, bar in row["column_error_bars"].items():
                if column != f"{amount}_sum":
                    shown, margin = column_margin(column, bar)
                    of_count = deviation if column == "count" else ""
                    sum_rows.append([shown, "", "", of_count, margin, "", ""])

    choice = [
        [name, *(number(deviations[row["sums"]], 4) for row in report["wanted"])]
        for name, deviations in report.get("weightings", {}).items()
    ]

    # A pair in `within` is a class of mechanisms, and a factor by which this variance may exceed the class's least one.
    within = [(bound["times"], bound["holds_for"]) for bound in report["within"].values()]
    further = {
        "rows_bound_times": "the same, if one person changes whole rows",
        "one_way_times": "any mechanism, if epsilon is small (from the volume of one person's possible changes)",
        "certified": "any budget shares of all useful marginals (found by search, with proof)",
    }
    within += [(report[name], words) for name, words in further.items() if report[name] is not None]
    bounds = [
        ["no bound is known" if times is None else f"{ceil(times * 1000 - _MARGIN) / 1000:g} times", words]
        for times, words in within
    ]
    bounds += [["no bound is known", f"{kind}: {why}"] for kind, why in report["not_bounded"].items()]

    margins = [f"margin, {sure}", "", ""]
    if beside:
        own = str(report["budget_part"]).replace(" of epsilon", "\nof epsilon")
        margins[1:] = ["if only\nthis table were\npublished", f"if each table had\n{own}"]
    title = ScreenText(
        "Standard deviations of the plans for other weights (--choose NAME takes one of these plans):", style="bold"
    )
    choices = (title, grid(["", *parts], choice)) if choice and len(parts) <= _MOST_PARTS else ()
    screen().print(
        ScreenGroup(
            ScreenText("Sums to measure:", style="bold"),
            grid(["sums", "number", f"budget share{part}"], measured),
            ScreenText("Error of the wanted tables:", style="bold"),
            grid(["wanted", "answers", "weight", "standard\ndeviation", *margins], sum_rows),
            *choices,
            ScreenText("Proved bounds on the weighted variance, as a multiple of the least possible:", style="bold"),
            grid(["at most", "the least variance of"], bounds, left=2),
            facts(rows),
        )
    )

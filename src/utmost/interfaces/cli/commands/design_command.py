"""`utmost design`: find the best mechanism for a prior and a loss, and bound its excess loss."""

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal

from utmost.core.exact.written_levels import level_text
from utmost.design.optima.evidence import Certificate
from utmost.design.optima.optimum import Optimum, optimal_mechanism
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.design.spaces.families import EuclideanGridMetric, LineMetric, ManhattanGridMetric
from utmost.design.spaces.geography import Places
from utmost.design.spaces.loss_algebra import check_monotone
from utmost.errors import NotMonotone, OutOfRange
from utmost.interfaces.cli.options import file_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import flag, option
from utmost.interfaces.cli.options.research_options import PrivacyTypeOptions, space_of_option
from utmost.interfaces.cli.screens.curve_screen import check_no_level, curve_levels, show_loss_curve
from utmost.interfaces.cli.screens.screen import facts, gap_progress, grid, number, others, screen, with_exact
from utmost.interfaces.cli.screens.terminal import ScreenText, write_note
from utmost.interfaces.documents import designs
from utmost.interfaces.documents.consumer_files import consumer_of, default_loss
from utmost.interfaces.documents.cost_files import is_file
from utmost.interfaces.documents.reports import attack_facts, design_report, labelled_answers
from utmost.interfaces.documents.saved_designs import design_writer
from utmost.interfaces.documents.space_names import distances_words
from utmost.publish.promises.noise_at_level import WEAK
from utmost.tables.files.atomic import Writer, write_together

_SHOWN = 24  # rows of the remap on the screen
_VISIBLE = 1e-6


def show_design(report: dict[str, Any], secrets: int, out: Path | None) -> None:
    shown = {
        "expected loss": with_exact(report["expected_loss"], report["expected_loss_exact"], longest=29),
        "lower bound for all mechanisms": with_exact(report["lower_bound"], report["expected_loss_exact"], longest=29),
        "checked": "yes, both bounds computed again without the solver" if report["verified"] else "NO",
        "found by": report["method"],
        "theorem": report["theorem"] or "none: the lower bound proves optimality",
        **({"which needs": "; ".join(report["hypotheses"])} if report["hypotheses"] else {}),
        "secrets": f"{report['space']}, {secrets:,} of them",
        "level": f"epsilon = {report['epsilon']}" + (f" per {report['unit']}" if report.get("unit") else ""),
        "consumer": f"prior {report['prior']}, loss {report['loss']}",
    }
    if report["face_value_loss"] is not None:
        lost = number(report["face_value_loss"])
        shown["without a remap"] = f"the expected loss of the geometric mechanism is {lost}"
    if out is not None:
        shown["written"] = str(out)
    loss, least = report["expected_loss"], report["lower_bound"]
    if loss - least > _VISIBLE * loss:  # a percentage, because the loss may be tiny
        shown["gap"] = (
            f"at most {above(100 - 100 * Fraction(least) / Fraction(loss), 3)} % of the expected loss could be saved"
        )
    console = screen()
    console.print(facts(shown))
    # A table shows how well an attacker who knows the prior guesses the secret from an answer of each mechanism.
    if (attacks := report["attack"]) is not None:
        first = attacks[0]
        console.print(ScreenText("\nWhat an attacker with this prior learns", style="bold"))
        rows = [["without an answer", _percent(first["guessed_before"]), below(first["error_before"]), "", ""]]
        rows += [
            [
                attack["mechanism"],
                _percent(attack["guessed_after"]),
                below(attack["error_after"]),
                _odds(attack),
                above(attack["reader_loses"]),
            ]
            for attack in attacks
        ]
        console.print(grid(["by", "guesses it", "loses", "odds rise", "reader loses"], rows))
        if (worst := first["worst_odds"]) is not None:
            console.print(
                ScreenText(
                    f"The optimal mechanism changes the odds most for secret {worst['secret']} at outcome "
                    f"{worst['outcome']}: from {_percent(worst['before'], 3)} to {_percent(worst['after'], 3)}."
                )
            )
        usual = (
            " The outcomes of the usual mechanisms are remapped for the same prior and loss."
            if len(attacks) > 1
            else ""
        )
        console.print(ScreenText(f"The attacker's loss is rounded down, and every other number is rounded up.{usual}"))
    if (remap := report["remap"]) is not None:
        console.print(ScreenText("\nThe best answer for each response of the geometric mechanism", style="bold"))
        rows = [
            [run["responses"], run["answer"], "another answer is as good" if run["tie"] else ""]
            for run in remap[:_SHOWN]
        ]
        console.print(grid(["response", "answer", ""], rows), *others(len(remap) - _SHOWN, "more rows"))


def _percent(chance: Any, digits: int = 4) -> str:
    return f"{above(100 * Fraction(chance), digits)} %"


def above(value: Any, digits: int = 4) -> str:
    """Format a number, rounded up.

    >>> above(Fraction(1, 3)), above(Fraction(1, 5)), above(float("inf"))
    ('0.3334', '0.2', 'infinity')
    """
    return _cut(value, Context(prec=digits, rounding=ROUND_CEILING))


def below(value: Any, digits: int = 4) -> str:
    """Format a number, rounded down.

    >>> below(Fraction(2, 3)), below(Fraction(6, 5))
    ('0.6666', '1.2')
    """
    return _cut(value, Context(prec=digits, rounding=ROUND_FLOOR))


def _cut(value: Any, rounded: Context) -> str:
    if value == math.inf:
        return "infinity"
    exactly = Fraction(value)
    shown = rounded.divide(Decimal(exactly.numerator), Decimal(exactly.denominator))
    near = float(shown)
    return number(near, rounded.prec) if math.isfinite(near) else f"{shown:.{rounded.prec - 1}e}"


def _odds(attack: dict[str, Any]) -> str:
    worst = attack["worst_odds"]
    return "nothing" if worst is None else f"{above(worst['factor'])} times"


def show_check(certificate: Certificate) -> None:
    """Print what a certificate proves, and for which secrets."""
    space = certificate.ptype.space
    unit, distances = space.unit, distances_words(space)
    shown = {
        "checked": "yes, both bounds computed again without the solver",
        "the mechanism loses at most": number(certificate.upper, 12),
        "every mechanism loses at least": number(certificate.lower, 12),
        "theorem": certificate.theorem or "none: the lower bound proves optimality",
        "secrets": f"{space.size:,}",
        "level": f"epsilon = {level_text(certificate.ptype.level)}" + ("" if unit is None else f" per {unit}"),
        **({} if distances is None else {"distances": distances}),
    }
    screen().print(facts(shown))


RARE = ("--theorem", "--program", "--gap", "--check")


def design(
    *,
    asked: PrivacyTypeOptions,
    prior: Annotated[
        str | None,
        option("PRIOR", "Prior: uniform, binomial:0.3, poisson:4, prior.csv, or column:people in the file of places."),
    ] = None,
    loss: Annotated[
        str | None,
        option(
            "LOSS",
            "Loss: distance, absolute, squared, binary or losses.csv; default: absolute for counts, else distance.",
        ),
    ] = None,
    curve: Annotated[
        str | None,
        option(
            "FROM:TO:STEPS",
            "Several epsilons: 0.5:4:8 means 0.5, 1, ..., 4.",
        ),
    ] = None,
    theorem: Annotated[bool, flag("Use the closed form; refuse a loss without one.")] = False,
    program: Annotated[bool, flag("Solve the linear program even if a closed form exists.")] = False,
    gap: Annotated[
        str | None,
        option("SHARE", "Allowed excess over the least loss, as a fraction of the least loss; default 1e-7."),
    ] = None,
    out: Annotated[
        Path | None,
        option("FILE", "File for design and certificate (.json), or mechanism alone (.csv)."),
    ] = None,
    plot: options.Plot = None,
    check: file_options.Check = None,
    as_json: options.AsJson = False,
) -> None:
    """Find the best private mechanism for a prior and a loss, up to a proven excess loss.

    utmost design --space counts:5 --epsilon alpha=1/2 --prior uniform --loss absolute --out design.json

    More: docs/reference/designs.md
    """
    if check is not None:
        certificate = designs.read(check)  # refuses a design that does not prove what it states
        proved = {"verified": True, "lower": float(certificate.lower), "upper": float(certificate.upper)}
        if options.Output(out, as_json).give(proved):
            show_check(certificate)
        return

    if curve is not None:
        check_no_level(asked.level)
        if prior is None or theorem or program or gap is not None:
            came = "none" if prior is None else "--theorem, --program or --gap"
            remedy = "Add --prior uniform." if prior is None else "Leave out these options: --curve chooses the method."
            raise OutOfRange(
                "--curve needs --prior, and cannot be combined with --theorem, --program or --gap",
                came=came,
                remedy=remedy,
            )
        spelled, space = space_of_option(asked.space)
        levels, loss = curve_levels(curve, space.unit), loss or default_loss(space)
        consumer = consumer_of(prior, loss, space, levels[0])
        named = {"space": spelled.replace(":", " ", 1), "prior": prior, "loss": loss}
        return show_loss_curve(space, consumer, levels, named, options.Output(out, as_json), plot)

    spelled, ptype = asked.read()
    loss = loss or default_loss(ptype.space)
    if prior is None:
        remedy = "Add --prior uniform; or --prior FILE.csv, a file with a probability for each secret."
        raise OutOfRange(
            "--prior must be given: it is the probability of each secret before an answer", came="none", remedy=remedy
        )
    if theorem and program:
        raise OutOfRange("only one of --theorem and --program may be given", came="both", remedy="Leave one out.")
    consumer = consumer_of(prior, loss, ptype.space, ptype.level)
    _warn_of_weakness(ptype)

    method: Literal["auto", "theorem", "program"] = "theorem" if theorem else "program" if program else "auto"
    try:
        with gap_progress("Designing", ends_at_once=out is None and plot is None) as progress:
            optimum = optimal_mechanism(ptype, consumer, method=method, gap=gap or "1e-7", progress=progress)
    except NotMonotone:
        if isinstance(ptype.space.metric, LineMetric):
            check_monotone(consumer)  # names the entry
        raise

    name = None if is_file(loss) else loss.strip().lower()
    written = designs.document(optimum, name)
    path = file_options.file_of(out)
    writers: dict[Path, Writer] = {}
    if path is not None:
        writers[path] = design_writer(optimum, path, name)
    if plot is not None:
        writers[plot] = _map_writer(optimum, plot)
    if writers:
        write_together(writers)
    report = design_report(optimum, spelled.replace(":", " ", 1), prior, loss)
    likeliest = labelled_answers(optimum)
    report |= likeliest
    if options.Output(None, as_json or out != path).give(written):
        show_design(report, ptype.space.size, path)
        if likeliest:
            title = f"\nThe likeliest answers for {likeliest['likeliest_secret']}"
            rows = [[label, f"{100 * share:.2f} %"] for label, share in likeliest["answers_for_it"]]
            screen().print(ScreenText(title, style="bold"), grid(["answer", "chance"], rows))


def _warn_of_weakness(ptype: PrivacyType) -> None:
    """Warn if the level does not even hide the two nearest secrets from each other."""
    edges, unit = ptype.space.metric.edges(), ptype.space.unit
    if not len(edges):
        return
    nearest = float(min(ptype.space.metric.distance(edges[:, 0], edges[:, 1])))
    power = float(ptype.epsilon) * nearest
    if power > WEAK:
        apart = f"at distance {number(nearest)}" + ("" if unit is None else f" {unit}")
        remedy = (
            "Choose a smaller --epsilon."
            if unit is None
            else f'Epsilon is for each {unit} unless you name a distance: --epsilon "1 per {number(nearest)}{unit}".'
        )
        write_note(
            f"this level protects practically nobody: an answer may be e^{power:.4g} times as likely from one of "
            f"the two nearest secrets as from the other, {apart}. {remedy}",
            "warning",
        )


def _map_writer(optimum: Optimum, path: Path) -> Writer:
    """Return a function that writes a picture: the prior on a grid or map, and the answers for the likeliest place."""
    from utmost.interfaces.figures.canvas import check_format, places_figure, write

    certificate = optimum.certificate
    space, prior = certificate.ptype.space, certificate.consumer.prior
    metric = space.metric
    if not isinstance(metric, EuclideanGridMetric | ManhattanGridMetric) and not isinstance(space, Places):
        remedy = "Leave out --plot, or write --space grid:4x4 or --space places:towns.csv:name,lat,lon."
        raise OutOfRange(
            "--plot needs a --space that is a grid, or places with coordinates", came="another space", remedy=remedy
        )
    check_format(path)
    attack = attack_facts(optimum.attack(), space)
    caption = (
        f"An attacker's chance to guess the place in one try: {_percent(attack['guessed_before'], 3)} before an "
        f"answer, {_percent(attack['guessed_after'], 3)} after it; the odds of a place rise up to {_odds(attack)}"
    )
    if isinstance(space, Places):
        from utmost.interfaces.figures.labelled_map import map_of_answers

        figure = map_of_answers(optimum, caption=caption)  # refuses invalid places before any file is written
        return lambda file: write(figure, file, path.suffix[1:].lower())
    assert isinstance(metric, EuclideanGridMetric | ManhattanGridMetric), "secrets without places"
    likeliest = int(prior.argmax())
    maps = {"prior": prior, f"answers for place {likeliest}": optimum.channel.matrix[likeliest]}
    return lambda file: places_figure(maps, (metric.rows, metric.cols), likeliest, file, path, caption)

"""`utmost research universal`: decide, with proof, whether one mechanism is optimal for every prior."""

from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

from utmost.core.exact.arrays import Array
from utmost.core.exact.progress_bar import progress_bar
from utmost.design.channels.on_counts import geometric_channel
from utmost.design.channels.on_spaces import randomized_response
from utmost.design.geometry.best_action_cells import exact_expected_loss, exact_loss
from utmost.design.geometry.universal_optima import universal_mechanism, universality
from utmost.errors import OutOfRange
from utmost.interfaces.cli.options import file_options, research_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import option
from utmost.interfaces.cli.screens.screen import facts, grid, matrix_grid, number, screen
from utmost.interfaces.cli.screens.terminal import ScreenText
from utmost.interfaces.documents import channel_files, verdicts
from utmost.interfaces.documents.consumer_files import loss_of
from utmost.interfaces.documents.space_names import secret_names
from utmost.interfaces.documents.verdicts import ANY, StatedVerdict

# A matrix with more than `_WIDEST` columns is not printed; the file has it.
_WIDEST = 8


def show_verdict(verdict: StatedVerdict, spelled: str, loss: str, out: Path | None) -> None:
    """Check the proof of a verdict again, and print the verdict with its numbers."""
    console, names = screen(), secret_names(verdict.ptype.space)
    shown = {
        "verdict": _sentence(verdict),
        "secrets": f"{verdict.ptype.space.size}: {spelled}",
        "level": str(verdict.ptype.level),
        "loss": loss,
        **(
            {}
            if verdict.regret in (None, 0)
            else {"least regret": f"{verdict.regret} for the prior with the largest regret"}
        ),
        "checked": "yes, exactly, without a solver" if verdict.verify() else "NO",
        "proof": _proof(verdict),
        **({"written": str(out)} if out is not None else {}),
    }
    console.print(facts(shown))
    if verdict.conflict is not None:
        console.print(ScreenText("\nPriors for which no single mechanism is the best", style="bold"))
        rows = [
            [*prior, exact_expected_loss(best.matrix, verdict.loss, prior), weight]
            for prior, best, weight in zip(
                verdict.conflict.priors, verdict.conflict.mechanisms, verdict.conflict.weights, strict=True
            )
        ]
        console.print(grid([*names, "least loss", "weight"], _distinct_rows(rows), left=0))
    if verdict.better is not None:
        prior, better = verdict.better
        console.print(ScreenText("\nA prior for which another mechanism is better", style="bold"))
        losses = [[exact_expected_loss(c.matrix, verdict.loss, prior)] for c in (verdict.channel, better)]
        (mine,), (theirs,) = _distinct_rows(losses)
        console.print(
            grid([*names, "expected loss of this mechanism", "the other"], [[*map(str, prior), mine, theirs]], left=0)
        )
        return _show_matrix(console, "A mechanism with a smaller loss", better.matrix, names)
    title = "The mechanism" if verdict.holds else "A mechanism with that regret"
    _show_matrix(console, title, verdict.channel.matrix, names)


def _distinct_rows(rows: list[list[Any]]) -> list[list[str]]:
    """Return numbers as text: fractions, or floats with enough digits that no two rows look the same."""
    shown: list[list[str]] = []
    for digits in (6, 9, 12, 15, 17):
        shown = [[str(x) if isinstance(x, int | Fraction) else number(x, digits) for x in row] for row in rows]
        if len({tuple(row) for row in shown}) == len(rows):
            break
    return shown


def _sentence(verdict: StatedVerdict) -> str:
    if verdict.asked == ANY:
        return (
            "one mechanism is the best for every prior" if verdict.holds else "no mechanism is the best for every prior"
        )
    return (
        "this mechanism is the best for every prior"
        if verdict.holds
        else "this mechanism is not the best for some prior"
    )


def _proof(verdict: StatedVerdict) -> str:
    if verdict.better is not None:
        return "a prior and a mechanism that loses less there"
    assert verdict.dominance is not None, "a verdict without a better mechanism has a bound"
    cells = verdict.dominance.cells
    bound = f"multipliers at {len(cells.priors)} priors, which are the corners of {len(cells.cells)} cells of priors"
    return (
        bound
        if verdict.conflict is None
        else f"{bound}; {len(verdict.conflict.priors)} priors for which no single mechanism is the best"
    )


def _show_matrix(console: Any, title: str, matrix: Array, names: list[str]) -> None:
    if matrix.shape[1] > _WIDEST:
        return
    console.print(ScreenText(title, style="bold"))
    console.print(matrix_grid(names, matrix))


def universal(
    *,
    asked: research_options.PrivacyTypeOptions,
    loss: Annotated[
        str, option("LOSS", "Loss: absolute, squared, binary, nib (1 if the answer is right), power:3 or losses.csv.")
    ] = "absolute",
    mechanism: Annotated[
        str | None, option("NAME", "Mechanism to judge: geometric, randomized-response or channel.csv.")
    ] = None,
    out: Annotated[Path | None, option("FILE", "File for the verdict and its proof (.json).")] = None,
    check: file_options.Check = None,
    as_json: options.AsJson = False,
) -> None:
    """Decide, with proof, whether one mechanism is the best for a loss and every prior.

    utmost research universal --space discrete:3 --epsilon alpha=1/2 --loss binary

    With an irrational alpha, the file has exact numbers and the screen rounded ones; the search is 100 times slower.

    More: docs/theory/designs.md
    """
    answer = options.Output(out, as_json)
    if check is not None:
        given = {"--space": asked.space is not None, "--epsilon": asked.level.is_given}
        given |= {"--loss": loss != "absolute", "--mechanism": mechanism is not None}
        research_options.check_unused(
            given, "with --check, because the file contains the space, the level and the loss"
        )
        stated = verdicts.read(check)  # refuses a verdict that its proof does not show
        regret = None if stated.regret is None else str(stated.regret)
        checked = {"verified": True, "asked": stated.asked, "verdict": stated.holds, "regret": regret}
        shown = {"checked": "yes, exactly, without a solver", "verdict": _sentence(stated), "proof": _proof(stated)}
        if answer.give(checked):
            screen().print(facts(shown))
        return
    spelled, ptype = asked.read()
    rule = loss_of(loss, ptype.space)
    with progress_bar(f"Deciding {loss} loss on {spelled}"):
        if mechanism is None:
            verdict = StatedVerdict.of_existence(universal_mechanism(ptype, rule), ptype)
        else:
            if mechanism == "geometric":
                channel = geometric_channel(ptype.space.size, ptype.level)
            elif mechanism == "randomized-response":
                channel = randomized_response(ptype.space.size, ptype.level)
            elif Path(mechanism).suffix.lower() in channel_files.ENDINGS:
                channel = channel_files.read(Path(mechanism))
            else:
                raise OutOfRange(
                    "--mechanism must be geometric, randomized-response or a file",
                    came=mechanism,
                    remedy="Write --mechanism geometric.",
                )
            judged = universality(ptype, rule, channel)
            verdict = StatedVerdict.of_channel(judged, ptype, channel, exact_loss(rule, ptype.space.size))
    document = verdicts.document(verdict)
    report = {**document, "loss_name": loss, "verified": verdict.verify()}
    if answer.give(report, document):
        show_verdict(verdict, spelled, loss, answer.file)

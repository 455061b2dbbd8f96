"""What `utmost universal` shows: the verdict, what proves it, and the mechanisms that it speaks of."""

from pathlib import Path
from typing import Any

from rich.text import Text

from utmost.adapters.privacy_types import secret_names
from utmost.adapters.reports import print_json
from utmost.adapters.screens.parts import facts, grid, screen
from utmost.adapters.verdicts import ANY, Stated
from utmost.exact import Array
from utmost.geometry.certificates import expected_loss

# Wider matrices are cut off on the screen; the file has them whole.
_WIDEST = 8


def show_verdict(found: Stated, spelled: str, loss: str, out: Path | None) -> None:
    """Print a verdict with its numbers; the proof is checked again for it."""
    console, names = screen(), secret_names(found.ptype.space)
    shown = {
        "verdict": _sentence(found),
        "secrets": f"{found.ptype.space.size}: {spelled}",
        "level": str(found.ptype.level),
        "loss": loss,
        **({} if found.regret in (None, 0) else {"least regret": f"{found.regret} for the worst prior"}),
        "checked": "yes, in rationals, without a solver" if found.verify() else "NO",
        "proof": _proof(found),
        **({"written": str(out)} if out is not None else {}),
    }
    console.print(facts(shown))
    if found.conflict is not None:
        console.print(Text("\nPriors that no mechanism serves at once", style="bold"))
        rows = [
            [*map(str, prior), str(expected_loss(best.matrix, found.loss, prior)), str(weight)]
            for prior, best, weight in zip(
                found.conflict.priors, found.conflict.mechanisms, found.conflict.weights, strict=True
            )
        ]
        console.print(grid([*names, "least loss", "weight"], rows, left=0))
    if found.better is not None:
        prior, better = found.better
        console.print(Text("\nA prior for which another mechanism is better", style="bold"))
        losses = [str(expected_loss(c.matrix, found.loss, prior)) for c in (found.channel, better)]
        console.print(grid([*names, "this one loses", "the other"], [[*map(str, prior), *losses]], left=0))
        return _show_matrix(console, "The other mechanism", better.matrix, names)
    title = "The mechanism" if found.holds else "A mechanism with that regret"
    _show_matrix(console, title, found.channel.matrix, names)


def show_check(found: Stated, *, as_json: bool) -> None:
    """Print what a verdict that was read and checked says."""
    if as_json:
        regret = None if found.regret is None else str(found.regret)
        return print_json({"verified": True, "asked": found.asked, "verdict": found.holds, "regret": regret})
    shown = {"checked": "yes, in rationals, without a solver", "verdict": _sentence(found), "proof": _proof(found)}
    screen().print(facts(shown))


def _sentence(found: Stated) -> str:
    if found.asked == ANY:
        return (
            "one mechanism is the best for every prior" if found.holds else "no mechanism is the best for every prior"
        )
    return (
        "this mechanism is the best for every prior" if found.holds else "this mechanism is not the best for some prior"
    )


def _proof(found: Stated) -> str:
    if found.better is not None:
        return "a prior and a mechanism that loses less there"
    assert found.dominance is not None, "a verdict without a better mechanism has a bound"
    cells = found.dominance.cells
    bound = f"multipliers at {len(cells.priors)} priors, the corners of {len(cells.cells)} cells"
    return bound if found.conflict is None else f"{bound}; {len(found.conflict.priors)} priors that conflict"


def _show_matrix(console: Any, title: str, matrix: Array, names: list[str]) -> None:
    if matrix.shape[1] > _WIDEST:
        return
    console.print(Text(title, style="bold"))
    rows = [[name, *map(str, row)] for name, row in zip(names, matrix.tolist(), strict=True)]
    console.print(grid(["", *(f"y{y}" for y in range(matrix.shape[1]))], rows))

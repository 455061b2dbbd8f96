"""What `utmost read` shows: the answer, and what was believed before and after the response."""

from typing import Any

from rich.text import Text

from utmost.adapters.figures import plots
from utmost.adapters.screens.parts import facts, number, percent, screen

_FAINT = 1e-3


def show_reading(report: dict[str, Any]) -> None:
    """Print a `reading_report`."""
    low, high = report["interval"]
    ties = ", ".join(map(str, report["ties"]))
    exactly = report["expected_loss_exact"] or ""
    shown = {
        "best answer": f"{report['answer']}" + (f" ({ties} are as good)" if ties else ""),
        "the count lies in": f"{low} to {high} with probability {percent(round(report['mass'], 4))}",
        "expected loss": number(report["expected_loss"])
        + (f" = {exactly}" if "/" in exactly and len(exactly) < 20 else ""),
        "response": f"{report['response']}, geometric noise at epsilon = {report['epsilon']}",
        "consumer": f"prior {report['prior']} on 0..{report['n']}, loss {report['loss']}",
    }
    console = screen()
    console.print(facts(shown))
    before, after = report["believed_before"], report["believed_after"]
    seen = [i for i, pair in enumerate(zip(before, after, strict=True)) if max(pair) > _FAINT * max(after)]
    if seen[-1] - seen[0] < 2:
        return
    window = range(seen[0], seen[-1] + 1)
    curves = {"before": [before[i] for i in window], "after": [after[i] for i in window]}
    console.print(Text("\nbelief in each count, ").append("before", "cyan").append(" and ").append("after", "magenta"))
    chart = Text()
    for row in plots.terminal([float(i) for i in window], curves):
        for text, owner in row:
            chart.append(text, style=("cyan", "magenta", "")[owner])
        chart.append("\n")
    console.print(chart)

"""`utmost research policy`: find the best mechanism that hides each secret only from some others, and its leakage."""

from pathlib import Path
from typing import Annotated, Any

from utmost.core.exact.progress_bar import progress_bar
from utmost.core.exact.written_levels import level_facts
from utmost.design.capacities.policy_capacities import policy_capacity
from utmost.design.optima.policy_designs import policy_mechanism
from utmost.design.privacy_types.policy_types import PolicyType
from utmost.interfaces.cli.options import file_options, table_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import flag, option
from utmost.interfaces.cli.screens.screen import facts, matrix_grid, number, screen, with_exact
from utmost.interfaces.cli.screens.terminal import ScreenText
from utmost.interfaces.documents.policy_files import policy_consumer, policy_file
from utmost.interfaces.documents.reports import exact_text
from utmost.publish.promises.codec import plain

# A matrix with more than `_WIDEST` columns is not printed; the file has it.
_WIDEST, _LISTED = 8, 6


def policy(
    file: Annotated[
        file_options.File,
        file_options.file_argument(
            "POLICY", "File with two secrets in each row, and optionally their distance (.csv)."
        ),
    ],
    *,
    level: options.LevelOptions,
    directed: Annotated[
        bool, flag("Each row bounds only the probabilities of its first secret by those of its second secret.")
    ] = False,
    spelling: table_options.DecimalSpelling,
    prior: options.PriorName = "uniform",
    loss: options.LossName = "binary",
    out: Annotated[Path | None, option("FILE", "File for mechanism and certificates (.json).")] = None,
    as_json: options.AsJson = False,
) -> None:
    """Find the best mechanism for a policy: each secret is hidden only from some others.

    utmost research policy illnesses.csv --epsilon alpha=1/2

    Secrets that no chain of rows connects are not hidden from each other.

    More: docs/howto/compare-two-mechanisms.md
    """
    answer = options.Output(out, as_json)
    policy_read = policy_file(spelling.of(file), directed=directed)
    ptype = PolicyType(policy_read, level.read())
    consumer = policy_consumer(prior, loss, policy_read, ptype.level)
    with progress_bar(f"Designing along {file.name}"):
        best = policy_mechanism(ptype, consumer)
        capacities: dict[str, dict[str, Any]] = {}
        if policy_read.is_symmetric:
            for kind in ("multiplicative", "additive"):
                value = policy_capacity(ptype, kind).value
                capacities[kind] = {"value": float(value), "value_exact": exact_text(value)}
        verified = best.verify()

    names = [str(label) for label in policy_read.labels]
    parts = [[names[x] for x in part] for part in policy_read.components]
    alike = [[names[x] for x in alike] for alike in policy_read.classes if len(alike) > 1]
    report = {
        "secrets": names,
        "both_ways": policy_read.is_symmetric,
        "parts": parts,
        "at_distance_0": alike,
        **level_facts(ptype.level),
        "prior": prior,
        "loss_name": loss,
        "loss": float(best.loss),
        "loss_exact": exact_text(best.loss) if best.loss == best.lower else None,
        "lower_bound": float(best.lower),
        "verified": verified,
        "capacities": capacities,
        "mechanism": plain(best.channel.matrix),
    }
    if not answer.give(report):
        return

    shown = {
        "secrets": f"{len(names):,}",
        "protected pairs": "in both directions" if policy_read.is_symmetric else "some pairs only in one direction",
        "connected secrets": _listed(parts),
        **({"at distance 0": _listed(alike)} if alike else {}),
        "level": f"epsilon = {report['epsilon']} for one unit of distance",
        "expected loss": with_exact(report["loss"], report["loss_exact"], 9, 39),
        "lower bound for all mechanisms": number(report["lower_bound"], 9),
        "checked": "yes, the privacy and the lower bound" if verified else "NO",
        **{
            f"{kind} capacity": with_exact(capacity["value"], capacity["value_exact"], 9, 39)
            for kind, capacity in capacities.items()
        },
    }
    console = screen()
    console.print(facts(shown))
    matrix = best.channel.matrix
    if matrix.shape[1] <= _WIDEST:
        console.print(ScreenText("\nThe mechanism", style="bold"), matrix_grid(names, matrix))


def _listed(groups: list[list[str]]) -> str:
    text = "; ".join(", ".join(group) for group in groups[:_LISTED])
    return text if len(groups) <= _LISTED else f"{text}; and {len(groups) - _LISTED} more groups"

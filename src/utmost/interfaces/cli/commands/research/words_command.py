"""`utmost research words`: choose RAPPOR's parameter for the level of one word; compare errors with a fixed list."""

from typing import Annotated, Any

from utmost.core.exact.numbers import natural
from utmost.core.exact.written_levels import level_facts, level_text
from utmost.design.local.bits import BitResponse
from utmost.design.local.subset_selection import best_report
from utmost.errors import OutOfRange
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import option
from utmost.interfaces.cli.screens.screen import facts, number, screen


def show_words(report: dict[str, Any]) -> None:
    shown = {
        "level": f"epsilon = {report['epsilon']} for each word",
        "parameter a": f"{number(report['a'], 8)}: a bit is replaced by a fair coin with this probability",
        "a bit that is 1 is sent as 1": f"with probability {number(report['one'], 8)}",
        "a bit that is 0 is sent as 1": f"with probability {number(report['zero'], 8)}",
        "epsilon of the report of a word": f"{number(report['spent'], 10)}, with {report['hashes']} hashes",
        "error of the count of one bit": f"{number(report['error'], 4)} sqrt(n) of n clients, in root mean square",
    }
    if report["fixed_list"] is not None:
        listed = report["fixed_list"]
        shown[f"with a fixed list of {listed['categories']:,} words"] = (
            f"the error of the count of a word is {number(listed['error'], 4)} sqrt(n), if a report has "
            f"{listed['size']} words (utmost categories)"
        )
    screen().print(facts(shown))


def words(
    *,
    level: options.LevelOptions,
    hashes: Annotated[int, option("H", "Number of bits that a word sets in its Bloom filter.")] = 2,
    candidates: Annotated[int | None, option("K", "Also show the error for a fixed list of K words.")] = None,
    answer: options.Output,
) -> None:
    """Choose the parameter of RAPPOR with which the report of a word satisfies the level.

    More: docs/tutorial/collect-answers.md
    """
    at = level.read()
    response = BitResponse.of_word(hashes, at)
    spent = response.level_of_value(hashes)
    if at < spent:
        remedy = "Pass a larger --epsilon, or fewer --hashes."
        raise OutOfRange("the epsilon of a report must be at most --epsilon", came=level_text(spent), remedy=remedy)
    spread = float(response.one - response.zero)
    fixed_list: dict[str, Any] | None = None
    if candidates is not None:
        best = best_report(natural(candidates, "candidates", least=2), at)
        fixed_list = {"categories": candidates, "size": best.size, "error": best.variances[1] ** 0.5}
    report = {
        **level_facts(at),
        "hashes": hashes,
        "a": float(2 * response.zero),
        "a_exact": str(2 * response.zero),
        "one": float(response.one),
        "zero": float(response.zero),
        "spent": float(spent.epsilon),
        "error": float(response.zero * response.one) ** 0.5 / spread,
        "fixed_list": fixed_list,
    }
    if answer.give(report):
        show_words(report)

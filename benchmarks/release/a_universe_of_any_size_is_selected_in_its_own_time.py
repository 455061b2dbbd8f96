"""Keys of a declared universe, named with epsilon alone: thresholds, names of nobody, and seconds of processor.

Run: PYTHONPATH=src python benchmarks/release/a_universe_of_any_size_is_selected_in_its_own_time.py

The time goes with the keys that are held and with the names of nobody that are wished for, and hardly with the size of
the universe; the number of names of nobody is drawn, so that each line is of one run.
"""

import time

from utmost.publish.promises.vast_domains import Tuples
from utmost.releases import Texts, select_cells

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def main() -> None:
    """A line for each universe and wish."""
    words, cells = Texts(LETTERS, most=20), Tuples(range(10**9))
    print("| universe | keys held | names of nobody, at most on average | threshold | named | seconds |")
    print("|---|---|---|---|---|---|")
    for name, universe, held, wish in (
        ("texts of at most 20 letters", words, {"influenza": 900}, 1),
        ("texts of at most 20 letters", words, {"influenza": 900}, 1000),
        ("10^9 cells", cells, {(7,): 900}, 1),
        ("10^9 cells", cells, {(7,): 900}, 1000),
        ("10^9 cells", cells, {(place,): 900 for place in range(100_000)}, 1),
    ):
        start = time.process_time()
        named = select_cells(held, universe, epsilon=1, false_keys=wish)
        seconds = time.process_time() - start
        print(f"| {name} | {len(held)} | {wish} | {named.threshold} | {len(named.keys)} | {seconds:.3f} |")


if __name__ == "__main__":
    main()

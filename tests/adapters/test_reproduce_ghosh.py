from utmost.adapters.reproduce import CORRECTED, EQUAL, EXTENDED
from utmost.adapters.reproduce.ghosh import figures


def test_every_figure_of_the_paper_is_reproduced_or_said_to_be_wrong():
    """What the paper prints is equal, but for the four statements that the docs correct."""
    rows = {row.name: row for row in figures()}
    corrected = {name for name, row in rows.items() if row.verdict == CORRECTED}
    assert corrected == {
        "Program (3), (4): ranges",
        "Lemma 5.5",
        "Footnote 4: a vertex that is no remap of G is optimal",
        "Theorem 6.3: delta",
    }
    assert {row.verdict for row in rows.values()} == {EQUAL, CORRECTED, EXTENDED}
    assert all(row.paper == row.ours for row in rows.values() if row.verdict == EQUAL)
    assert all(row.note for row in rows.values() if row.verdict == CORRECTED)


def test_the_numbers_beside_the_paper():
    rows = {row.name: row.ours for row in figures()}
    assert rows["Figure 2, expected loss"] == "1.1942321553163"
    assert rows["Theorem 6.3: regret"] == "269/3000"
    assert rows["Footnote 4: a vertex that is no remap of G is optimal"] == "for some users"
    assert rows["Figure 5: a mechanism that induces both optima"] == "none"
    assert rows["Deterministic remaps of G, n = 2"] == "27"

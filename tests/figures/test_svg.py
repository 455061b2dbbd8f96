"""Parts of charts and cards, by example."""

import pytest

from utmost.interfaces.figures.inline_svg import self_coloured, tag, ticks
from utmost.interfaces.figures.markup import page_of, rows_table


def test_text_in_an_element_is_escaped():
    assert tag("text", "a < b", x=1, class_="t") == '<text x="1" class="t">a &lt; b</text>'


def test_a_card_escapes_its_title_and_keeps_its_parts():
    card = page_of("A & B", "", ["<p>c</p>"])
    assert card == '<div style="font-size:90%;max-width:60em"><b>A &amp; B</b><p>c</p></div>'
    assert rows_table(["n"], [[1]]).endswith("<tbody><tr><td>1</td></tr></tbody></table>")


def test_classes_become_colours_where_no_style_sheet_is():
    assert self_coloured(tag("rect", class_="bar")) == '<rect style="fill:#2a78b5"></rect>'


@pytest.mark.parametrize(("low", "high", "marks"), [(0, 10, [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]), (3, 3, [3])])
def test_ticks_are_round_numbers(low, high, marks):
    assert ticks(low, high) == marks

"""Parts of charts and cards, by example.

They are imported from where they are: a page has them among all else.
"""

import pytest

from utmost.interfaces.figures.inline_svg import self_coloured, short, tag, ticks
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


def test_numbers_of_a_chart_have_four_digits_and_integers_all():
    assert (short(12), short(1234567), short(0.123456), short(3.0)) == ("12", "1\u202f234\u202f567", "0.1235", "3")

"""What one writes down is shown as it is typed, without machinery: typed back it is the same, and shown the same."""

import pytest

import utmost as ut
from utmost import losses, noise, spaces
from utmost.errors import NotAMetric
from utmost.privacy import Amount
from utmost.releases import DetailRule

# Each distribution of noise is typed back in noise/test_every_distribution.py.
TYPED = [
    "level(epsilon=1)",
    "level(epsilon='1/4')",
    "level(alpha='1/3')",
    "level(alpha='1/81')",
    "level(alpha='1/3').scaled('1/2')",
    "level(alpha='1/3').scaled(5000)",
    "Unit(1, cells=4)",
    "Unit('5/2', cells=3, in_total=4)",
    "Unit(1, cells=2, neighbours='change-one', nonnegative=True)",
    "Unit(500, cells=2, amount=Amount('paid', step='0.01'))",
    "Amount('paid', step='0.01', between=('0', '10'))",
    "Domain(sex=['men', 'women'])",
    "Domain.of_facts({'age': {'edges': [0, 5, None], 'whole': True}, 'sex': ['men', 'women']})",
    "Promise(columns=('n',), public=('ward',), unit=Unit(1, cells=1))",
    "Geometric(epsilon=level(alpha='1/2').scaled('1/3'), sensitivity=1)",
    "Laplace(epsilon='1/3', sensitivity='5/2')",
    "CellsDraw(epsilon=1, sensitivity=4, cells=3, changed=2, in_total=5, step=2)",
    "CellsDraw(epsilon=1, sensitivity=1, cells=3, changed=2, neighbours='change-one', nonnegative=False)",
    "TablesDraw(epsilon='1/2', sizes=(2, 3))",
    "TablesDraw(epsilon=1, sizes=(5,), neighbours='change-one', exactly=True)",
    "spaces.counts(3)",
    "spaces.discrete(4)",
    "spaces.hamming(2)",
    "spaces.cycle(5)",
    "spaces.grid(2, 3)",
    "spaces.grid(2, 3, 'manhattan')",
    "losses.absolute",
    "losses.thresholded(2)",
    "PrivacyType(spaces.counts(3), epsilon='1/2')",
    "DetailRule(group='county', details={'sex': 5})",
]
NAMES = {
    **{name: getattr(ut, name) for name in ("level", "Unit", "Domain", "Promise")},
    **{name: getattr(noise, name) for name in noise.__all__},
    "spaces": spaces,
    "losses": losses,
    "Amount": Amount,
    "DetailRule": DetailRule,
    "PrivacyType": ut.privacy_types.PrivacyType,
}


@pytest.mark.parametrize("text", TYPED)
def test_what_is_typed_is_shown_and_what_is_shown_can_be_typed(text):
    assert repr(eval(text, dict(NAMES))) == text


def test_a_space_with_names_of_its_own_is_not_shown_as_one_without():
    with pytest.raises(NotAMetric):
        spaces.Space(spaces.counts(2).metric, ["a", "a", "b"])
    named = spaces.Space(spaces.counts(2).metric, ["a", "b", "c"])
    assert repr(named) == "Space(LineMetric(n=2))" != repr(spaces.counts(2))


def test_a_level_of_too_many_digits_is_shown_nevertheless():
    assert repr(ut.level(f"1{'0' * 3999}").scaled(10**999)) == "level(of too many digits to print)"

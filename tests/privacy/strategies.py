"""Distributions, levels and probabilities to try, those with rational probabilities first."""

from fractions import Fraction

from hypothesis import strategies as st

from utmost.noise import DiscreteStaircase, Geometric, Laplace, Staircase

alphas = st.sampled_from([Fraction(1, 2), Fraction(1, 3), Fraction(9, 10), Fraction(2, 7), Fraction(1, 1000)])
probabilities = st.one_of(
    st.fractions(0, 1, max_denominator=1000),
    st.integers(1, 80).map(lambda n: Fraction(1, 2**n)),
    st.integers(1, 80).map(lambda n: 1 - Fraction(1, 2**n)),
)


@st.composite
def integer_distributions(draw):
    D, alpha = draw(st.integers(1, 6)), draw(alphas)
    step = draw(st.integers(0, D))
    return (
        DiscreteStaircase(alpha=alpha, sensitivity=D, step=step) if step else Geometric(alpha=alpha**D, sensitivity=D)
    )


@st.composite
def staircases(draw):
    gamma = draw(st.sampled_from([0, Fraction(1, 8), Fraction(1, 4), Fraction(1, 2), Fraction(5, 8), 1]))
    return Staircase(alpha=draw(alphas), sensitivity=draw(st.sampled_from([1, Fraction(5, 2)])), gamma=gamma)


distributions = st.one_of(
    integer_distributions(),
    staircases(),
    st.builds(Laplace, epsilon=st.sampled_from(["1e-6", "0.1", 1, 7, 50]), sensitivity=st.sampled_from([1, "5/2"])),
)

"""Laws of additive noise on the integers and the reals: what is revealed, as a law. No randomness here."""

"""The search for a plan: which sums to measure, with which shares of the budget."""

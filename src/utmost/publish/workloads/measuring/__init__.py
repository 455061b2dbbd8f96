"""How a plan measures sums, what one individual changes in these sums, and the errors of the answers."""

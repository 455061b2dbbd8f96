"""The search for a plan: which sums a release measures, and with which budget shares."""

"""The searches among which `choose_plan` chooses, a file for each: when one applies, and the shares that it finds."""

"""The searches of `choose_plan`, one file each: when a search applies, and the budget shares that it finds."""

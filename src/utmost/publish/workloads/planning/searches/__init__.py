"""The searches among which `strategy` chooses, a file for each: when one applies, and the shares that it finds."""

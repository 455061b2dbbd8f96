"""Tables in dataframes, engines and files: read once, checked, and written completely or not at all."""

"""Tables of every kind: dataframes, engines and files, read once, checked, and written whole or not at all."""

"""Table files: CSV, Parquet, Excel and JSON lines, read in blocks, and written completely or not at all."""

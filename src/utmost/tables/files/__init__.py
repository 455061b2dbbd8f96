"""Table files: CSV, Parquet, Excel, JSON lines, read in blocks and written whole or not at all."""

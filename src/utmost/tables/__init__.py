"""Tables in dataframes, engines and files. They are read once and checked, and files are written completely or not at
all.
"""

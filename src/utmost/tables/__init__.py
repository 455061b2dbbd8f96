"""Tables in dataframes, engines and files. Tables are read once and checked, and files are written completely or not at
all.
"""

"""What the commands show on a terminal. Imported when something is shown: drawing with rich is slow to load."""

"""`python -m utmost` is the command line."""

from utmost.adapters.cli import main

if __name__ == "__main__":
    main()

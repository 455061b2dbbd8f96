"""`python -m utmost` is the command line."""

from utmost.cli.main import main

if __name__ == "__main__":
    main()

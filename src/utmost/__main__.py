"""`python -m utmost` runs the command line."""

from utmost.interfaces.cli.main import main

if __name__ == "__main__":
    main()

"""`python -m utmost_papers` runs the command `utmost-papers`."""

from utmost_papers.command import main

if __name__ == "__main__":
    main()

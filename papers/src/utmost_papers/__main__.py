"""`python -m utmost_papers` is the command `utmost-papers`."""

from utmost_papers.command import main

if __name__ == "__main__":
    main()

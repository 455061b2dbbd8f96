"""Run the command `utmost-papers` as `python -m utmost_papers`."""

from utmost_papers.command import main

if __name__ == "__main__":
    main()

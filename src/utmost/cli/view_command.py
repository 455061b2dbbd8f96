"""`utmost view`: a release in a ledger as a recipient of some trust may see it, without the data."""

from utmost.cli.ledger_answers import Question
from utmost.cli.ledger_place import Place
from utmost.cli.screen import counted


def view(*, ledger: Place, asked: Question) -> None:
    """Show a release at any level up to the loosest that was answered; it spends nothing and needs no table.

    The response is made from those in the ledger, kept there, and the same each time. Views of one release together
    reveal no more than the loosest of them.
    """
    signer = asked.checked(None)
    with ledger.opened() as opened:
        asked.check_kind(planned=asked.planned(opened))
        with counted("Viewing") as progress:
            seen = opened.view(asked.name, epsilon=asked.at, version=asked.version, progress=progress)
        asked.give(opened, seen, signer)

"""`utmost view`: a release in a ledger as a recipient of some trust may see it, without the data."""

from utmost.core.exact.progress_bar import progress_bar
from utmost.interfaces.cli.ledger_answers import Question
from utmost.interfaces.cli.ledger_place import Place


def view(*, ledger: Place, question: Question) -> None:
    """Make a noisier copy of a release for one recipient. It costs nothing, and needs no table.

    The level may be any up to the largest that was answered. A copy is made from what the ledger holds, kept there, and
    the same each time. Several copies put together reveal no more than the one with the least noise.

    Without a level you get the only answer there is; once there are several, name one.
    """
    signer = question.checked(None)
    with ledger.opened() as opened:
        kept = question.release_in(opened)
        question.check_kind(None if kept is None else kept.noise)
        at = question.level_in(opened)
        with progress_bar("Viewing") as progress:
            seen = opened.view(question.name, epsilon=at, version=question.version, progress=progress)
        question.give(seen, signer)

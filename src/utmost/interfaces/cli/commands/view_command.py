"""`utmost view`: make a noisier copy of a release in a ledger for a recipient, without the data."""

from utmost.interfaces.cli.ledger_answers import Question
from utmost.interfaces.cli.ledger_place import LedgerPlaceOptions
from utmost.interfaces.cli.means_in_ledger import give_means

ELSEWHERE = {
    "--recipe": "Write the --ledger, --name and --key-file of the recipe here, and its --witness if it has one.",
    **{
        name: f"Leave out {name}: a view needs no data, and the ledger has the promise of the release."
        for name in ("--want", "--person", "--each-row", "--domain", "--by", "--at-most", "--mean", "--columns")
    },
}


RARE = ("--data-version",)


def view(*, ledger: LedgerPlaceOptions, question: Question) -> None:
    """Make a noisier copy of a release for one recipient, without the table and at no privacy cost.

    utmost view --ledger releases.db --name admissions --epsilon 1/2 --out partner.csv

    Several copies together reveal no more than the one with the largest epsilon.

    More: docs/howto/keep-a-ledger.md
    """
    signer = question.checked(None)
    with ledger.opened() as opened:
        stored = question.release_in(opened)
        at = question.level_in(opened)
        question.check_repeats(opened, None, at)
        question.check_view_fits(opened, at)
        if question.means_in(opened):
            return give_means(question, opened.view_means(question.name, epsilon=at, version=question.version), signer)
        question.check_kind(None if stored is None else stored.noise)
        seen = opened.view(question.name, epsilon=at, version=question.version)
        return question.give(seen, signer)

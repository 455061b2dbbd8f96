"""The door of a ledger through which persons are answered."""

from collections.abc import Iterable, Mapping
from typing import Any

from utmost.core.exact.arguments import mapping, wrong_kind
from utmost.core.exact.numbers import exact_integer
from utmost.core.sampling.random_bits import Randomness
from utmost.publish.ledger.event_log import EventLog
from utmost.publish.ledger.events import check_name
from utmost.publish.ledger.kept_mechanisms import KeptMechanism
from utmost.publish.ledger.personal_answers import (
    AnswerIndex,
    LocalMechanism,
    ResponseRequest,
    answered,
    check_persons,
    named,
)


class Responding:
    """The verbs of a ledger that answer persons, once each; `Ledger` inherits them."""

    __slots__ = ()

    _answers: AnswerIndex
    _log: EventLog
    _randomness: Randomness

    def respond(
        self,
        name: str,
        mechanism: LocalMechanism,
        secrets: Mapping[str, Any],
        *,
        dataset: str | None = None,
        independent: bool = False,
        version: int | None = None,
    ) -> dict[str, Any]:
        """One answer for each person, drawn from a mechanism: kept, and repeated whatever the secret is by then.

        The mechanism is bound to the name: another one under it is refused. Answers of all persons cost
        the dataset the mechanism's level once, since each person has one. Who asks about somebody who was answered gets
        that answer again, from any thread or process, and after any crash.

        Promise: whatever is asked, in whatever order, the answers of one version tell two secrets of one person at
        distance d apart by at most e^(epsilon d). Another version, and another name, adds up.

        Args:
            name: Name under which the answers are kept.
            mechanism: Mechanism with a checked level: `utmost.local.read_mechanism` of a design, or of a channel of
                Fractions and its space.
            secrets: person to secret, by number or by name; None for a person who has an answer.
            dataset: Dataset whose budget is spent; the name if left out. All designs in it must be over one space.
            independent: Confirmation of a dataset without a limit, where a limit waits for one that nothing names.
            version: the newest if left out. The next number begins a version, in which everybody is answered anew.

        Returns:
            Person to answer, by name where the mechanism's answers have names.

        Raises:
            AlreadyPublished: where another mechanism, or a release, stands under the name.
            BudgetExceeded: where the dataset's limit does not allow the mechanism's level.
            NeedsTable: for a person without an answer whose secret is None.
            OutOfRange, WrongKind: for what is no mechanism, person, secret, name or version; no person and no secret is
                repeated.
            Quarantined: in a ledger that was rolled back, and for a mechanism that lost answers so.

        Cost: the first call of a process reads the answers of the version once; then those that are new.

        >>> from tempfile import TemporaryDirectory
        >>> from utmost.ledger import Ledger
        >>> from utmost.channels import Channel
        >>> from utmost.local import read_mechanism
        >>> from utmost.spaces import discrete
        >>> coin = Channel([["2/3", "1/3"], ["1/3", "2/3"]], secrets=["yes", "no"], outcomes=["yes", "no"])
        >>> coin = read_mechanism(coin, discrete(2))
        >>> with TemporaryDirectory() as here, Ledger.open(f"{here}/answers.db", create=True) as ledger:
        ...     first = ledger.respond("smokes", coin, {"ada": "yes", "ben": "no"})
        ...     again = ledger.respond("smokes", coin, {"ben": "yes", "ada": None})
        ...     again == first, ledger.spent("smokes"), ledger.mechanisms[0].persons
        (True, level(alpha='1/2'), 2)
        """
        if not isinstance(mechanism, LocalMechanism):
            raise wrong_kind("mechanism", "one that keeps a level, as utmost.local.read_mechanism reads it", mechanism)
        persons = check_persons(mapping(secrets, "secrets"))
        if not persons:
            return {}
        request = ResponseRequest.read(
            name, persons, mechanism, self._answers, dataset=dataset, version=version, independent=independent
        )
        numbers = self._log.answer(
            lambda transaction, may_draw: request.answers(transaction, self._randomness, may_draw=may_draw), look=True
        )
        return named(numbers, mechanism.names)

    def answered(self, name: str, persons: Iterable[str], *, version: int | None = None) -> list[str]:
        """The persons among these who have an answer under a name; nothing is drawn, and no answer is shown.

        Raises:
            OutOfRange, WrongKind: for what is no name, person or version.
        """
        rows = check_persons(persons)
        wanted = None if version is None else exact_integer(version, "version")
        return self._log.read(
            lambda transaction: answered(transaction, check_name(name, "name"), wanted, rows, self._answers)
        )

    @property
    def mechanisms(self) -> tuple[KeptMechanism, ...]:
        """Every version of every mechanism from which persons are answered, in the order bound."""
        return self._log.read(lambda transaction: tuple(transaction.state.mechanisms.values()))

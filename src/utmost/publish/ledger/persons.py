"""The methods of a ledger that answer single persons."""

from collections.abc import Iterable, Mapping
from typing import Any

from utmost.core.exact.arguments import mapping, wrong_kind
from utmost.core.exact.numbers import exact_integer
from utmost.core.sampling.random_bits import Randomness
from utmost.publish.ledger.event_log import EventLog
from utmost.publish.ledger.names import check_name
from utmost.publish.ledger.personal_answers import (
    AnswerIndex,
    LocalMechanism,
    ResponseRequest,
    answered,
    check_persons,
)
from utmost.publish.ledger.stored_mechanisms import StoredMechanism


class Persons:
    """The methods of `Ledger` that answer single persons, once each."""

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
        """Draw an answer for each person, and store it; later calls repeat it, even if the person's secret has changed.

        A name belongs to one mechanism: another mechanism under the same name is refused. The answers of all persons
        cost the dataset the mechanism's level once, since each person has one answer. A person who was answered gets
        that answer again, from any thread or process, and after any crash.

        Guarantee: for any sequence of calls, the answers of one version distinguish two secrets of a person at distance
        d by a factor of at most e^(epsilon d). The epsilons of other versions and names are added to this epsilon.

        Args:
            name: Name under which the answers are stored.
            mechanism: Mechanism with a checked level, which `utmost.local.read_mechanism` returns for a design, or for
                a channel of Fractions and its space.
            secrets: Secret of each person, by number or by name; None for a person who has an answer.
            dataset: Dataset whose budget is spent; ``name`` if left out. All mechanisms of a dataset must have the same
                space.
            independent: True confirms that a dataset without a limit is intended, although a limit is set on another
                dataset that nothing uses yet.
            version: Version of the answers; the newest if left out. The number after the newest version begins a new
                version, in which everybody is answered anew.

        Returns:
            The answer of each person, by name if the mechanism's answers have names.

        Raises:
            AlreadyPublished: if the name belongs to another mechanism or to a release.
            BudgetExceeded: if the limit of the dataset does not allow the mechanism's level.
            NeedsTable: if a person has no answer and the secret of this person is None.
            OutOfRange, WrongKind: if an argument is invalid; the message repeats no person and no secret.
            Quarantined: if the ledger was rolled back, or if the mechanism lost answers in a rollback.

        Cost: the first call of a process reads all answers of the version; later calls read the new ones.

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
            raise wrong_kind("mechanism", "a mechanism from utmost.local.read_mechanism", mechanism)
        persons = check_persons(mapping(secrets, "secrets"))
        if not persons:
            return {}
        request = ResponseRequest.read(
            name, persons, mechanism, self._answers, dataset=dataset, version=version, independent=independent
        )
        numbers = self._log.answer(
            lambda transaction, may_draw: request.answers(transaction, self._randomness, may_draw=may_draw), look=True
        )
        return {person: mechanism.names[number] for person, number in numbers.items()}

    def answered(self, name: str, persons: Iterable[str], *, version: int | None = None) -> list[str]:
        """Return the persons in the argument who have an answer under a name; nothing is drawn, and no answer is shown.

        Raises:
            OutOfRange, WrongKind: if the name, a person or the version is invalid.
        """
        rows = check_persons(persons)
        wanted = None if version is None else exact_integer(version, "version")
        return self._log.read(
            lambda transaction: answered(transaction, check_name(name, "name"), wanted, rows, self._answers)
        )

    @property
    def mechanisms(self) -> tuple[StoredMechanism, ...]:
        """Every version of every mechanism that answers single persons, in the order of their first use."""
        return self._log.read(lambda transaction: tuple(transaction.state.mechanisms.values()))

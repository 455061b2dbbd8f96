"""Use the ledger behind a service over HTTP, with the methods of a local ledger."""

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from utmost.core.exact.arguments import text
from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number, exact
from utmost.core.exact.written_levels import level_from_text, level_text
from utmost.core.sampling.random_bits import entropy
from utmost.errors import LedgerUnavailable, NotServed, OutOfRange, ServiceError, Unsupported, WrongKind
from utmost.interfaces.service.api.serialization import (
    facts_in,
    path_part,
    seconds_to_wait,
    table_as_json,
    table_in,
    warn_as_answered,
)
from utmost.interfaces.service.publish_requests import served
from utmost.interfaces.service.settings import THIS_MACHINE
from utmost.interfaces.service.trail import check_lines
from utmost.publish.counting.counted import CountedTable
from utmost.publish.ledger.requests import AnswerRequest, PublishRequest
from utmost.publish.ledger.spending import Spending
from utmost.publish.promises.ledger_facts import LedgerFacts
from utmost.publish.promises.promise import Promise, promise_for
from utmost.publish.releases.answer import Answer
from utmost.publish.releases.noisy_sums import NoisySums
from utmost.publish.releases.release import Release
from utmost.publish.workloads.planning.plan import Plan
from utmost.publish.workloads.planning.shared_level import SharedLevel, levels_of_tables

_TRIES, _FIRST_WAIT = 4, 0.2  # the client asks four times if the service is busy, and waits twice as long each time
_LONGEST_WAIT = 10**6


def connect(url: str, token: str, *, timeout: float = 60.0, transport: Any = None) -> "RemoteLedger":
    """Connect to a ledger behind a service.

    Args:
        url: Address of the service: https, or http on this machine.
        token: Token of the caller: ``utmost_...``.
        timeout: Seconds to wait for each answer; also the largest sum of the pauses between tries while the service is
            busy.
        transport: Transport of httpx, for tests.

    Raises:
        OutOfRange: if the token would be sent unencrypted over a network.
        Unsupported: if httpx is not installed.
    """
    try:
        import httpx
    except ImportError:
        remedy = 'Run: pip install "utmost[server]"'
        raise Unsupported("a client of a service needs the package httpx", came="none", remedy=remedy) from None
    if not isinstance(token, str):  # the message must not repeat what may be a secret
        raise WrongKind("token must be text", came=type(token).__name__, remedy='Pass "utmost_...".')
    try:
        address = httpx.URL(text(url, "url"))
    except httpx.InvalidURL as error:
        raise OutOfRange(
            "url must be the address of a service", came=str(error), remedy="Pass https://ledger.example."
        ) from None
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout <= _LONGEST_WAIT:
        raise OutOfRange(
            f"timeout must be a positive number of seconds, at most {_LONGEST_WAIT}",
            came=timeout,
            remedy="Leave out timeout=.",
        )
    is_local = address.scheme == "http" and address.host in THIS_MACHINE
    if not address.host or not (address.scheme == "https" or is_local):
        remedy = "Pass https://ledger.example; for a service on this machine, pass http://127.0.0.1:8000."
        raise OutOfRange(
            "url must begin with https://, so that nobody reads the token on its way",
            came=f"{address.scheme}://" if address.host else "another text",
            remedy=remedy,
        )
    if not token or token != token.strip() or not token.isascii() or not token.isprintable():
        came = "another text" if token.strip() else "none"
        required = "token must be printable ASCII text, without spaces at its ends"
        raise OutOfRange(required, came=came, remedy="Copy the token again: utmost_...")
    headers = {"Authorization": f"Bearer {token}"}
    return RemoteLedger(httpx.Client(base_url=address, headers=headers, timeout=timeout, transport=transport))


class RemoteLedger:
    """The ledger of a service, within the rights of a token; made by `connect`.

    Methods behave like those of `Ledger`, and raise the same errors. An interrupted write is sent again under its
    idempotency key, so that it takes effect once. Tables are sent as columns, and answers have the type of the table
    that was sent.
    """

    __slots__ = ("_client",)

    def __init__(self, client: Any) -> None:
        self._client = client

    def me(self) -> dict[str, Any]:
        """Return the token's role, releases, levels and expiry (in seconds since 1970)."""
        return self._get("/v1/me")

    @property
    def releases(self) -> list[dict[str, Any]]:
        """Releases that the token may see, with their promises and the levels that it may see."""
        return self._listed("/v1/releases")

    def release(self, name: str, version: int | None = None) -> dict[str, Any]:
        """Return one version of a release, as `releases` lists it; the newest if ``version`` is left out."""
        return self._get(f"/v1/releases/{path_part(name)}", version=version)

    @property
    def identity(self) -> None:
        """None: a client does not know whether another client is connected to the same ledger."""

    def levels(self, name: str, version: int | None = None) -> tuple[Level, ...]:
        """Return the levels that the token is shown, smallest first: published ones, and its owner's noisier copies."""
        return tuple(map(level_from_text, self.release(name, version)["levels"]))

    def spent(self, name: str | None = None, *, dataset: str | None = None) -> Level | None:
        """Return the level spent by all versions of a release, or by a dataset, as `Ledger.spent` does.

        For a release, only answers that the token may see count; for a dataset, the token needs the right to read its
        budget.
        """
        if (name is None) == (dataset is None):
            remedy = 'Pass spent("admissions"), or spent(dataset="students").'
            raise OutOfRange("exactly one of name and dataset must be given", came=(name, dataset), remedy=remedy)
        if name is None:
            assert dataset is not None
            spent = self.budget(dataset)["spent"]
            return None if spent in ("0", 0) else level(spent)
        newest = self.release(name)["version"]
        levels = [self.levels(name, version) for version in range(1, newest + 1)]
        return Spending.of(max(of_one) for of_one in levels if of_one).level

    def view(
        self,
        name: str,
        *,
        epsilon: Number | Level,
        version: int | None = None,
    ) -> Answer[Any]:
        """Return the answer at a level, as `Ledger.view` does; its table is a dict of columns, or a `NoisySums`."""
        at = level_text(level(epsilon))
        return self._answer(self._get(f"/v1/releases/{path_part(name)}/view", epsilon=at, version=version), None)

    def _answer(self, found: Mapping[str, Any], sent_table: Any) -> Answer[Any]:
        """Read an answer from JSON; `sent_table` is the table that was sent, or None for a view."""
        warn_as_answered(found)
        at, table = level_from_text(found["epsilon"]), table_in(found, sent_table)
        release = Release(self, found["name"], found["version"], sent_table)
        if isinstance(table, NoisySums):
            promise, rows, remembered = table.promise, found["rows"], table.ledger_facts
        else:
            statement = found["statement"]
            promise, rows = Promise.of_facts(statement["promise"]), statement["rows"]
            remembered = LedgerFacts.of_statement(statement, at)
        stop = None if remembered is None else remembered.stop
        return Answer(table, promise, promise.at_stop(at, stop), rows, remembered, release)

    def __getitem__(self, key: str | tuple[str, int]) -> Release:
        """Return the history of a release by name (newest version), or by name and version."""
        name, version = key if isinstance(key, tuple) else (key, None)
        return Release(self, name, self.release(name, version)["version"])

    def margin(
        self,
        name: str,
        *,
        epsilon: Number | Level,
        version: int | None = None,
        confidence: Number = DEFAULT_CONFIDENCE,
    ) -> int | float:
        """Return the margin of error of a release at any level."""
        at = level_text(level(epsilon))
        query = {"epsilon": at, "version": version, "confidence": str(confidence)}
        bar: int | float = self._get(f"/v1/releases/{path_part(name)}/margin", **query)["margin"]
        return bar

    def propose(
        self,
        proposed: PublishRequest | AnswerRequest,
        *,
        reason: str = "",
        anyone: bool = False,
        request: str | None = None,
    ) -> dict[str, Any]:
        """Propose to publish or to relax a release; the table is sent after a second person's approval.

        Args:
            proposed: Request to publish, or to answer a release at another level. A request without a version is for
                version 1.
            reason: Reason for the proposal, which the person who decides reads.
            anyone: Whether any curator may use the approval, not only the proposer.
            request: Name under which the same proposal can be repeated.

        >>> from utmost.ledger import AnswerRequest, PublishRequest
        >>> from utmost import Promise, Unit, level
        >>> promise = Promise("admitted", public="department", unit=Unit(1, 1))
        >>> asked = PublishRequest("admissions", promise, level("1/4"), dataset="admissions")
        >>> relaxed = AnswerRequest("admissions", level(1))  # service.propose(relaxed, reason="the yearly table")
        """
        if not isinstance(proposed, PublishRequest | AnswerRequest):
            remedy = "Pass ut.ledger.PublishRequest(...), or AnswerRequest(name, level) to relax a release."
            came = type(proposed).__name__
            raise WrongKind("proposed= must be a PublishRequest or an AnswerRequest", came=came, remedy=remedy)
        kind = "publication" if isinstance(proposed, PublishRequest) else "relaxation"
        body = {kind: _sent(proposed), "reason": reason, "anyone": anyone}
        return self._post("/v1/proposals", request, body)

    def proposals(self) -> list[dict[str, Any]]:
        """Return open and decided proposals, oldest first, without their requests."""
        return self._listed("/v1/proposals")

    def proposal(self, name: str) -> dict[str, Any]:
        """Return a proposal with its complete request ("publication") and the "promise" in words."""
        return self._get(f"/v1/proposals/{path_part(name)}")

    def waiting(self) -> list[dict[str, Any]]:
        """Return the proposals to decide and the tables to send, for this token; the longest waiting first."""
        return self._listed("/v1/waiting")

    def decide(self, proposal: str, state: str, reason: str = "") -> dict[str, Any]:
        """Decide a proposal: ``state`` is "approved" or "refused"; the proposer reads the reason."""
        body = {"state": state, "reason": reason}
        return self._post(f"/v1/proposals/{path_part(proposal)}/decision", None, body)

    def withdraw(self, proposal: str) -> dict[str, Any]:
        """Withdraw one's own proposal, before its table is sent."""
        return self._post(f"/v1/proposals/{path_part(proposal)}/withdrawal", None, {})

    def publish(
        self,
        name: str,
        table: Any,
        promise: Promise | Plan,
        *,
        epsilon: Number | Level,
        dataset: str | None = None,
        version: int | None = None,
        request: str | None = None,
        independent: bool = False,
        proposal: str | None = None,
    ) -> Answer[Any]:
        """Publish a table at a first level, as `Ledger.publish` does; `proposal` is the name of the approved proposal.

        With a proposal, the promise is sent unchanged: nothing is taken over from a counted table.

        Warns:
            IndividualLeftOut: if the approved promise does not state who was counted.
        """
        dataset_name, complete = name if dataset is None else dataset, promise_for(promise, table)
        if proposal is not None and isinstance(promise, Promise):
            complete = promise
        publication = PublishRequest(name, complete, level(epsilon), dataset_name, version, None, independent)
        answer = self._post(
            "/v1/releases", request, {**_sent(publication), "proposal": proposal, **table_as_json(table)}
        )
        return self._answer(answer, table)

    def relax(
        self,
        name: str,
        table: Any,
        *,
        epsilon: Number | Level,
        version: int | None = None,
        request: str | None = None,
        proposal: str | None = None,
    ) -> Answer[Any]:
        """Relax a release with the same table, as `Ledger.relax` does; `proposal` names the approved proposal."""
        body = {"level": level_text(level(epsilon)), "version": version, "proposal": proposal}
        answer = self._post(f"/v1/releases/{path_part(name)}/relax", request, {**body, **table_as_json(table)})
        return self._answer(answer, table)

    def publish_measures(
        self,
        requests: Sequence[PublishRequest],
        tables: Mapping[str, Any],
        *,
        request: str | None = None,
        proposals: Mapping[str, str] | None = None,
    ) -> dict[str, Answer[Any]]:
        """Publish several tables in one transaction, as `Ledger.publish_measures` does.

        Args:
            requests, tables: Arguments as for `Ledger.publish_measures`.
            request: Name under which the same call can be repeated.
            proposals: Dict from the name of each release to its approved proposal, if the service needs approval.
        """
        return self._together("publications", request, tables, list(map(_sent, requests)), proposals or {})

    def relax_shared(
        self,
        tables: Mapping[str, CountedTable],
        shared: SharedLevel,
        *,
        epsilon: Number | Level | None = None,
        request: str | None = None,
        proposals: Mapping[str, str] | None = None,
    ) -> dict[str, Answer[Any]]:
        """Relax several releases together, each to its budget share of one level, as `Ledger.relax_shared` does."""
        _, levels = levels_of_tables(tables, shared, epsilon)
        requests = [AnswerRequest(name, at) for name, at in levels.items()]
        return self.relax_measures(requests, tables, request=request, proposals=proposals)

    def relax_measures(
        self,
        requests: Sequence[AnswerRequest],
        tables: Mapping[str, Any],
        *,
        request: str | None = None,
        proposals: Mapping[str, str] | None = None,
    ) -> dict[str, Answer[Any]]:
        """Relax several releases, each to its own level, in one transaction, as `Ledger.relax_measures` does."""
        return self._together("relaxations", request, tables, list(map(_sent, requests)), proposals or {})

    def _together(
        self,
        what: str,
        request: str | None,
        tables: Mapping[str, CountedTable],
        bodies: list[dict[str, Any]],
        proposals: Mapping[str, str],
    ) -> dict[str, Answer[Any]]:
        """Send a request about several releases, each with its table and its proposal; return the answers."""
        for body in bodies:
            body |= {"proposal": proposals.get(body["name"]), **table_as_json(tables[body["name"]])}
        answer = self._post(f"/v1/{what}", request, {"measures": bodies})
        warn_as_answered(answer)
        return {name: self._answer(answer["measures"][name], table) for name, table in tables.items()}

    def rehearse(
        self,
        name: str,
        *,
        epsilon: Number | Level,
        dataset: str | None = None,
    ) -> dict[str, Any]:
        """Return the budget that a release at this level would leave; nothing is spent."""
        query = {"epsilon": level_text(level(epsilon)), "dataset": dataset}
        return self._get(f"/v1/releases/{path_part(name)}/rehearsal", **query)

    def budget(self, dataset: str, limit: Number | Level | None = None) -> dict[str, Any]:
        """Return the budget of a dataset, after setting its limit if one is given."""
        path = f"/v1/datasets/{path_part(dataset)}/budget"
        return self._get(path) if limit is None else self._send("PUT", path, json={"epsilon": level_text(level(limit))})

    def charge(self, dataset: str, *, epsilon: Number | Level, what: str, independent: bool = False) -> dict[str, Any]:
        """Charge a level that another tool spent, and return the budget, as `Ledger.charge` does."""
        sent = {"epsilon": level_text(level(epsilon)), "what": what, "independent": independent}
        return self._send("PUT", f"/v1/datasets/{path_part(dataset)}/charges", json=sent)

    def budgets(self) -> list[dict[str, Any]]:
        """Return the budgets of all datasets."""
        datasets: list[dict[str, Any]] = self.status()["datasets"]
        return datasets

    def history(self, name: str | None = None) -> list[dict[str, Any]]:
        """Return the events of the ledger, or those of a release, oldest first."""
        path = "/v1/history" if name is None else f"/v1/releases/{path_part(name)}/history"
        return self._listed(path)

    def status(self) -> dict[str, Any]:
        """Return the budget of each dataset, and whether new answers are possible."""
        return self._get("/v1/status")

    def verify(self) -> dict[str, Any]:
        """Make the service recompute everything in its ledger; return how many parts it checked."""
        return self._post("/v1/verification", None, {})

    def receipt(self) -> str:
        """Return a receipt to keep elsewhere: a line of text, with which `check` shows whether events were lost."""
        line: str = self._get("/v1/receipt")["receipt"]
        return line

    def check(self, receipt: str) -> None:
        """Check that the ledger still has all events of a receipt."""
        self._post("/v1/receipt/check", None, {"receipt": receipt})

    def trail(self, after: str = "", most: int | None = None) -> list[dict[str, Any]]:
        """Return the trail of the service, oldest first: entries after the one named ``after``, at most ``most``."""
        return self._listed("/v1/trail", after, most)

    def export_trail(self, path: Path | str) -> int:
        """Write the complete trail into a new file, a JSON object in each line; return the number of checked lines.

        Each line has a digest of all lines before it. A later export begins with the same lines, unless lines were
        lost.

        Raises:
            LedgerDamaged: if a line does not follow from the lines before it.
            OSError: if the file exists.
        """
        entries = self.trail()
        number, _ = check_lines(entries)
        with open(path, "x", encoding="utf-8") as file:
            file.writelines(json.dumps(entry) + "\n" for entry in entries)
        return number

    def tokens(self) -> list[dict[str, Any]]:
        """Return all tokens without their secrets, oldest first."""
        return self._listed("/v1/tokens")

    def make_token(
        self,
        owner: str,
        role: str,
        grants: Mapping[str, Number | Level | None] | None = None,
        *,
        days: Number = 90,
        subject: str | None = None,
        request: str | None = None,
    ) -> dict[str, Any]:
        """Make a token; the answer has its secret, ``bearer``, which is shown only once.

        Args:
            owner: Person whose token it is.
            role: "recipient", "curator", "approver", "auditor" or "admin".
            grants: Releases of the token, each with a largest level, or None for any level; all releases if left out.
            days: Number of days that the token is valid, at most 366.
            subject: Person or group of an OpenID provider, instead of a secret.
            request: Name under which the same call can be repeated.
        """
        levels = {"*": None} if grants is None else grants
        if not isinstance(levels, Mapping):
            remedy = 'Pass grants={"admissions": "1/4"}, or {"admissions": None} for any level.'
            raise WrongKind("grants must map releases to levels", came=type(grants).__name__, remedy=remedy)
        granted = [
            {"release": release, "up_to": None if most is None else level_text(level(most))}
            for release, most in levels.items()
        ]
        body = {"owner": owner, "role": role, "grants": granted, "days": str(exact(days, "days")), "subject": subject}
        return self._post("/v1/tokens", request, body)

    def revoke(self, token: str) -> dict[str, Any]:
        return self._post(f"/v1/tokens/{path_part(token)}/revocation", None, {})

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def __enter__(self) -> "RemoteLedger":
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        from utmost.publish.ledger.ledger import Ledger

        if name.startswith("_") or not hasattr(Ledger, name):
            raise AttributeError(f"a RemoteLedger has no {name}")
        remedy = "Open the ledger where its file and key are: Ledger.open, or utmost ledger."
        if name.endswith("_means"):
            remedy = "Publish several amounts by publish_measures, and relax and view each amount by itself."
        raise NotServed(
            "a method must exist in the client of a service",
            came=f"{name}, which only a local ledger has",
            remedy=remedy,
        )

    def __repr__(self) -> str:
        return f"RemoteLedger({str(self._client.base_url)!r})"

    def _get(self, path: str, **query: Any) -> dict[str, Any]:
        return self._send("GET", path, params={name: value for name, value in query.items() if value is not None})

    def _listed(self, path: str, after: str = "", most: int | None = None) -> list[dict[str, Any]]:
        """Return all items of a list, or at most `most`, fetched page by page."""
        items: list[dict[str, Any]] = []
        following: str | None = after
        while following is not None and (most is None or len(items) < most):
            page = self._get(path, after=following or None, most=None if most is None else min(most - len(items), 1000))
            following = page.pop("next", None)
            (more,) = page.values() if len(page) == 1 else (None,)
            if not isinstance(more, list):
                raise ServiceError("the service must answer with a list", came="another answer", where=path)
            items += more
        return items

    def _post(self, path: str, request: str | None, body: Mapping[str, Any]) -> dict[str, Any]:
        headers = {"Idempotency-Key": entropy(16).hex() if request is None else request}
        return self._send("POST", path, json=body, headers=headers)

    def _send(self, method: str, path: str, **sent: Any) -> dict[str, Any]:
        """Send a request and return its answer; an interrupted request is sent again, but takes effect only once."""
        import httpx

        if self._client.is_closed:
            remedy = "Call ut.connect again, and use the ledger before it is closed."
            raise LedgerUnavailable("the connection must be open", came="a closed connection", remedy=remedy)
        left = self._client.timeout.read
        for turn in range(_TRIES):
            last, wait = turn == _TRIES - 1, _FIRST_WAIT * 2**turn
            try:
                answer = self._client.request(method, path, **sent)
            except httpx.TransportError as error:
                if last:
                    came = type(error).__name__
                    remedy = "Check the address, and whether utmost serve runs there; then repeat the call"
                    remedy += "." if method == "GET" else " with the same request= name."
                    where = str(self._client.base_url.copy_with(userinfo=b""))  # without a password of a proxy
                    raise LedgerUnavailable("the service must answer", came=came, where=where, remedy=remedy) from None
            else:
                wait = max(wait, seconds_to_wait(answer))
                if answer.status_code not in (429, 503) or last or wait > left:
                    return facts_in(answer)
            left -= wait
            time.sleep(wait)
        raise AssertionError


def _sent(request: PublishRequest | AnswerRequest) -> dict[str, Any]:
    """Return a request as JSON; refuse one with a name (`request`), which the client's methods take as an argument."""
    if isinstance(request, AnswerRequest):
        return request.facts()
    if request.request is not None:
        remedy = "Leave request= out of the PublishRequest, and pass request= to the call."
        raise OutOfRange(
            "request= must be left out of a PublishRequest for a service", came=request.request, remedy=remedy
        )
    return served(request).facts()

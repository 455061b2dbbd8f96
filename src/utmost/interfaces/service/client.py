"""A ledger behind a service, with the verbs of a local one."""

import json
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Unpack

from utmost.core.exact.kinds import named, spelled
from utmost.core.exact.levels import Level, LevelWords, level, level_in
from utmost.core.exact.numbers import Number, exact
from utmost.core.exact.written_levels import level_of_text, level_text
from utmost.core.sampling.random_bits import entropy
from utmost.errors import LedgerUnavailable, OutOfRange, ServiceError, Unsupported, WrongKind
from utmost.interfaces.service.api.serialization import (
    CallWords,
    ProposingWords,
    PublishingWords,
    SharedWords,
    as_sent,
    checked_text,
    facts_in,
    path_part,
    query_of,
    table_in,
)
from utmost.interfaces.service.terms import Terms
from utmost.interfaces.service.trail import check_lines
from utmost.publish.counting.counted import CountedTable
from utmost.publish.ledger.remembered_release import Release
from utmost.publish.ledger.requests import AtWords, Brought, SaveWords, apart
from utmost.publish.ledger.shared_measures import shared_measures
from utmost.publish.promises.promise import Promise, promise_of, stated_promise
from utmost.publish.releases.gradual_answers import level_of_answer
from utmost.publish.releases.workload_release import WorkloadRelease
from utmost.publish.workloads.planning.shared_level import SharedLevel
from utmost.tables.files.saving import Publication, file_words, saved

_TRIES, _FIRST_WAIT = 4, 0.2
_LONGEST_WAIT = 10**6


@named
def connect(url: str, token: str, *, timeout: float = 60.0, transport: Any = None) -> "RemoteLedger":
    """A ledger behind a service.

    Args:
        url: of the service: https, or http on this machine.
        token: what a bearer presents: ``utmost_...``.
        timeout: seconds to wait for an answer.
        transport: one of httpx, for tests.

    Raises:
        OutOfRange: for an address that would send the token over a network in the clear.
        Unsupported: where httpx is not there.
    """
    try:
        import httpx
    except ImportError:
        remedy = 'Run: pip install "utmost[server]"'
        raise Unsupported("to connect to a service needs httpx", came="none", remedy=remedy) from None
    if not isinstance(token, str):  # what came is a secret, or nearly one
        raise WrongKind("a token must be text", came=type(token).__name__, where="token")
    try:
        address = httpx.URL(checked_text(url, "url"))
    except httpx.InvalidURL as error:
        raise OutOfRange("url must be the address of a service", came=str(error), where="url") from None
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout <= _LONGEST_WAIT:
        raise OutOfRange(f"timeout must be a number of seconds, at most {_LONGEST_WAIT}", came=timeout)
    if address.scheme != "https" and address.host not in ("localhost", "127.0.0.1", "::1"):
        remedy = "Give an address that begins with https://."
        raise OutOfRange("a token must not be sent in the clear", came=address.scheme, where="url", remedy=remedy)
    if not token.isascii() or not token.isprintable():
        raise OutOfRange("a token must be printable ASCII text", where="token")
    headers = {"Authorization": f"Bearer {token}"}
    return RemoteLedger(httpx.Client(base_url=address, headers=headers, timeout=timeout, transport=transport))


class RemoteLedger:
    """The ledger of a service, as far as a token allows; made by `connect`.

    Each verb is as that of `Ledger`, and raises as it does. A write that is cut off is sent again under its idempotency
    key, so that it takes place once. Tables go as columns and come back in the kind that was brought.
    """

    __slots__ = ("_client",)

    def __init__(self, client: Any) -> None:
        self._client = client

    def me(self) -> dict[str, Any]:
        """What the token allows: its role, releases and levels, and when it expires, in seconds since 1970."""
        return self._get("/v1/me")

    @property
    def releases(self) -> list[dict[str, Any]]:
        """The releases that the token is for, with their promises and the levels that it may see."""
        return self._listed("/v1/releases")

    def levels(self, name: str, version: int | None = None) -> tuple[Level, ...]:
        """The stored levels that the token may see, strictest first."""
        published = self._get(f"/v1/releases/{path_part(name)}", version=version)
        return tuple(map(level_of_text, published["levels"]))

    @spelled
    def view(self, name: str, **words: Unpack[AtWords]) -> Any:
        """A release at a level: a dict of columns, or a `WorkloadRelease`."""
        return table_in(self._get(f"/v1/releases/{path_part(name)}/view", **query_of(words)), None)

    @spelled
    def save(self, name: str, path: Path | str, *, family: Any = None, **words: Unpack[SaveWords]) -> dict[str, Any]:
        """Write a view and its statement, which the service says, into files here, as `Ledger.save`."""
        file, answer = file_words(words), self._answer(name, words)
        table = table_in(answer, None)
        if isinstance(table, WorkloadRelease):
            return table.save(path, family=family, **file)
        statement = answer["statement"]
        return saved(Publication(table, lambda digest: statement | {"table": dict(digest or {})}), path, **file)

    @spelled
    def statement(self, name: str, **words: Unpack[AtWords]) -> dict[str, Any]:
        """What the service says publicly of a release at a level, as `Ledger.statement`; of a plan, the document."""
        answer = self._answer(name, words)
        statement: dict[str, Any] = table_in(answer, None).statement if "release" in answer else answer["statement"]
        return statement

    def _answer(self, name: str, words: AtWords) -> dict[str, Any]:
        """The view at the level that is named, else at the only one that the token may see."""
        version = words.get("version")
        levels = partial(self.levels, name, version)
        at = level_of_answer(words.get("epsilon"), words.get("alpha"), levels, repr(name))
        return self._get(f"/v1/releases/{path_part(name)}/view", epsilon=level_text(at), version=version)

    def __getitem__(self, key: str | tuple[str, int]) -> Release:
        """The history of a release, the newest version; or of a name and a version; see `Ledger`."""
        name, version = key if isinstance(key, tuple) else (key, None)
        answer = self._get(f"/v1/releases/{path_part(name)}", version=version)
        return Release(self, name, answer["version"])

    @spelled
    def margin(self, name: str, *, confidence: Number = "0.95", **words: Unpack[AtWords]) -> int | float:
        """The error bar that a release has, or would have, at any level."""
        query = query_of(words) | {"confidence": str(confidence)}
        bar: int | float = self._get(f"/v1/releases/{path_part(name)}/margin", **query)["margin"]
        return bar

    @spelled
    def propose(
        self, verb: str, name: str, promise: Promise | None = None, **words: Unpack[ProposingWords]
    ) -> dict[str, Any]:
        """Propose to "publish" or to "relax"; a publication with its terms.

        Args:
            promise: of a publication; or its words instead, see `Promise`.
            dataset, independent: as for `Ledger.publish`.
            version: of the data; 1 if left out.
            anyone: whether any curator may use the approval, and not the proposer alone.
        """
        at = level_text(level_in(words))
        body: dict[str, Any] = {"verb": verb, "release": name, "epsilon": at, "version": words.get("version", 1)}
        body |= {"reason": words.get("reason", ""), "anyone": words.get("anyone", False)}
        whose, promised = apart(words)
        if verb == "publish" or promise is not None or whose or promised:
            body["terms"] = Terms(stated_promise(promise, promised), **whose).facts()
        return self._post("/v1/proposals", words.get("request"), body)

    def proposals(self) -> list[dict[str, Any]]:
        """What waits for a second person, and what was decided; oldest first, without the terms."""
        return self._listed("/v1/proposals")

    def proposal(self, name: str) -> dict[str, Any]:
        """A proposal and all that an approval is for: its "terms", and the "promise" in words."""
        return self._get(f"/v1/proposals/{path_part(name)}")

    def waiting(self) -> list[dict[str, Any]]:
        """What waits for the bearer: proposals to decide, and tables to bring; longest first."""
        return self._listed("/v1/waiting")

    def decide(self, proposal: str, state: str, reason: str = "") -> dict[str, Any]:
        """Let a proposal be "approved", or "refused" for a reason that its proposer reads."""
        body = {"state": state, "reason": reason}
        return self._post(f"/v1/proposals/{path_part(proposal)}/decision", None, body)

    def withdraw(self, proposal: str) -> dict[str, Any]:
        """Take a proposal of one's own back, as long as its table was not brought."""
        return self._post(f"/v1/proposals/{path_part(proposal)}/withdrawal", None, {})

    @spelled
    def publish(
        self, name: str, table: Any, promise: Promise | None = None, **words: Unpack[PublishingWords]
    ) -> Release:
        """Publish columns of a table at a first level, as `Ledger.publish`.

        Args:
            promise: of the table; or its words instead, see `Promise`.
            dataset, independent: as for `Ledger.publish`.
            proposal: the name of the approved proposal, where the service asks for one.
        """
        at, version = level_in(words), words.get("version")
        whose, promised = apart(words)
        stated = Terms(promise_of(table, promise, promised), **whose).facts()
        body = {"name": name, "epsilon": level_text(at), "terms": stated}
        more = {"version": version, "proposal": words.get("proposal"), **as_sent(table)}
        answer = self._post("/v1/releases", words.get("request"), {**body, **more})
        return Release(self, name, answer["version"], table, (at, table_in(answer, table)))

    @spelled
    def relax(self, name: str, table: Any, **call: Unpack[CallWords]) -> Any:
        """The release at another level, with the table at hand, as `Ledger.relax`."""
        at = level_in(call)
        body = {"epsilon": level_text(at), "version": call.get("version"), "proposal": call.get("proposal")}
        path = f"/v1/releases/{path_part(name)}/relax"
        return table_in(self._post(path, call.get("request"), {**body, **as_sent(table)}), table)

    @spelled
    def publish_shared(
        self,
        tables: Mapping[str, CountedTable],
        shared: SharedLevel,
        *,
        dataset: str,
        independent: bool = False,
        **call: Unpack[SharedWords],
    ) -> dict[str, Any]:
        """Publish several measures at one level that they share, in one transaction, as `Ledger.publish_shared`.

        Args:
            proposals: for each measure, its approved proposal, where the service asks for one.
        """
        measures = shared_measures(tables, shared, call, dataset, independent)
        return self._together("publications", measures, call)

    @spelled
    def relax_shared(
        self, tables: Mapping[str, CountedTable], shared: SharedLevel, **call: Unpack[SharedWords]
    ) -> dict[str, Any]:
        """Relax several measures, each to its share of one level, in one transaction, as `Ledger.relax_shared`."""
        measures = shared_measures(tables, shared, call)
        return self._together("relaxations", measures, call)

    def _together(self, what: str, measures: Mapping[str, Brought], call: SharedWords) -> dict[str, Any]:
        allow, bodies = call.get("proposals") or {}, []
        for name, measure in measures.items():
            body: dict[str, Any] = {"name": name, "epsilon": level_text(measure.level), "proposal": allow.get(name)}
            if what == "publications":
                body["terms"] = Terms.of(measure).facts()
            bodies.append(body | as_sent(measure.table))
        answer = self._post(f"/v1/{what}", call.get("request"), {"measures": bodies})["measures"]
        return {name: table_in(answer[name], measure.table) for name, measure in measures.items()}

    @spelled
    def rehearse(self, name: str, *, dataset: str | None = None, **words: Unpack[LevelWords]) -> dict[str, Any]:
        """The budget as it would stand after a call at this level."""
        query = {"epsilon": level_text(level_in(words)), "dataset": dataset}
        return self._get(f"/v1/releases/{path_part(name)}/rehearsal", **query)

    def budget(self, dataset: str, limit: Number | Level | None = None) -> dict[str, Any]:
        """The budget of a dataset, after setting its limit if one is given."""
        path = f"/v1/datasets/{path_part(dataset)}/budget"
        return self._get(path) if limit is None else self._send("PUT", path, json={"epsilon": level_text(level(limit))})

    def budgets(self) -> list[dict[str, Any]]:
        """The budgets of all datasets."""
        datasets: list[dict[str, Any]] = self.status()["datasets"]
        return datasets

    def history(self, name: str | None = None) -> list[dict[str, Any]]:
        """The events, oldest first: all, or those of a release."""
        path = "/v1/history" if name is None else f"/v1/releases/{path_part(name)}/history"
        return self._listed(path)

    def status(self) -> dict[str, Any]:
        """What the datasets have spent, and whether anything new may be said."""
        return self._get("/v1/status")

    def verify(self) -> dict[str, Any]:
        """Recompute everything in the ledger, over there."""
        return self._post("/v1/verification", None, {})

    def receipt(self) -> str:
        """A line of text about the ledger as it is now, to keep elsewhere."""
        line: str = self._get("/v1/receipt")["receipt"]
        return line

    def check(self, receipt: str) -> None:
        """Check that the ledger still holds what it held when the receipt was given."""
        self._post("/v1/receipt/check", None, {"receipt": receipt})

    def trail(self, after: str = "", most: int | None = None) -> list[dict[str, Any]]:
        """Who did what through the service, oldest first, after the entry of a name; all, or at most so many."""
        return self._listed("/v1/trail", after, most)

    def export_trail(self, path: Path | str) -> int:
        """Write the whole trail into a new file, a JSON object in each line; how many, checked one after the other.

        Each line holds a digest of all before it: a later export begins with the same lines, or some were lost.

        Raises:
            LedgerDamaged: where a line does not follow from those before it.
            OSError: where the file is there.
        """
        entries = self.trail()
        number, _ = check_lines(entries)
        with open(path, "x", encoding="utf-8") as file:
            file.writelines(json.dumps(entry) + "\n" for entry in entries)
        return number

    def tokens(self) -> list[dict[str, Any]]:
        """All tokens without their secrets, oldest first."""
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
        """Make a token; ``bearer`` in the answer is what it is presented by, and is said this once.

        Args:
            owner: whose it is.
            role: "recipient", "curator", "approver", "auditor" or "admin".
            grants: the releases it is for, each up to a level, or None for any; all of them where it is left out.
            days: for how long, at most 366.
            subject: whom an OpenID provider vouches for, instead of a secret.
        """
        levels = {"*": None} if grants is None else grants
        granted = [
            {"release": release, "up_to": None if most is None else level_text(level(most))}
            for release, most in levels.items()
        ]
        body = {"owner": owner, "role": role, "grants": granted, "days": str(exact(days, "days")), "subject": subject}
        return self._post("/v1/tokens", request, body)

    def revoke(self, token: str) -> dict[str, Any]:
        """Revoke a token at once, by its name."""
        return self._post(f"/v1/tokens/{path_part(token)}/revocation", None, {})

    def close(self) -> None:
        """Let go of the connection."""
        self._client.close()

    def __enter__(self) -> "RemoteLedger":
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"RemoteLedger({str(self._client.base_url)!r})"

    def _get(self, path: str, **query: Any) -> dict[str, Any]:
        return self._send("GET", path, params={name: value for name, value in query.items() if value is not None})

    def _listed(self, path: str, after: str = "", most: int | None = None) -> list[dict[str, Any]]:
        """The items of a list, page by page: all of them, or at most so many."""
        items: list[dict[str, Any]] = []
        following: str | None = after
        while following is not None and (most is None or len(items) < most):
            page = self._get(path, after=following or None, most=None if most is None else min(most - len(items), 1000))
            following = page.pop("next", None)
            (more,) = page.values() if len(page) == 1 else (None,)
            if not isinstance(more, list):
                raise ServiceError("a service must answer in a list", came="something else", where=path)
            items += more
        return items

    def _post(self, path: str, request: str | None, body: Mapping[str, Any]) -> dict[str, Any]:
        headers = {"Idempotency-Key": entropy(16).hex() if request is None else request}
        return self._send("POST", path, json=body, headers=headers)

    def _send(self, method: str, path: str, **sent: Any) -> dict[str, Any]:
        """The answer to a request; one that was cut off is sent again, which repeats nothing."""
        import httpx

        for turn in range(_TRIES):
            last = turn == _TRIES - 1
            try:
                answer = self._client.request(method, path, **sent)
            except httpx.TransportError as error:
                if last:
                    came = type(error).__name__
                    remedy = "The same call may be made again under its request= name."
                    raise LedgerUnavailable("the service must answer", came=came, remedy=remedy) from None
            else:
                if answer.status_code not in (429, 503) or last:
                    return facts_in(answer)
            time.sleep(_FIRST_WAIT * 2**turn)
        raise AssertionError

"""The shapes of requests and answers, for FastAPI: what the API description says, with examples.

Levels and exact numbers travel as text ("1/4"), so that no reader of JSON rounds them.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Exact = Annotated[str | int | float, Field(description='an exact number: 1, 0.25 or "1/4"', examples=["1/4"])]
Name = Annotated[str, Field(min_length=1, max_length=200, examples=["admissions"])]
Columns = Annotated[
    dict[str, list[Any]],
    Field(
        description="a table, column by column",
        examples=[{"department": ["A", "B"], "admitted": [601, 370]}],
    ),
]


class Asked(BaseModel):
    """A request: nothing beyond its fields is taken."""

    model_config = ConfigDict(extra="forbid")


class GrantShape(Asked):
    """A release that a token is for; "*" for every one. Without a level, any."""

    release: Name
    up_to: Exact | None = None


class NewToken(Asked):
    """Who gets a token, for what, for how long."""

    owner: Annotated[str, Field(min_length=1, max_length=200, examples=["Bo"])]
    role: Literal["recipient", "curator", "approver", "auditor", "admin"]
    grants: Annotated[list[GrantShape], Field(max_length=1000)]
    days: Exact = 90
    subject: Annotated[str | None, Field(max_length=1000)] = None


class TermsShape(Asked):
    """What is promised of a table, as the arguments of `Ledger.publish`."""

    columns: list[str] = []
    public: list[str] = []
    drop: list[str] = []
    rows: Literal["declared", "observed"] = "declared"
    sensitivity: Exact | None = None
    cells: Exact | None = None
    neighbours: Literal["add-remove", "change-one"] | None = None
    numbers: Literal["integers", "reals"] = "integers"
    grid: Exact | None = None
    largest: Exact | None = None
    half_step: bool = False
    id_column: str | None = None
    dataset: str | None = None
    independent: bool = False
    strategy: Annotated[str | None, Field(description="a strategy as JSON text, instead of columns and unit")] = None


class Proposed(Asked):
    """Something that a second person is to confirm."""

    verb: Literal["publish", "relax"]
    release: Name
    epsilon: Exact
    version: Annotated[int, Field(ge=1)] = 1
    terms: TermsShape | None = None
    reason: Annotated[str, Field(max_length=1000)] = ""


class Decided(Asked):
    """A decision."""

    state: Literal["approved", "refused"]


class Publication(Asked):
    """A table to publish, with what is promised of it."""

    name: Name
    epsilon: Exact
    terms: TermsShape
    table: Columns | None = None
    counted: Annotated[dict[str, Any] | None, Field(description="a counted table, for a strategy")] = None
    version: Annotated[int | None, Field(ge=1)] = None
    proposal: str | None = None


class Relaxation(Asked):
    """The same table again, at another level."""

    epsilon: Exact
    table: Columns | None = None
    counted: dict[str, Any] | None = None
    version: Annotated[int | None, Field(ge=1)] = None
    proposal: str | None = None


class NewOffer(Asked):
    """Levels of a release at prices, which do not fall."""

    release: Name
    prices: Annotated[dict[str, Exact], Field(min_length=1, max_length=100, examples=[{"1/4": 10, "1": 35}])]
    currency: Annotated[str, Field(min_length=1, max_length=20, examples=["EUR"])]
    version: Annotated[int | None, Field(ge=1)] = None


class NewOrder(Asked):
    """A level of an offer."""

    offer: str
    epsilon: Exact


class NewLimit(Asked):
    """The limit of a dataset."""

    epsilon: Exact


class Receipt(Asked):
    """A line of text about a ledger."""

    receipt: Annotated[str, Field(max_length=4000)]


class Problem(BaseModel):
    """What went wrong, as RFC 9457 has it; it quotes no value."""

    type: str = "about:blank"
    title: Annotated[str, Field(examples=["NotAllowed"])]
    status: Annotated[int, Field(examples=[403])]
    detail: str
    wrong: list[str] | None = None

"""What tests of a service promise, and the calls that bring it: requests are made of it, for a name and at a level."""

import json
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from utmost.counting import read_counted
from utmost.exact import level

# Words of a request are read as the service reads them, right or wrong ones.
from utmost.interfaces.service.publish_requests import read_request
from utmost.ledger import AnswerRequest, PublishRequest
from utmost.promises import Promise, SumNoise
from utmost.workloads import Plan, read_plan, save_plan

BESIDE = ("dataset", "independent")


@dataclass(frozen=True)
class Terms:
    """What a request says beside its name and its level.

    Attributes:
        promise, dataset, independent: as for `PublishRequest`; the release's own dataset where it is None.
    """

    promise: Promise
    dataset: str | None = None
    independent: bool = False

    @classmethod
    def read(cls, words):
        """Terms from the words of a promise, and those beside it, as a service reads them."""
        words = dict(words)
        if isinstance(words.get("noise"), Plan):
            words["noise"] = SumNoise(words["noise"]).facts()
        beside = {name: words.pop(name, None) for name in BESIDE}
        request = read_request({"name": "a name", "level": "1", "promise": words, **beside})
        return cls(request.promise, beside.get("dataset"), request.independent)

    def facts(self):
        """The words that `read` takes."""
        return self.promise.facts() | {"dataset": self.dataset, "independent": self.independent}

    def request(self, name, at, version=None):
        """The request to publish a table under a name, at a level."""
        dataset = name if self.dataset is None else self.dataset
        return PublishRequest(name, self.promise, level(at), dataset, version, None, self.independent)


def document(thing):
    """What the file of a plan, a counted table or a promise says, as JSON values."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "file.json"
        save_plan(thing, path) if isinstance(thing, Plan) else thing.save(path)
        return json.loads(path.read_text(encoding="utf-8"))


def planned(content):
    """The promise of the plan in a file, and its level."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "plan.json"
        path.write_bytes(content)
        plan = read_plan(path)
    return Promise(noise=plan), plan.level


def counted_in(content):
    """The counted table in a file."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "counted.json"
        path.write_bytes(content)
        return read_counted(path)


def body(name, epsilon, words):
    """A request to publish as JSON, of the words of a promise and those beside it, right or wrong."""
    beside = {one: words[one] for one in BESIDE if one in words}
    return {
        "name": name,
        "level": epsilon,
        "promise": {one: word for one, word in words.items() if one not in BESIDE},
        **beside,
    }


def publish_by(service, token, key, name, table, at, terms, *, version=None, proposal=None):
    """The released table."""
    request = terms.request(name, at, version)
    return service.releases.publish_measures(token, key, [request], {name: table}, {name: proposal})[name].table


def relax_by(service, token, key, name, table, at, *, version=None, proposal=None):
    """The table at another level."""
    request = AnswerRequest(name, at, version)
    return service.releases.relax_measures(token, key, [request], {name: table}, {name: proposal})[name].table


def propose_by(service, token, key, verb, name, at, *, terms=None, version=1, **options):
    """The proposal to publish or to relax."""
    request = terms.request(name, at, version) if verb == "publish" else AnswerRequest(name, at, version)
    return service.proposals.propose(token, key, request, **options)

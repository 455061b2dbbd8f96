"""What tests of a service promise, and the calls that bring it: requests are made of it, for a name and at a level."""

from dataclasses import dataclass

from utmost.exact import level
from utmost.interfaces.service.publish_requests import read_request
from utmost.ledger import AnswerRequest, PublishRequest
from utmost.promises import Promise, SumNoise
from utmost.workloads import Plan

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

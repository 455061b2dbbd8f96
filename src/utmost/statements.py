"""What is said publicly of a release, and its check: built again from its facts and compared."""

from utmost.interfaces.documents.published_files import read_release
from utmost.interfaces.documents.statement_readers import stated_release
from utmost.publish.promises.statement_check import check_statement
from utmost.publish.releases.comparisons import change, trend
from utmost.publish.statements.contribution_costs import bound_costs
from utmost.publish.statements.places_check import check_places
from utmost.publish.statements.printed_statement import statement_page
from utmost.publish.statements.registry_entries import Deployment, registry_entry
from utmost.publish.statements.withheld_check import check_withheld
from utmost.publish.statements.workload_files import read_workload
from utmost.publish.statements.yaml_writing import yaml_text

__all__ = [
    "Deployment",
    "bound_costs",
    "change",
    "check_places",
    "check_statement",
    "check_withheld",
    "read_release",
    "read_workload",
    "registry_entry",
    "stated_release",
    "statement_page",
    "trend",
    "yaml_text",
]


def __dir__() -> list[str]:
    return __all__

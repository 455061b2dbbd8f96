"""Public statements of releases. A statement is checked by building it again from its fields."""

from utmost.interfaces.documents.published_files import PublishedTable, read_release
from utmost.interfaces.documents.schemas import DocumentKind, schema
from utmost.interfaces.documents.statement_readers import stated_release
from utmost.publish.promises.statement import Statement, check_statement
from utmost.publish.releases.comparisons import Trend, change, trend
from utmost.publish.statements.clean_check import check_clean
from utmost.publish.statements.contribution_costs import BoundCosts, bound_costs
from utmost.publish.statements.printed_statement import statement_page
from utmost.publish.statements.registry_entries import Deployment, registry_entry
from utmost.publish.statements.withheld_check import check_withheld
from utmost.publish.statements.workload_files import check_sums_table
from utmost.publish.statements.yaml_writing import yaml_text

__all__ = [
    "BoundCosts",
    "Deployment",
    "DocumentKind",
    "PublishedTable",
    "Statement",
    "Trend",
    "bound_costs",
    "change",
    "check_clean",
    "check_statement",
    "check_sums_table",
    "check_withheld",
    "read_release",
    "registry_entry",
    "schema",
    "stated_release",
    "statement_page",
    "trend",
    "yaml_text",
]


def __dir__() -> list[str]:
    return __all__

"""`utmost statement`: print a statement in words; write a page, an entry for the registry, or a data package."""

import json
import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Annotated, Any, get_args

import click

from utmost.errors import OutOfRange, Unsupported
from utmost.interfaces.cli.options import file_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import option
from utmost.interfaces.cli.options.recipe_options import recipe_schema
from utmost.interfaces.cli.screens.screen import facts, percent, screen
from utmost.interfaces.cli.screens.terminal import ScreenColumn, ScreenTable, ScreenText
from utmost.interfaces.cli.screens.workload_screens import tables_by_size
from utmost.interfaces.documents.published_files import read_release
from utmost.interfaces.documents.reports import print_json
from utmost.interfaces.documents.statement_readers import stated_release
from utmost.interfaces.interop.data_packages import csv_metadata, data_package
from utmost.interfaces.interop.sdmx import sdmx_csv
from utmost.publish.promises.statement import read_statement
from utmost.publish.releases.answer import Answer
from utmost.publish.releases.noisy_table import declared_in
from utmost.publish.releases.release_facts import SECTIONS, ReleaseFacts, short_bar
from utmost.publish.statements.printed_statement import MOST_PRINTED_ROWS, statement_page
from utmost.publish.statements.registry_entries import Deployment, registry_entry
from utmost.publish.statements.workload_files import whole_document
from utmost.publish.statements.yaml_writing import yaml_text
from utmost.publish.workloads.sums_in_words import TOTAL_WORD
from utmost.tables.files import files, sidecars, signatures
from utmost.tables.files.atomic import Writer, check_absent, write_together

RARE = (
    *("--use", "--region", "--published", "--sector", "--product", "--author", "--source", "--license"),
    *("--sdmx", "--structure", "--component", "--column"),
)


def _print_schema(context: click.Context, kind: str) -> None:
    """Print the JSON Schema of a kind of file, and end the command."""
    from utmost.interfaces.documents.schemas import DocumentKind, schema

    for known in get_args(DocumentKind):
        if kind == known:
            print_json(schema(known))
            context.exit()
    if kind != "recipe":
        kinds = (*get_args(DocumentKind), "recipe")
        near = get_close_matches(kind, kinds, 1)
        remedy = f"Write --schema {near[0] if near else 'statement'}."
        raise OutOfRange(f"--schema must be one of {', '.join(kinds)}", came=repr(kind), remedy=remedy)
    assert context.parent is not None, "every command is one of utmost"
    release = context.parent.command.get_command(context.parent, "release")  # type: ignore[attr-defined]
    print_json(recipe_schema(release))
    context.exit()


def statement(
    release: Annotated[
        file_options.File,
        file_options.file_argument("FILE", "Statement (.json), released table, or release by a plan."),
    ],
    *,
    title: Annotated[str, option("TEXT", "Name of the data product.")] = "",
    curator: Annotated[list[str] | None, option("NAME", "Publisher; repeatable.")] = None,
    use: Annotated[str, option("TEXT", "Intended use.")] = "",
    region: Annotated[str, option("TEXT", "Region that the data describe.")] = "",
    description: Annotated[str, option("TEXT", "Short description.")] = "",
    published: Annotated[str, option("YYYY-MM-DD", "Date of publication.")] = "",
    sector: Annotated[str | None, option("NAME", "Sector of the data product, say Government.")] = None,
    product: Annotated[str, option("NAME", "Kind of data product, say Dataset.")] = "Summary statistics",
    author: Annotated[list[str] | None, option("NAME", "Author of the registry entry; repeatable.")] = None,
    source: Annotated[str, option("TEXT", "Links to the published data and texts about them.")] = "",
    license: Annotated[str, option("NAME", "SPDX name of the table's licence, say CC-BY-4.0.")] = "",
    html: Annotated[Path | None, option("FILE", "File for one page to read or print (.html).")] = None,
    package: Annotated[
        Path | None,
        option("FILE", "File for a description of the released .csv, say datapackage.json; CSVW is written beside it."),
    ] = None,
    sdmx: Annotated[Path | None, option("FILE", "File for the table as an SDMX-CSV 2.0 message (.csv).")] = None,
    structure: Annotated[
        str | None, option("AGENCY:ID(VERSION)", "SDMX dataflow of the table, say ESTAT:NA_MAIN(1.6.0).")
    ] = None,
    component: Annotated[
        list[str] | None,
        option("COLUMN=ID", "SDMX component of a column, by default the column's name in capitals; repeatable."),
    ] = None,
    column: Annotated[str | None, option("NAME", "Released column that is the SDMX measure.")] = None,
    out: Annotated[Path | None, option("FILE", "File for the OpenDP registry's entry (.yaml); - prints it.")] = None,
    schema: Annotated[
        str | None,
        option("KIND", "Print the JSON Schema of a kind of file: statement, recipe, plan, ...", first=_print_schema),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Print the statement of a release in words; or write a page, a data package or an entry of the OpenDP registry.

    utmost statement released.csv --html page.html --out entry.yaml --package datapackage.json

    More: docs/howto/check-and-read-a-release.md
    """
    if sdmx is not None:
        if as_json or any(file is not None for file in (html, package, out)):
            names = {"--html": html is not None, "--package": package is not None, "--out": out is not None}
            came = next((name for name, is_given in names.items() if is_given), "--json")
            remedy = f"Leave out {came}, and write it in a second call."
            raise OutOfRange(f"--sdmx cannot be combined with {came}", came="both", remedy=remedy)
        if sdmx.suffix.lower() != ".csv":
            came, remedy = str(sdmx), f"Write --sdmx {sdmx.with_suffix('.csv')}."
            raise OutOfRange("--sdmx must be a .csv file", came=came, remedy=remedy)
        check_absent(sdmx)
        named: dict[str, str] = {}
        for word in component or ():
            name, equals, identifier = word.rpartition("=")
            if not equals or not name or not identifier:
                remedy = "Write, for example, --component region=REF_AREA."
                raise OutOfRange("--component must be COLUMN=ID", came=repr(word)[:60], remedy=remedy)
            named[name] = identifier
        texts = {"--title": title, "--curator": curator, "--use": use, "--region": region, "--license": license}
        texts |= {"--description": description, "--published": published, "--sector": sector, "--author": author}
        _check_written(texts | {"--source": source}, "--html, --out or --package", is_there=False)
        message = sdmx_csv(release, structure or "", components=named, column=column)
        write_together({sdmx: lambda file: _put(file, message)})
        return screen(stderr=True).print(ScreenText(f"Written: {sdmx}"))

    for name, given in (("--structure", structure), ("--component", component), ("--column", column)):
        if given is not None:
            raise OutOfRange(f"{name} needs --sdmx", came="none", remedy="Add --sdmx message.csv.")
    deployment = Deployment(
        title, tuple(curator or ()), use, region, description, published, sector, product, tuple(author or ()), source
    )
    has_page, has_entry, has_package = html is not None, out is not None or as_json, package is not None
    about = {"--title": title, "--curator": curator, "--description": description, "--published": published}
    _check_written(about, "--html, --out or --package", is_there=has_page or has_entry or has_package)
    _check_written({"--region": region}, "--html or --out", is_there=has_page or has_entry)
    _check_written({"--source": source}, "--out or --package", is_there=has_entry or has_package)
    _check_written({"--use": use, "--sector": sector, "--author": author}, "--out", is_there=has_entry)
    _check_written({"--license": license}, "--package", is_there=has_package)
    entry_file, page_file = file_options.file_of(out), file_options.file_of(html)
    if html is not None and page_file is None and (as_json or (out is not None and entry_file is None)):
        remedy = "Name a file for the page: --html page.html."
        raise OutOfRange("only one of --html and --out can be standard output", came="both", remedy=remedy)
    for file, endings, where in ((entry_file, (".yaml", ".yml"), "--out"), (page_file, (".html", ".htm"), "--html")):
        if file is not None:
            if file.suffix.lower() not in endings:
                remedy = f"Write {where} {file.with_suffix(endings[0])}."
                raise OutOfRange(f"{where} must end in {endings[0]}", came=file.name, remedy=remedy)
            check_absent(file)
    if entry_file is not None and entry_file == page_file:
        raise OutOfRange("--out and --html must name different files", came=str(entry_file), remedy="Rename one.")
    if package is not None:  # the package names its table without a folder
        if package.suffix.lower() != ".json" or package.absolute().parent != release.absolute().parent:
            remedy = f"Write --package {release.with_name('datapackage.json')}."
            required = "--package must be a .json file in the folder of the table"
            raise OutOfRange(required, came=str(package), remedy=remedy)
        check_absent(package)

    # FILE has the statement, or a file beside it has it.
    path, is_piped = release, isinstance(release, file_options.StandardInput)
    if not is_piped and (release.suffix.lower() != ".json" or sidecars.sidecar_path(release).is_file()):
        path = sidecars.statement_beside(release)
        stated_facts = read_statement(path)
    else:
        document = whole_document(release)
        stated_facts = read_statement(release) if document is None else dict(document)
    # If a file beside the statement has the table, the digest of this file must be the digest in the statement.
    beside, digest = (
        path.with_name(path.name.removesuffix(".json")) if path == release else release,
        stated_facts.get("table"),
    )
    table: Path | None = None
    if beside != path and beside.is_file() and isinstance(digest, Mapping) and digest.get("of") == "file":
        table = beside
        sidecars.check_unchanged(table, dict(stated_facts))

    declared = declared_in(stated_facts)
    if declared is not None:
        if as_json or html is not None or out is not None:
            remedy = (
                "Leave out --html, --out and --json, to see the declared noise; or check the file: utmost verify FILE."
            )
            raise Unsupported(
                "a page or a registry entry needs a release that utmost made", came="declared noise", remedy=remedy
            )
        if package is None:
            return screen().print(ScreenText(declared.guarantee), facts({"on trust": "; ".join(declared.on_trust)}))
        files_of_package = _package_writers(package, release, deployment, license)
        write_together(files_of_package)
        return screen(stderr=True).print(ScreenText(f"Written: {' and '.join(map(str, files_of_package))}"))

    stated = stated_release(stated_facts)
    is_signed = signatures.signature_path(path).is_file()
    tables = {} if html is None else _shown_tables(table, release)
    page = partial(
        statement_page, stated, deployment, tables=tables, is_signed=is_signed, is_compared=table is not None
    )
    entry = registry_entry(stated, deployment)
    text = yaml_text(entry)
    writers: dict[Path, Writer] = {}
    if entry_file is not None:
        writers[entry_file] = lambda file: _put(file, text)
    if page_file is not None:
        writers[page_file] = lambda file: _put(file, page())
    if package is not None:
        writers |= _package_writers(package, release, deployment, license)
    if writers:
        write_together(writers)

    if html is not None and page_file is None:
        _put(sys.stdout.buffer, page())
        sys.stdout.flush()
    elif as_json:
        print_json(entry)
    elif out is None and html is None and package is None:
        _show(stated)
    elif out is not None and entry_file is None:
        sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
        sys.stdout.flush()
    written = " and ".join(map(str, writers))
    if written:
        screen(stderr=True).print(ScreenText(f"Written: {written}"))
    if deployment.missing and (as_json or out is not None):
        missing = ", ".join(f"--{_OPTIONS.get(name, name)}" for name in deployment.missing)
        screen(stderr=True).print(
            ScreenText(f"Fill in before you send the entry to the registry: {missing}", style="bold")
        )


def _check_written(texts: Mapping[str, Any], files_with_it: str, *, is_there: bool) -> None:
    """Refuse each given text if no file that would contain it is written."""
    for name in (name for name, text in texts.items() if text and not is_there):
        raise OutOfRange(f"{name} is written only to {files_with_it}", came="none", remedy=f"Leave out {name}.")


def _show(stated: ReleaseFacts) -> None:
    """Print every fact of a statement, section by section."""
    parts: list[ScreenText | ScreenTable] = [ScreenText(f"{stated.guarantee}\n")]
    for section in SECTIONS:
        rows = []
        for fact in stated.of_section(section):
            bars = ", ".join(f"± {short_bar(bar)} at {percent(sure)}" for sure, bar in fact.bars)
            rows.append([fact.label, f"{fact.value}; margin {bars}" if bars else fact.value])
        if rows:
            parts += [
                ScreenText(section, style="bold"),
                ScreenTable([ScreenColumn(style="dim"), ScreenColumn()], rows),
                ScreenText(),
            ]
    screen().print(*parts, ScreenText(_NEXT))


_NEXT = (
    "Write a page to print: --html page.html; an entry of the deployments registry: --out entry.yaml; a description "
    "for other tools: --package datapackage.json."
)
_OPTIONS = {"curators": "curator", "intended_use": "use", "authors": "author"}


def _package_writers(package: Path, release: Path, deployment: Deployment, license: str) -> dict[Path, Writer]:
    """Return writers for a data package's descriptor, and for CSV-on-the-web metadata beside the table."""
    described = data_package(release, deployment, license=license)
    beside = release.with_name(f"{release.name}-metadata.json")
    check_absent(beside)
    return {
        package: lambda file: _put(file, _json(described)),
        beside: lambda file: _put(file, _json(csv_metadata(described))),
    }


def _shown_tables(table: Path | None, release: Path) -> dict[str, Mapping[str, Sequence[Any]]]:
    """Return the tables for a page: the released table, or the smaller tables of a release by a plan."""
    if table is not None:
        return {"": files.columns(files.read(table))}
    if whole_document(release) is None:
        return {}
    read = read_release(release)
    if not isinstance(read, Answer) or not read.is_by_plan:
        return {}
    most = MOST_PRINTED_ROWS if read.table.unit.is_shared else _MOST_COMPUTED  # each mean takes a tenth of a second
    listed = enumerate(tables_by_size(read.table, most))
    return {
        name or TOTAL_WORD: {} if columns is None or position >= _MOST_TABLES else files.columns(columns)
        for position, (name, _, columns) in listed
    }


_MOST_TABLES, _MOST_COMPUTED = 6, 1000


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _put(file: Any, text: str) -> None:
    # Lone surrogates, which a name may have, are escaped.
    file.write(text.encode("utf-8", "backslashreplace"))

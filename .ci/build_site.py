"""Build the documentation site, check every link of it, and see that no page asks another host for anything.

python .ci/build_site.py            # needs `pip install --group docs`; build/site/index.html opens in any browser

The pages of docs/ are plain Markdown, read as they are in the repository and run by the tests. Here they are laid out
beside the changelog, the security page and the rest, pages of reference are made for each room's public names, and
zensical makes HTML of it all, strictly.
"""

import ast
import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import get_args
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parents[1]
PAGES, SITE = ROOT / "build/pages", ROOT / "build/site"
BESIDE = {
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "examples/README.md": "examples.md",
}
"""Pages that live outside docs/, and where they are on the site."""
LINK = re.compile(r"(?<=\]\()(?!https?:|mailto:|#)([^)#\s]+)(#[^)\s]*)?(?=\))")
FENCE = re.compile(r"^\s*(```|~~~)")
LISTED = re.compile(r"^\s*([-*]|\d+\.) |^\|")
OPTION = re.compile(r"(?<!`)`(--[\w-]+)`(?!`)")
CODE = re.compile(r"(`+).*?(?<!`)\1(?!`)")
KEY = re.compile(r"(?<![\w`\]])\[([a-z]+\d{4}\w*)((?:,[^\]\[`]*)?)\](?![(\[:])")


def lay_out() -> None:
    """Every page and picture, in build/pages."""
    shutil.rmtree(PAGES, ignore_errors=True)
    shutil.copytree(ROOT / "docs", PAGES, ignore=shutil.ignore_patterns("ruff.toml"))
    for source, target in BESIDE.items():
        shutil.copy(ROOT / source, PAGES / target)
    sources = {**{ROOT / source: PAGES / target for source, target in BESIDE.items()}}
    sources |= {path: PAGES / path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")}
    papers = write_papers()
    for source, target in sources.items():
        text = target.read_text(encoding="utf-8")
        text = written_for_site(text, source, target, papers) + footer(source)
        target.write_text(text, encoding="utf-8")
    write_reference(papers)
    for name in ("site.css", "iframe-worker.js"):
        shutil.copy(ROOT / ".ci" / name, PAGES / name)


def written_for_site(text: str, source: Path, target: Path, papers: set[str]) -> str:
    """The page with links to where files are now, options marked, and a blank line before each list."""
    lines: list[str] = []
    fence = None
    for line in text.splitlines():
        if FENCE.match(line):
            fence = None if fence else line
        elif fence is None:
            line = LINK.sub(lambda found: moved(found, source, target), line)
            if line.startswith("|"):
                line = CODE.sub(lambda found: found[0].replace(r"\|", "|"), line)
            line = OPTION.sub(r"`\1`{ .option }", line)
            line = KEY.sub(lambda found: cited(found, target, papers), line)
            before = lines[-1] if lines else ""
            if LISTED.match(line) and before.strip() and not LISTED.match(before) and not before.startswith("  "):
                lines.append("")
        lines.append(line)
    return "\n".join(lines) + "\n"


def footer(source: Path) -> str:
    """The version, and the file of the repository that a page is made from."""
    version = re.search(r'__version__ = "(.*)"', (ROOT / "src/utmost/version.py").read_text(encoding="utf-8"))
    return f"\n---\n\nutmost {version[1] if version else ''}. Source of this page: `{source.relative_to(ROOT)}`\n"


def moved(found: re.Match[str], source: Path, target: Path) -> str:
    """The link from where the page is on the site to where the other is; files that are no page come along."""
    path = (source.parent / found[1]).resolve()
    if not path.exists():
        raise SystemExit(f"{source.relative_to(ROOT)}: {found[1]} is not there")
    inside = path.relative_to(ROOT)
    if path == ROOT / "README.md":
        there = PAGES / "index.md"
    elif str(inside) in BESIDE:
        there = PAGES / BESIDE[str(inside)]
    elif path.name == "references.bib":
        there = PAGES / "papers.md"
    elif inside.parts[0] == "docs":
        there = PAGES / inside.relative_to("docs")
    else:
        # Full proofs are read as text: among the pages they would be the first hits of most searches.
        there = PAGES / "files" / (inside.with_suffix(".txt") if path.suffix == ".md" else inside)
        there.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, there)
        if path.suffix == ".md":
            return relative(there, target)
    return relative(there, target) + (found[2] or "")


def relative(there: Path, page: Path) -> str:
    """The path from one page to a file."""
    up = len(page.relative_to(PAGES).parts) - 1
    return "../" * up + str(there.relative_to(PAGES))


def cited(found: re.Match[str], page: Path, papers: set[str]) -> str:
    """A key of the bibliography as a link to its entry."""
    if found[1] not in papers:
        raise SystemExit(f"{page.relative_to(PAGES)}: docs/references.bib has no {found[1]}")
    return f"[[{found[1]}]({relative(PAGES / 'papers.md', page)}#{found[1]}){found[2]}]"


def write_papers() -> set[str]:
    """The page of papers, from docs/references.bib: each entry under its key."""
    text = (ROOT / "docs/references.bib").read_text(encoding="utf-8")
    lines = [
        "# Papers",
        "",
        "What the keys in brackets stand for. The same in BibTeX: [references.bib](references.bib).",
        "",
    ]
    keys = re.findall(r"^@\w+\{(\w+),(.*?)^\}", text, re.MULTILINE | re.DOTALL)
    for key, body in keys:
        entry = {name.lower(): plain(value) for name, value in re.findall(r"^\s*(\w+)\s*=\s*\{(.*?)\},?$", body, re.M)}
        where = next(
            (entry[name] for name in ("journal", "booktitle", "howpublished", "publisher") if name in entry), ""
        )
        link = f" [doi:{entry['doi']}](https://doi.org/{entry['doi']})" if "doi" in entry else ""
        said = ", ".join(part for part in (f"*{entry.get('title', '')}*", where, entry.get("year", "")) if part)
        lines += [f"## {key} {{ #{key} }}", "", f"{entry.get('author', '').replace(' and ', '; ')}: {said}.{link}", ""]
    (PAGES / "papers.md").write_text("\n".join(lines), encoding="utf-8")
    return {key for key, _ in keys}


def plain(text: str) -> str:
    """A field of BibTeX without its braces and accents."""
    accents = {r"{\'e}": "é", r"{\'a}": "á", r"{\"o}": "ö", r"{\"u}": "ü", r"{\'c}": "ć"}
    for coded, letter in accents.items():
        text = text.replace(coded, letter)
    return re.sub(r"[{}\\]", "", text).replace("--", "–").strip()


def write_reference(papers: set[str]) -> None:
    """A page for each room: what it is, and every public name from its docstring."""
    folder = PAGES / "reference/python"
    folder.mkdir(parents=True)
    package = ROOT / "src/utmost"
    modules = [*package.glob("[a-z]*.py"), *package.glob("*/__init__.py")]
    listed = [path for path in modules if "__all__" in path.read_text(encoding="utf-8")]
    rooms = [path.parent if path.stem == "__init__" else path for path in listed] + [package / "errors.py"]
    for room in rooms:
        module = ast.parse((room / "__init__.py" if room.is_dir() else room).read_text(encoding="utf-8"))
        names = sorted(public_names(module), key=str.casefold)
        if names:
            glossary = "Words are in the [glossary](../glossary.md)."
            opened = f"# {dotted(package, room)}\n\n{ast.get_docstring(module)}\n\n{glossary}"
            parts = [f"::: {origin(package, room, name)}.{name}" for name in names]
            file = room / "__init__.py" if room.is_dir() else room
            text = "\n\n".join([opened, *parts]) + "\n" + footer(file)
            (folder / f"{room.stem}.md").write_text(text, encoding="utf-8")


def public_names(module: ast.Module) -> list[str]:
    """The names that a room lists for readers, those of ``__all__``, or every public class of a file without."""
    for node in module.body:
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            imports = [part for part in node.body if isinstance(part, ast.ImportFrom)]
            return [one.asname or one.name for part in imports for one in part.names]
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return [str(name) for name in ast.literal_eval(node.value)]
    return [node.name for node in module.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]


def origin(package: Path, room: Path, name: str) -> str:
    """The module in which a room's public name is written."""
    file = room / "__init__.py" if room.is_dir() else room
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and any((one.asname or one.name) == name for one in node.names):
            return str(node.module)
    return dotted(package, room)


def dotted(package: Path, room: Path) -> str:
    """The name by which a room, or a file that is one, is imported."""
    return ".".join(("utmost", *room.relative_to(package).with_suffix("").parts))


class Page(HTMLParser):
    """What a page links to, what it names, and what it loads from elsewhere."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.names: set[str] = set()
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """One tag."""
        given = {name: value or "" for name, value in attrs}
        self.names |= {given[name] for name in ("id", "name") if name in given}
        for name in ("href", "src"):
            if name not in given:
                continue
            if re.match(r"(?:https?:)?//", given[name]):
                self.loads += [given[name]] * (tag != "a" and given.get("rel") not in ("canonical", "generator"))
            else:
                self.links.append(given[name])


def check(site: Path) -> list[str]:
    """What is wrong: a link of a built site that leads nowhere, or a page that loads something from elsewhere."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    wrong = []
    for path, page in pages.items():
        here = path.relative_to(site)
        wrong += [f"{here} loads {address}" for address in page.loads]
        for link in page.links:
            target, _, anchor = unquote(link).partition("#")
            if re.match(r"\w+:", target) or path.name == "404.html":
                continue
            there = (path.parent / target).resolve() if target else path
            if not there.is_file():
                wrong.append(f"{here} links to {link}, which is not there")
            elif anchor and there in pages and anchor not in pages[there].names:
                wrong.append(f"{here} links to {link}, which has no such heading")
    for path in site.rglob("*.css"):
        wrong += [
            f"{path.name} loads {url}" for url in re.findall(r"url\([\"']?((?:https?:)?//[^)]*)\)", path.read_text())
        ]
    return wrong


def write_schemas(folder: Path) -> None:
    """The JSON Schema of each kind of document, in a file of its own."""
    from utmost.statements import DocumentKind, schema

    folder.mkdir()
    for kind in get_args(DocumentKind):
        text = json.dumps(schema(kind), indent=2) + "\n"
        (folder / f"{kind}.schema.json").write_text(text, encoding="utf-8")


def main() -> None:
    """Lay out, build, check; say what is wrong and end with 1."""
    lay_out()
    shutil.rmtree(SITE, ignore_errors=True)
    zensical = Path(sys.executable).with_name("zensical")
    if not zensical.exists():
        sys.exit("the site is built by zensical: run pip install --group docs first (pip 25.1 or later)")
    built = subprocess.run([zensical, "build", "--strict", "--clean"], cwd=ROOT, check=False)
    wrong = check(SITE) if built.returncode == 0 else []
    if built.returncode or wrong:
        sys.exit("\n".join(wrong) or "zensical found something wrong: see above")
    write_schemas(SITE / "schemas")
    sys.stdout.write(
        f"{len(list(SITE.rglob('*.html')))} pages, every link leads somewhere: {SITE.relative_to(ROOT)}/index.html\n"
    )


if __name__ == "__main__":
    main()

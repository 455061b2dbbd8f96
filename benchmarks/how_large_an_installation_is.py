"""What `pip install .` puts on a disk: MiB of each package of the core, as pip writes it, bytecode included.

Run in an environment where it is installed: python benchmarks/how_large_an_installation_is.py
"""

import re
from importlib.metadata import PackageNotFoundError, distribution


def closure(name, known):
    """The packages that one needs without extras, as far as they are installed."""
    try:
        package = distribution(name)
    except PackageNotFoundError:  # for another system
        return
    known[name] = package
    for need in package.requires or []:
        wanted = re.match(r"[A-Za-z0-9._-]+", need)[0].lower().replace("_", "-")
        if "extra ==" not in need and wanted not in known:
            closure(wanted, known)


def main():
    packages = {}
    closure("utmost", packages)
    sizes = {}
    for name, package in packages.items():
        places = {package.locate_file(part).resolve() for part in package.files or []}
        if name == "utmost" and not any("utmost" in place.parts for place in places):
            print("utmost is installed to be edited: its own files are not counted")
        sizes[name] = sum(place.stat().st_size for place in places if place.is_file()) / 2**20
    for name, size in sorted(sizes.items(), key=lambda item: -item[1]):
        print(f"{name:20} {packages[name].version:12} {size:6.1f} MiB")
    screen = sum(sizes.get(name, 0) for name in ("typer", "rich", "pygments", "markdown-it-py", "click", "mdurl"))
    print(f"in all {sum(sizes.values()):.0f} MiB, {screen:.0f} of them for the command line's screens")


if __name__ == "__main__":
    main()

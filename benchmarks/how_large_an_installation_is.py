"""What `pip install .` puts on a disk, without pip itself: MiB of each package, with the bytecode that pip makes.

Run in an environment where it is installed: python benchmarks/how_large_an_installation_is.py

By the lengths of the files that pip lists, in MiB of 2**20 bytes; the last line says the sum in MB of 10**6 as well.
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
    sizes, bytecode = {}, {}
    for name, package in packages.items():
        places = {package.locate_file(part).resolve() for part in package.files or []}
        if name == "utmost" and not any("utmost" in place.parts for place in places):
            print("utmost is installed to be edited: its own files are not counted")
        lengths = {place: place.stat().st_size for place in places if place.is_file()}
        sizes[name] = sum(lengths.values())
        bytecode[name] = sum(length for place, length in lengths.items() if place.suffix == ".pyc")
    for name, size in sorted(sizes.items(), key=lambda item: -item[1]):
        shown = f"{size / 2**20:6.1f} MiB, {bytecode[name] / 2**20:4.1f} of them bytecode"
        print(f"{name:20} {packages[name].version:12} {shown}")
    whole, compiled = sum(sizes.values()), sum(bytecode.values())
    print(f"in all {whole / 2**20:.0f} MiB = {whole / 1e6:.0f} MB, without bytecode {(whole - compiled) / 1e6:.0f} MB")


if __name__ == "__main__":
    main()

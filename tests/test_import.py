"""Importing: light, and without any optional package."""

from running import python

HEAVY = [
    "scipy", "pandas", "polars", "pyarrow", "narwhals", "matplotlib", "xlsxwriter", "openpyxl", "numba", "click",
]  # fmt: skip
EXTRA = ["duckdb", "pyspark", "psycopg", "fastapi", "uvicorn", "starlette", "jinja2", "prometheus_client", "jwt"]
EXTRA += ["multipart", "python_multipart", "httpx", "networkx", "hypothesis", "pydantic", "anyio", "xlsxwriter"]
CORE = f"""if True:
    import sys
    class Without:
        def __init__(self, finder):
            self.finder = finder
        def find_spec(self, name, path=None, target=None):
            missing = name.partition(".")[0] in {[*EXTRA, *HEAVY[:-1]]}
            return None if missing else self.finder.find_spec(name, path, target)
    sys.meta_path[:] = [Without(finder) for finder in sys.meta_path]
"""
"""A core install: for finders of modules, no package of an extra is there."""


def test_importing_the_package_imports_nothing_heavy():
    code = f"import sys, utmost; print([m for m in {HEAVY} if m in sys.modules])"
    assert python("-c", code).stdout.strip() == "[]"


def test_the_help_of_the_command_line_imports_nothing_heavy():
    light = [name for name in HEAVY if name != "click"]
    code = f"""if True:
        import sys
        from utmost.interfaces.cli import main as cli
        try:
            cli.main(["release", "--help"])
        except SystemExit:
            print([m for m in {light} if m in sys.modules])
    """
    assert python("-c", code).stdout.rstrip().endswith("[]")


def test_a_release_of_a_dict_needs_no_extra():
    code = f"""if True:
        import sys
        for name in {HEAVY}:
            sys.modules[name] = None
        import utmost as ut
        release = ut.release({{"n": [1, 2]}}, ut.Promise(columns="n", unit=ut.Unit(1, 1)), epsilon=100, once=True)
        print(release.table)
    """
    assert python("-c", code).stdout.strip() == "{'n': [1, 2], 'n_margin': [0, 0]}"


def test_a_release_of_a_column_loads_nothing_of_plans_and_counting():
    """They are 130 modules, which take about a third of the time of such a first release."""
    code = """if True:
        import sys
        import utmost as ut
        ut.release({"n": [1, 2]}, ut.Promise("n", unit=ut.Unit(1, 1)), epsilon=1).release.at(2)
        print([name for name in sys.modules if ".workloads" in name or name.endswith((".counted", ".noisy_sums"))])
    """
    assert python("-c", code).stdout == "[]\n"


def test_every_public_name_is_there_without_any_extra():
    """What needs one asks for it when it is called, by name; no room is shut for want of a library of another's."""
    code = f"""if True:
        import sys
        for name in {[*EXTRA, *HEAVY[:-1]]}:
            sys.modules[name] = None
        from importlib import import_module
        from pathlib import Path
        import utmost
        for name in utmost.__all__:
            getattr(utmost, name)
        for module in set(utmost._MODULES) - {{"interop", "service"}}:
            for name in dir(getattr(utmost, module)):
                getattr(getattr(utmost, module), name)
        bits = utmost.PrivacyType(utmost.spaces.hamming(3), alpha="1/2")
        type_ = utmost.PrivacyType(utmost.spaces.counts(2), alpha="1/2")
        shapes = utmost.geometry
        print(utmost.capacity(bits).value, len(shapes.vertices(type_)), len(shapes.kernels(type_)))
        import sys
        from utmost.__main__ import main
        sys.argv = ["utmost", "--help"]
        try:
            main()
        except SystemExit as ended:
            assert not ended.code
    """
    assert python("-c", code).stdout.split()[:3] == ["64/27", "4", "2"]


def test_a_core_install_can_be_looked_at_whole():
    """Help, a star import and hasattr loaded the service's client, and ended in pydantic that nobody has."""
    code = f"""{CORE}
    import pydoc
    from types import ModuleType
    import utmost
    from utmost import *
    seen = set()
    def walk(module):
        if module.__name__ not in seen:
            seen.add(module.__name__)
            assert len(pydoc.render_doc(module)) > 50
            for name in dir(module):
                assert hasattr(module, name), (module, name)
                value = getattr(module, name)
                if isinstance(value, ModuleType):
                    walk(value)
    walk(utmost)
    assert hasattr(utmost, "connect") and connect is utmost.connect
    try:
        connect("https://example.org", token="x")
    except utmost.errors.Unsupported as error:
        print(error)
    """
    told = python("-c", code).stdout
    assert told.startswith("connect needs the package ")
    assert 'pip install "utmost[server]"' in told


def test_the_command_line_needs_no_extra(tmp_path):
    """`pip install .` alone releases a CSV file, to standard output and to a file, and describes noise."""
    extras = [name for name in HEAVY if name != "click"]
    (tmp_path / "t.csv").write_text("n\n1\n2\n")
    promise = ["--columns", "n", "--epsilon", "100", "--sensitivity", "1", "--cells", "1", "--yes"]
    code = f"""if True:
        import sys
        for name in {extras}:
            sys.modules[name] = None
        from utmost.__main__ import main
        for arguments in (
            ["release", "t.csv", *{promise}],
            ["release", "t.csv", *{promise}, "--out", "out.csv"],
            ["noise", "--epsilon", "1", "--sensitivity", "5"],
            ["research", "compare", "--up-to", "2"],
        ):
            sys.argv = ["utmost", *arguments]
            try:
                main()
            except SystemExit as ended:
                assert not ended.code, arguments
            if arguments[0] == "release":
                assert not [name for name in sys.modules if name.endswith(".planning.plan")], "a table is no plan"
    """
    assert python("-c", code, cwd=tmp_path).stdout.startswith("n,n_margin\n1,0\n2,0\n")
    assert (tmp_path / "out.csv").read_text() == "n,n_margin\n1,0\n2,0\n"


def test_a_release_of_a_row_loads_few_modules(tmp_path):
    """Of its own, that is: what numpy, flint, cryptography and click load themselves goes with their versions."""
    (tmp_path / "t.csv").write_text("n\n5\n", encoding="utf-8")
    words = ["release", "t.csv", "--columns", "n", "--sensitivity", "1", "--cells", "1", "--epsilon", "1"]
    unread = "numpy.ma", "zipfile", "axes.domain", "frames.dataframes"
    code = f"""if True:
        import sys
        from utmost.__main__ import main
        sys.argv = ["utmost", *{[*words, "--out", "o.csv"]!r}]
        try:
            main()
        except SystemExit as ended:
            own = [name for name in sys.modules if name.partition(".")[0] == "utmost"]
            print(ended.code, [name for name in sys.modules if name.endswith({unread!r})], len(own) <= 134)
    """
    assert python("-c", code, cwd=tmp_path).stdout.split("\n")[-2] == "0 [] True"


def test_the_names_at_the_top_are_listed_and_sorted():
    import utmost

    assert utmost.__all__ == sorted(utmost.__all__)
    assert all(hasattr(utmost, name) for name in utmost.__all__)

"""Run the command line: find the command, print its errors, and end with an exit code.

Exit codes: 0 done; 1 refused because of the data or a promise; 2 misuse; 3 a ledger published other data; 4 the budget
of a dataset is too small; 130 interrupted.
"""

import errno
import gc
import inspect
import io
import json
import os
import re
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from functools import cache, partial
from importlib import import_module
from itertools import chain
from types import MappingProxyType
from typing import Any, NoReturn

import click

from utmost.errors import (
    AlreadyPublished,
    BudgetExceeded,
    DataChanged,
    NotALevel,
    NotANumber,
    OutOfRange,
    PrivacyWarning,
    Unsupported,
    UtmostError,
    WrongKind,
)
from utmost.interfaces.cli.options.option_kinds import GROUP, SHARED
from utmost.interfaces.cli.options.shared_options import NEEDED, explained_once, with_groups
from utmost.interfaces.cli.screens.control_characters import harmless
from utmost.interfaces.cli.screens.help_page import HelpContext
from utmost.interfaces.cli.screens.signals import on_signal
from utmost.interfaces.cli.screens.terminal import set_json_notes, write_note
from utmost.version import __version__

GROUPS = {
    "Publish": {
        "demo": "Count, release, read and verify a public table.",
        "init": "Write a recipe: everything about a release but the data.",
        "domain": "Check the declared values of columns, or propose them from a codebook.",
        "count": "Count events of people into a table, and prove what one person changes.",
        "bounds": "Compare bounds on the contributions of one person.",
        "plan": "Choose the sums to measure for the tables that you want.",
        "share": "Divide one privacy level among several measures.",
        "promise": "Write down what will be promised of a table.",
        "release": "Publish a table with the least noise that a privacy level allows.",
        "detail": "Release large groups in more detail than small ones.",
        "clean": "Round a release to whole numbers whose sums all agree.",
        "withhold": "Withhold small or unreliable cells of a release by a public rule.",
        "statement": "Print a statement in words; write it as a page or a registry entry.",
    },
    "Read": {
        "declare": "Add margins to a table that another tool released, by its declared noise.",
        "verify": "Check a published table against its statement.",
        "total": "Compute a sum, ratio or mean from a release, with its margin.",
        "read": "Read a release: cells, sums, ratios and best answers, with margins.",
    },
    "Keep": {
        "relax": "Publish a table again with less noise; both together cost the larger epsilon.",
        "view": "Make a noisier copy of a release for one recipient.",
        "ledger": "Create a ledger, check it, set its budgets, copy it.",
        "serve": "Serve a ledger over HTTP.",
        "trust": "Share a value in a network, at a separate epsilon for each member.",
    },
    "Design": {
        "noise": "Describe the least noise for one cell, and its margins.",
        "epsilon-for": "Find the least epsilon for a margin of error.",
        "design": "Find the best private mechanism for a prior and a loss.",
        "respond": "Draw private answers from a saved mechanism.",
        "export": "Write a saved mechanism as code for phones and pages.",
        "categories": "Collect one of k categories from clients who trust nobody.",
    },
    "Check": {
        "doctor": "Check this installation.",
    },
    "Study": {
        "research": "Compute what the papers prove: leakage, capacities, best mechanisms.",
    },
}
"""The commands by subject, with a sentence about each; a command's file is imported when the command is called."""

RESEARCH = {
    "Leakage": {
        "leakage": "Measure how much a channel leaks.",
        "refine": "Decide whether one channel is better than another for everyone.",
        "capacity": "Find the largest leakage of any mechanism at a level.",
    },
    "Best mechanisms": {
        "universal": "Decide whether one mechanism is best for a loss and all priors.",
        "minimax": "Find the best private mechanism for the worst secret, without a prior.",
        "policy": "Find the best mechanism if only some pairs of secrets are protected.",
        "databases": "Decide whether seeing the database beats seeing the count.",
    },
    "Noise": {
        "compare": "Plot the cost of Laplace noise divided by that of optimal noise, by epsilon.",
        "lossless": "Decide whether noise can be relaxed to a larger level without loss.",
        "words": "Choose the parameter of RAPPOR for an epsilon.",
    },
    "Geometry": {
        "vertices": "List or count the extreme posteriors at a level.",
        "kernels": "List or count the kernels at a level, whose mixtures are all mechanisms.",
    },
}
"""The commands of `utmost research` by subject, with a sentence about each."""

COMMANDS = {name: text for group in GROUPS.values() for name, text in group.items()}
"""Every command with its sentence, in the order of the help."""

RESEARCH_COMMANDS = {name: text for group in RESEARCH.values() for name, text in group.items()}
"""Every command of `utmost research` with its sentence."""

# By default Python searches circular garbage after 700 new objects; loading a command makes half a million objects.
_NEW_OBJECTS = 100_000

_STDIN, _STDOUT, _STDERR = 0, 1, 2

# Errors of other classes exit with 1, and wrong options, which click finds, with 2.
_CODES = (
    (DataChanged, 3),
    (BudgetExceeded, 4),
    ((NotALevel, NotANumber, OutOfRange, Unsupported, WrongKind), 2),
)
_MANNER: dict[str, Any] = {"context_settings": {"help_option_names": ["-h", "--help"]}}

_RESEARCH_HELP = (
    "Compute what papers prove about leakage, best mechanisms and the geometry of privacy; each result has a checked "
    "proof.\n\n"
    "Write the secrets as --space line:6, counts:5, grid:4x4, places:towns.csv, graph:roads.csv or "
    "distances:table.csv."
)


class _Parts(click.Group):
    """A command with subcommands; its help lists them with the first paragraph of the help of each."""

    context_class = HelpContext
    elsewhere: Mapping[str, str] = MappingProxyType({})

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.commands)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] in self.elsewhere:
            ctx.fail(f"No such command {args[0]!r}. Write {ctx.command_path} {self.elsewhere[args[0]]}.")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            firsts = ((name, (part.help or "").partition("\n\n")[0]) for name, part in self.commands.items())
            formatter.write_dl([(name, " ".join(first.split())) for name, first in firsts])


@contextmanager
def _escaping_errors() -> Iterator[None]:
    """Escape control characters in an error of click, because it may quote the name of a file."""
    try:
        yield
    except click.ClickException as error:
        object.__setattr__(error, "message", harmless(error.message))
        raise


class _Commands(_Parts):
    """Commands by name, each imported only when it is called, so that the help is fast."""

    def __init__(self, sections: dict[str, dict[str, str]], path: tuple[str, ...] = (), **manner: Any) -> None:
        super().__init__(**manner)
        self._sections, self._path = sections, path
        self._texts = {name: text for section in sections.values() for name, text in section.items()}
        self.commands: dict[str, Any] = dict.fromkeys(self._texts)  # the names, for suggestions

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        with _escaping_errors():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: Any) -> Any:
        with _escaping_errors():
            return super().invoke(ctx)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return command_named(*self._path, cmd_name) if cmd_name in self._texts else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if not self._path and args[0] in RESEARCH_COMMANDS:
            ctx.fail(f"No such command {args[0]!r}. Write utmost research {args[0]}.")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        for title, commands in self._sections.items():
            with formatter.section(title):
                formatter.write_dl(list(commands.items()))
        if not self._path:
            with formatter.section(SHARED):
                records = (option.get_help_record(ctx) for option in explained_once())
                formatter.write_dl([record for record in records if record is not None])

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        from click.shell_completion import CompletionItem

        named = [CompletionItem(name, help=text) for name, text in self._texts.items() if name.startswith(incomplete)]
        return named + click.Command.shell_complete(self, ctx, incomplete)


class _Command(click.Command):
    """A command whose help shows its options in groups: the first ones, then named groups, then the others."""

    # `elsewhere` has advice for options of other commands that people write here, `instead` for an argument. `rare` are
    # options that the help only names. `as_in` has such options by the command whose help explains them. `recipe_keys`
    # are options that only a recipe can have.

    context_class = HelpContext
    elsewhere: Mapping[str, str] = MappingProxyType({})
    instead: str = ""
    rare: Collection[str] = ()
    as_in: Mapping[str, Collection[str]] = MappingProxyType({})
    recipe_keys: Collection[click.Option] = ()

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        _, _, written = self.make_parser(ctx).parse_args(args=list(args))
        for option, times in Counter(written).items():
            if times > 1 and isinstance(option, click.Option) and not (option.multiple or option.is_flag):
                remedy = "Write the option once; or run the command once for each value."
                raise click.UsageError(f"{option.opts[-1]} must be written once; got {times} times. {remedy}", ctx)
        rest = super().parse_args(ctx, args)
        recipe = ctx.default_map or {}
        keys = {str(key.name): key for key in self.recipe_keys}
        ctx.params |= {name: keys[name].process_value(ctx, recipe[name]) for name in keys.keys() & recipe.keys()}
        return rest

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        words = list(args)  # click removes words from the list
        try:
            return super().make_context(info_name, args, parent, **extra)
        except click.NoSuchOption as error:
            home = self.elsewhere.get(error.option_name)
            for key in self.recipe_keys:
                if key.opts[-1] == error.option_name:
                    from utmost.interfaces.cli.options.recipe_options import key_remedy

                    home = key_remedy(key, words)
            if home is None:
                near = get_close_matches(error.option_name, error.possibilities or (), 1)
                raise click.NoSuchOption(error.option_name, possibilities=near, ctx=error.ctx) from None
            message = f"No such option {error.option_name!r}. {home}"
            raise click.NoSuchOption(error.option_name, message, ctx=error.ctx) from None
        except click.UsageError as error:
            if "unexpected extra argument" in error.message:
                remedy = "Run the command once for each file; or join files of events in a pipe: -."
                flag = self._flag_before(error.message, words)
                if flag is not None:
                    remedy = f"{flag} takes no value: leave the value out."
                elif not any(isinstance(parameter, click.Argument) for parameter in self.params):
                    path = error.ctx.command_path if error.ctx is not None else f"utmost {self.name}"
                    remedy = self.instead or f"{path} reads no table: leave the argument out."
                object.__setattr__(error, "message", f"{error.message}. {remedy}")
            raise

    def _flag_before(self, message: str, words: Sequence[str]) -> str | None:
        """Return the option without a value that precedes the unexpected word in an error message; None without such
        an option.
        """
        extra = re.search(r"\((.*)\)", message)
        unexpected = extra[1] if extra else ""  # several words, which may contain blanks, with a blank between them
        places = [at for at, word in enumerate(words) if word and f"{unexpected} ".startswith(f"{word} ")]
        before = words[places[0] - 1] if places and places[0] else None
        flags = {name for each in self.params if isinstance(each, click.Option) and each.is_flag for name in each.opts}
        return before if before in flags else None

    def get_help_option(self, ctx: Any) -> Any:
        option = super().get_help_option(ctx)
        if option is not None:
            option.hidden = True  # whoever reads this help knows --help already
        return option

    def format_arguments(self, ctx: Any, formatter: Any) -> None:
        """Write nothing: `format_options` writes the arguments, too."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        groups: dict[str, list[tuple[str, str]]] = {"Arguments": [], NEEDED: []}
        others: list[tuple[str, str]] = []
        has_recipe = any("--recipe" in parameter.opts for parameter in self.get_params(ctx))
        only_named = {*self.rare, *chain.from_iterable(self.as_in.values())}
        for parameter in self.get_params(ctx):
            title = "Arguments" if isinstance(parameter, click.Argument) else getattr(parameter, GROUP, None)
            record = parameter.get_help_record(ctx)
            if record is not None and has_recipe:
                record = record[0], record[1].replace("[required]", "[required, here or in the recipe]")
            if record is not None and only_named.isdisjoint(parameter.opts):
                (others if title is None else groups.setdefault(title, [])).append(record)
        is_one_group = len(groups) == 2 and not groups[NEEDED]
        shared = groups.pop(SHARED, [])
        for title, records in (groups | {"Options" if is_one_group else "Other options": others}).items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)
        elsewhere = {f"Also ({command} --help)": names for command, names in self.as_in.items()}
        names = [re.split("[ ,]", name, maxsplit=1)[0] for name, _ in shared]
        if named := [name for name in names if name != "--json"]:  # `utmost --help` says who has --json
            elsewhere["Also (utmost --help)"] = named
        if self.recipe_keys:
            elsewhere["In a recipe"] = [key.opts[-1].removeprefix("--") for key in self.recipe_keys]
        if self.rare:
            elsewhere["Rare (docs/reference/cli.md)"] = self.rare
        for title, listed in elsewhere.items():
            formatter.write_paragraph()
            formatter.write_text(f"{title}: {', '.join(listed)}.")


@cache
def command_named(*path: str) -> click.Command:
    """Import and return a command by its words, such as "release", or "research" and "capacity"."""
    # The file has one function with the command's name, or ``PARTS`` with a function for each subcommand.
    name = path[-1]
    if path == ("research",):
        return _Commands(RESEARCH, path, name=name, no_args_is_help=True, help=_RESEARCH_HELP, **_MANNER)
    word = name.replace("-", "_")
    module = import_module(f"utmost.interfaces.cli.commands.{'.'.join((*path[:-1], word))}_command")
    first, parts = getattr(module, "FIRST", ()), getattr(module, "PARTS", None)
    if parts is None:
        command = command_of(name, getattr(module, word), first)
        command.elsewhere = getattr(module, "ELSEWHERE", {})
        command.instead = getattr(module, "INSTEAD", "")
        command.rare, command.as_in = getattr(module, "RARE", ()), getattr(module, "AS_IN", {})
        in_recipe: Collection[str] = getattr(module, "IN_RECIPE", ())
        options = [each for each in command.params if isinstance(each, click.Option)]
        command.recipe_keys = [each for each in options if each.opts[-1] in in_recipe]
        command.params = [each for each in command.params if each.opts[-1] not in in_recipe]
        return command
    group = _Parts(name, no_args_is_help=True, help=COMMANDS[name], **_MANNER)
    group.elsewhere = getattr(module, "ELSEWHERE", {})
    for part in parts:
        group.add_command(command_of(part.__name__, part, first))
    return group


def every_command() -> Iterator[tuple[str, click.Command]]:
    """Yield each command after its words: ``"release"``, ``"ledger status"``, ``"research capacity"``."""
    for name in COMMANDS:
        command = command_named(name)
        if not isinstance(command, click.Group):
            yield name, command
            continue
        for part in command.commands:
            yield f"{name} {part}", command_named(name, part) if name == "research" else command.commands[part]


def command_of(name: str, function: Callable[..., None], first: Collection[str]) -> _Command:
    """Return the command of a function: its arguments are the options, its docstring is the help."""
    call, parameters = with_groups(function, first)
    return _Command(name, callback=call, params=parameters, help=inspect.cleandoc(function.__doc__ or ""), **_MANNER)


def _first(name: str, help: str, **more: Any) -> click.Option:
    """Return an option of `utmost` itself, such as --version, which prints and ends."""

    def print_and_exit(ctx: Any, option: Any, value: Any) -> None:
        if not value or ctx.resilient_parsing:
            return
        if option.name == "version":
            click.echo(f"utmost {__version__}")
        else:
            from utmost.interfaces.cli.completion import completion_script, install_completion

            shown = completion_script if option.name == "show_completion" else install_completion
            click.echo(shown(app, value))
        ctx.exit()

    return click.Option([name], is_eager=True, expose_value=False, callback=print_and_exit, help=help, **more)


_SHELL: dict[str, Any] = {"is_flag": False, "flag_value": "this", "metavar": "[SHELL]"}
app = _Commands(
    GROUPS,
    no_args_is_help=True,
    callback=lambda: None,
    params=[
        _first("--version", "Print the version.", is_flag=True),
        _first("--install-completion", "Install completion for this shell, or another.", **_SHELL),
        _first("--show-completion", "Print the completion script.", **_SHELL),
    ],
    help="Publish tables, counts and places with differential privacy, with a margin of error for each figure.\n\n"
    "A level is written 1, ln2 or alpha=1/2. A table is .csv, .tsv, .jsonl (also .csv.gz, .zip, .bz2, .xz), .json "
    "records, .feather, .parquet or .xlsx (book.xlsx#Sheet). The file - is the pipe. Files with other content are "
    "never replaced. Exit codes: 0 done, 1 refused by the data, 2 misuse, 3 a ledger published other data, 4 the "
    "budget is spent, 130 interrupted.",
    **_MANNER,
)


def main(arguments: list[str] | None = None, program: click.Command = app) -> None:
    """Run the command line, or another program of this repository, and end the process with its exit code."""
    gc.set_threshold(_NEW_OBJECTS)
    words = sys.argv[1:] if arguments is None else arguments
    fail = partial(_fail, as_json="--json" in words)
    set_json_notes("--json" in words)
    if sys.stdout is None or sys.stdout.closed:  # the answer could not be written
        _fail("standard output must be open", 2, OSError)
    if sys.stderr is None or sys.stderr.closed:  # only warnings and notes are lost: the command goes on
        sys.stderr = io.StringIO()
    _keep_for_answers()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # characters that the stream cannot encode
    if any("\0" in word for word in words):
        fail("an argument must not hold a NUL character", 2, click.UsageError)
    keys: list[str] = []  # the options of this command that only a recipe can have

    def show_warning(message: Warning | str, *category_and_place: Any, **line: Any) -> None:
        from utmost.interfaces.cli.option_words import text_in_options

        write_note(text_in_options(str(message), keys), "warning")

    # SIGTERM, like Ctrl-C, lets a command remove its half-written files.
    ended_in_order = on_signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with ended_in_order, warnings.catch_warnings():
        warnings.simplefilter("always", PrivacyWarning)
        try:
            if words and words[0] in COMMANDS:
                recipe_keys = getattr(command_named(words[0]), "recipe_keys", ())
                keys += [key.opts[-1].removeprefix("--") for key in recipe_keys]
            warnings.showwarning = show_warning
            try:
                code = program(args=arguments, prog_name=program.name or "utmost", standalone_mode=False)
                sys.exit(code if isinstance(code, int) else 0)
            except SystemExit:
                sys.stdout.flush()  # an error of a full disk may come only now
                raise
        except UtmostError as error:
            code = next((code for kinds, code in _CODES if isinstance(error, kinds)), 1)  # exit code 1 unless listed
            from utmost.interfaces.cli.option_words import message_and_remedy

            message, remedy = message_and_remedy(error, keys)
            fail(message, code, type(error), remedy, *_notes(error, keys))
        except BrokenPipeError as error:
            _silence()
            fail("standard output was closed before everything was written", 1, type(error))
        except OSError as error:
            _silence()
            message = f"{error.filename or 'output'}: {error.strerror or error}"
            fail(message, 1, type(error), _MENDS.get(error.errno or 0), *_notes(error))
        except MemoryError as error:
            fail("the result must fit into memory", 1, type(error), "Compute a smaller result.")
        except click.ClickException as error:
            if "--json" in words:
                fail(error.format_message(), error.exit_code, type(error))
            error.show()
            sys.exit(error.exit_code)
        except click.Abort as error:  # Ctrl-C (exit code 130), or the end of the input at a question
            is_pressed = isinstance(error.__cause__, KeyboardInterrupt)
            fail("interrupted", 128 + signal.SIGINT if is_pressed else 1, KeyboardInterrupt)
        except KeyboardInterrupt:  # Ctrl-C while the command's file was loaded
            fail("interrupted", 128 + signal.SIGINT, KeyboardInterrupt)


_MENDS = {
    errno.ENOENT: "Correct the name.",
    errno.EACCES: "Name a file or folder that you may read and write.",
    errno.EROFS: "Name a file or folder that you may write.",
    errno.ENOSPC: "Free some space, or name a file on another disk.",
}


def _notes(error: Exception, keys: Collection[str] = ()) -> list[str]:
    """Return the notes of an error, and the confidential facts that only the holder of the ledger's key gets."""
    known_as = error.known_as if isinstance(error, AlreadyPublished) else None
    from utmost.interfaces.cli.option_words import text_in_options

    notes = [text_in_options(note, keys) for note in getattr(error, "__notes__", ())]
    return [*notes, *([] if known_as is None else [f"Confidential: {known_as}."])]


def _keep_for_answers() -> None:
    """Keep standard output for the answers of a command: output of libraries goes to standard error."""
    # Libraries print to file descriptor 1, some of them from a C buffer when the process ends, so the redirection is
    # never undone. A stream that somebody put in the place of `sys.stdout` stays.
    stream = sys.stdout
    with suppress(OSError, ValueError):
        if not isinstance(stream, io.TextIOWrapper) or stream is not sys.__stdout__ or stream.fileno() != _STDOUT:
            return
        for number in (_STDIN, _STDERR):
            try:
                os.fstat(number)
            except OSError:  # the descriptor is closed, and the next opened file would get its number
                os.open(os.devnull, os.O_RDWR)
        stream.flush()
        own = os.dup(_STDOUT)
        os.dup2(_STDERR, _STDOUT)
        sys.stdout = sys.__stdout__ = io.TextIOWrapper(  # type: ignore[misc]
            os.fdopen(own, "wb", -1 if isinstance(stream.buffer, io.BufferedWriter) else 0),  # 0 with `python -u`
            encoding=stream.encoding,
            errors=stream.errors,
            line_buffering=stream.line_buffering,
            write_through=stream.write_through,
        )


def _silence() -> None:
    """Discard output that a closed pipe or a full disk refuses, so that Python does not fail when it exits."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, code: int, kind: type[BaseException], *remedies: str | None, as_json: bool = False) -> NoReturn:
    """Write an error in one line to standard error, as JSON for programs, and end with the exit code."""
    remedy = " ".join(filter(None, remedies))
    line = f"utmost: {message if not remedy or message.endswith('.') else f'{message}.'} {remedy}".rstrip()
    if as_json:
        error = {"error": kind.__name__, "message": message, "remedy": remedy or None, "exit_code": code}
        line = json.dumps(error, ensure_ascii=False)
    with suppress(AttributeError, OSError, ValueError):
        sys.stderr.write(f"{harmless(line)}\n")
    sys.exit(code)

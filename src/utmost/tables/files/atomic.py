"""Write several files so that all of them appear, or none."""

import errno
import glob
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import BinaryIO

from utmost.core.exact.disk import force
from utmost.errors import Unsupported

try:
    import fcntl
except ImportError:  # this module does not exist on Windows
    fcntl = None  # type: ignore[assignment]

Writer = Callable[[BinaryIO], object]
"""A function that writes the content of one file to an open file, and may read that file."""


_NAME = 200
"""The length in bytes of a name that is short enough for every file system, even with the endings of a statement, a
signature and temporary files.
"""

_REFUSED = (errno.ENAMETOOLONG, errno.ENOENT, errno.EACCES, errno.EPERM, errno.EROFS)
"""Errors that mean that a file of this name can never be created in the folder."""

_DRAWN_AGAIN = "Another run publishes new noise and spends epsilon a second time."


def check_absent(path: Path, *, draws: bool = False) -> None:
    """Check that no file has this path, and that a file can be created there. With ``draws``, the error also says that
    another run would draw new noise.
    """
    _check_unused(path, draws=draws)
    _check_can_be_made(path)


def _check_unused(path: Path, *, draws: bool = False) -> None:
    """Refuse to overwrite an existing file, and propose a free name; `overwrite=True` calls `_check_replaceable`."""
    _check_folder(path.parent)
    if os.path.lexists(path):
        raise Unsupported(
            "no existing file is overwritten",
            came="a folder that exists" if path.is_dir() else "a file that exists",
            where=str(path),
            remedy=f"Choose another name, such as {_free_name(path).name}." + (f" {_DRAWN_AGAIN}" if draws else ""),
        )


def _free_name(path: Path) -> Path:
    return next(name for number in count(2) if not os.path.lexists(name := path.with_stem(f"{path.stem}-{number}")))


def check_absent_in(folder: Path, names: Iterable[Path]) -> None:
    """Check that none of these files of a folder exists; the error proposes another folder."""
    taken = next(filter(os.path.lexists, names), None)
    if taken is not None:
        raise Unsupported(
            "no existing file is overwritten",
            came="a file that exists",
            where=str(taken),
            remedy=f"Choose another folder, such as {_free_name(folder)}.",
        )


def write_together(writers: Mapping[Path, Writer], *, owner_only: bool = False, overwrite: bool = False) -> None:
    """Write every file under a temporary name, force it to the disk, and then rename all files in reverse order."""
    # After a failure at any point no new file exists under its name, and with ``overwrite`` the earlier files are
    # restored. After a power cut between two renamings only the last files exist, so a file that explains the others is
    # put last. A killed process leaves its temporary files, ``.NAME.xxxxxxxx.part``, which the next process that writes
    # the same names removes.
    temporaries: dict[Path, Path] = {}
    locks: list[int] = []
    named: list[Path] = []
    before: dict[Path, Path] = {}
    umask = os.umask(0)  # Python can read the umask only by setting it
    os.umask(umask)
    try:
        for path, writer in writers.items():
            _check_replaceable(path) if overwrite else _check_unused(path)
            _remove_abandoned(path)
            temporaries[path] = _write_temporary(path, writer, 0o600 if owner_only else 0o666 & ~umask, locks)
        for path, temporary in reversed(temporaries.items()):
            # This is checked again: writing may have taken hours, and another program may have used the name meanwhile.
            _check_replaceable(path) if overwrite else _check_unused(path)
            if path.exists():
                before[path] = _backup_copy(path)
            os.replace(temporary, path)  # renaming is atomic: no incomplete file ever has this name
            named.append(path)
    except BaseException:
        for path in (*named, *temporaries.values()):
            path.unlink(missing_ok=True)
        for path, saved in before.items():
            os.replace(saved, path)
        raise
    finally:
        for lock in locks:
            os.close(lock)
    for saved in before.values():
        saved.unlink(missing_ok=True)
    # Forcing the folder to the disk makes the names permanent. The content was forced before the renaming.
    for directory in {path.parent for path in writers}:
        force(directory)


def check_free_name(path: Path, *, overwrite: bool, draws: bool = False) -> None:
    """Check that a file may be written here: no file has this path, or ``overwrite`` is True and the existing file can
    be replaced.
    """
    if not overwrite:
        return check_absent(path, draws=draws)
    _check_replaceable(path)
    _check_can_be_made(path)


def _check_replaceable(path: Path) -> None:
    _check_folder(path.parent)
    if os.path.lexists(path) and (path.is_symlink() or not path.is_file()):
        raise Unsupported(
            "only a regular file can be overwritten", came="a path that is no regular file", where=str(path)
        )


def _check_folder(folder: Path) -> None:
    """Check, before any noise is drawn, that the folder exists and is writable."""
    if not folder.is_dir():
        remedy = "Create the folder first."
        raise Unsupported("a file must go into an existing folder", where=str(folder), remedy=remedy)
    if not os.access(folder, os.W_OK | os.X_OK):
        where = str(folder.absolute() if folder == Path() else folder)
        remedy = "Choose a folder in which you may write."
        raise Unsupported(
            "a file must go into a folder in which you may write",
            came="a folder without that permission",
            where=where,
            remedy=remedy,
        )


def _check_can_be_made(path: Path) -> None:
    """Check, before any noise is drawn, that a file of this name can be created in the folder, by creating its
    temporary file.
    """
    try:
        descriptor, name = _new_temporary(path, ".part")
    except OSError as error:
        if error.errno not in _REFUSED:  # for example because the disk is full
            raise
        is_long = error.errno == errno.ENAMETOOLONG
        raise Unsupported(
            "a file must have a name and a folder in which it can be written",
            came=f"a name of {len(os.fsencode(path.name))} bytes" if is_long else error.strerror,
            where=str(path),
            remedy=f"Choose a name of at most {_NAME} bytes." if is_long else "Choose another folder.",
        ) from None
    os.close(descriptor)
    Path(name).unlink(missing_ok=True)  # another process may have removed it as abandoned


def _backup_copy(path: Path) -> Path:
    """Copy the file to a temporary name, from which it can be restored."""
    descriptor, name = _new_temporary(path, ".before")
    os.close(descriptor)
    try:
        shutil.copy2(path, name)
    except BaseException:
        os.unlink(name)
        raise
    return Path(name)


def _write_temporary(path: Path, writer: Writer, mode: int, locks: list[int]) -> Path:
    """Write a temporary file, locked by a descriptor in ``locks`` until it has its final name."""
    descriptor, name = _new_temporary(path, ".part")
    while fcntl is not None:
        locks.append(os.dup(descriptor))
        with suppress(OSError):  # a file system without locks: there, no file is considered abandoned
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(descriptor).st_nlink:
            break
        os.close(descriptor)  # another process considered the file abandoned before it was locked
        descriptor, name = _new_temporary(path, ".part")
    try:
        with os.fdopen(descriptor, "w+b") as file:
            writer(file)
            file.flush()
            os.fsync(file.fileno())
        # Files made by `mkstemp` can be read only by their owner. The final mode is set when the content is complete.
        os.chmod(name, mode)
    except BaseException as error:
        os.unlink(name)
        if isinstance(error, OSError) and error.filename is None:
            error.filename = str(path)
        raise
    return Path(name)


def _remove_abandoned(path: Path) -> None:
    """Remove the temporary files of killed processes that wrote this file. No process has a lock on these files."""
    for left in path.parent.glob(f".{glob.escape(path.name)}.????????.part") if fcntl is not None else ():
        with suppress(OSError):  # the file is locked, was removed, or belongs to another user
            descriptor = os.open(left, os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                left.unlink()
            finally:
                os.close(descriptor)


def _new_temporary(path: Path, suffix: str) -> tuple[int, str]:
    """Create a temporary file in the folder of ``path``. Errors name ``path``."""
    try:
        return tempfile.mkstemp(prefix=f".{path.name}.", suffix=suffix, dir=path.parent)
    except OSError as error:
        error.filename = str(path)
        raise

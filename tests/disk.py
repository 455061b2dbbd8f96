"""A disk under SQLite that can be watched, made to fail, and cut off from power: a VFS over the default one.

It is registered with the very library that Python's sqlite3 module uses, so that the code under test is as it ships.
Every write, truncation, sync and deletion passes through `Disk.before`, which may note it, let the process die, or
return an error of SQLite's; and whoever waits for a lock waits in `Disk.sleep`.
"""

import ctypes
import os
import random
import sqlite3
from contextlib import contextmanager
from ctypes import CFUNCTYPE, Structure, byref, c_char_p, c_int, c_int64, c_void_p, cast, sizeof
from ctypes.util import find_library
from functools import cache
from pathlib import Path
from typing import NamedTuple

# Idle connections hold files of the disk open.
from utmost.publish.ledger.sqlite_store import forget_idle

IO_ERROR_WRITE, IO_ERROR_SYNC, IO_ERROR_DELETE, FULL = 10 | 3 << 8, 10 | 4 << 8, 10 | 10 << 8, 13
_CREATE, _MAIN, _MAIN_JOURNAL = 0x4, 0x100, 0x800
SECTOR = 512


class Operation(NamedTuple):
    """What is about to happen to a file: kind is open, write, truncate, sync or delete."""

    kind: str
    path: str
    at: int = 0
    data: bytes = b""
    directory: bool = False


_OPEN = CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_int, c_void_p)
_DELETE = CFUNCTYPE(c_int, c_void_p, c_char_p, c_int)
_CLOSE = CFUNCTYPE(c_int, c_void_p)
_WRITE = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int, c_int64)
_TRUNCATE = CFUNCTYPE(c_int, c_void_p, c_int64)
_SYNC = CFUNCTYPE(c_int, c_void_p, c_int)
_SLEEP = CFUNCTYPE(c_int, c_void_p, c_int)


class _Vfs(Structure):
    _fields_ = (
        ("version", c_int), ("file_size", c_int), ("longest_path", c_int), ("next", c_void_p), ("name", c_char_p),
        ("data", c_void_p), ("open", c_void_p), ("delete", c_void_p), ("between", c_void_p * 7), ("sleep", c_void_p),
        ("others", c_void_p * 6),
    )  # fmt: skip


class _Methods(Structure):
    _fields_ = (
        ("version", c_int), ("close", c_void_p), ("read", c_void_p), ("write", c_void_p), ("truncate", c_void_p),
        ("sync", c_void_p), ("others", c_void_p * 13),
    )  # fmt: skip


@cache
def library():
    """The SQLite that the sqlite3 module is linked with, or None where it is not a shared one."""
    for name in ("libsqlite3.so.0", find_library("sqlite3")):
        try:
            found = ctypes.CDLL(name)
        except (OSError, TypeError):
            continue
        found.sqlite3_sourceid.restype = c_char_p
        ours = sqlite3.connect(":memory:").execute("select sqlite_source_id()").fetchone()[0]
        if found.sqlite3_sourceid().decode() == ours:
            return found
    return None


# A connection may be closed long after its test, by the garbage collector: its disk must still be there.
_disks = []


class Disk:
    """The default VFS while in use.

    Args:
        before: called with each operation; 0 or None lets it happen, an error code of SQLite refuses it.
        sleep: called with the microseconds that SQLite waits for a lock; the clock of the machine if left out.
    """

    def __init__(self, before, sleep=None):
        _disks.append(self)
        self.before = before
        self._paths, self._methods, self._kept = {}, {}, []
        self._library = library()
        self._library.sqlite3_vfs_find.restype = c_void_p
        base = self._library.sqlite3_vfs_find(None)
        self._base = _Vfs.from_address(base)
        self._vfs = _Vfs.from_buffer_copy(self._base)
        self._vfs.name, self._vfs.next = b"watched-%d" % id(self), None
        self._base_open, self._base_delete = _OPEN(self._base.open), _DELETE(self._base.delete)
        self._vfs.open, self._vfs.delete = self._pointer(_OPEN, self._open), self._pointer(_DELETE, self._delete)
        if sleep is not None:
            self._vfs.sleep = self._pointer(_SLEEP, lambda vfs, microseconds: sleep(microseconds) or microseconds)

    def __enter__(self):
        forget_idle()  # connections that wait were opened on another disk
        assert self._library.sqlite3_vfs_register(byref(self._vfs), 1) == 0
        return self

    def __exit__(self, *_):
        forget_idle()
        self._library.sqlite3_vfs_register(byref(self._base), 1)
        self._library.sqlite3_vfs_unregister(byref(self._vfs))

    def _pointer(self, kind, function):
        callback = kind(function)
        self._kept.append(callback)
        return cast(callback, c_void_p).value

    def _open(self, vfs, name, file, flags, out):
        path = cast(name, c_char_p).value.decode() if name else ""
        # A ledger makes its own files, empty, before SQLite opens them.
        new = bool(path) and (not os.path.exists(path) or (flags & _MAIN and not os.path.getsize(path)))
        if new and (code := self.before(Operation("open", path, directory=bool(flags & _MAIN_JOURNAL)))):
            return code
        code = self._base_open(vfs, name, file, flags, out)
        first = c_void_p.from_address(file)
        if code == 0 and first.value and path:
            # As the default VFS has it: a journal that may be made is synced with its folder, made or found.
            self._paths[file] = [path, bool(flags & _MAIN_JOURNAL and flags & _CREATE)]
            first.value = self._watched(first.value)
        return code

    def _watched(self, address):
        """Methods that pass through here, made once for each kind of file."""
        if address not in self._methods:
            base = _Methods.from_address(address)
            ours = _Methods()
            # Older versions of the table are shorter; the default VFS has the newest.
            ctypes.memmove(byref(ours), address, sizeof(_Methods))
            write, truncate, sync, close = (
                kind(at)
                for kind, at in zip(
                    (_WRITE, _TRUNCATE, _SYNC, _CLOSE), (base.write, base.truncate, base.sync, base.close), strict=True
                )
            )
            ours.write = self._pointer(_WRITE, lambda f, d, n, at: self._write(write, f, d, n, at))
            ours.truncate = self._pointer(_TRUNCATE, lambda f, size: self._truncate(truncate, f, size))
            ours.sync = self._pointer(_SYNC, lambda f, flags: self._sync(sync, f, flags))
            ours.close = self._pointer(_CLOSE, lambda f: self._close(close, f))
            self._methods[address] = ours
        return ctypes.addressof(self._methods[address])

    def _write(self, base, file, data, size, at):
        operation = Operation("write", self._paths[file][0], at, ctypes.string_at(data, size))
        return self.before(operation) or base(file, data, size, at)

    def _truncate(self, base, file, size):
        return self.before(Operation("truncate", self._paths[file][0], size)) or base(file, size)

    def _sync(self, base, file, flags):
        path, new_journal = self._paths[file]
        self._paths[file][1] = False
        return self.before(Operation("sync", path, directory=new_journal)) or base(file, flags)

    def _close(self, base, file):
        self._paths.pop(file, None)
        return base(file)

    def _delete(self, vfs, name, synced):
        operation = Operation("delete", name.decode(), directory=bool(synced))
        return self.before(operation) or self._base_delete(vfs, name, synced)


@contextmanager
def recording(operations):
    """Everything that happens to the disk, in order, appended to a list."""

    def note(operation):
        operations.append(operation)
        return 0

    with Disk(note):
        yield


class Medium:
    """What is on a disk for good, and what waits in a cache.

    Args:
        files: what is there for good when it begins, by path.
    """

    def __init__(self, files=()):
        self._files, self._waiting, self._moved = dict(files), {}, []
        self._entries = dict.fromkeys(self._files, True)

    def note(self, operation):
        """One operation more."""
        path = operation.path
        if operation.kind == "open":
            self._files[path] = b""
            self._waiting.pop(path, None)
            self._moved.append((path, True))
        elif operation.kind in ("write", "truncate"):
            self._waiting.setdefault(path, []).append(operation)
        elif operation.kind == "sync":
            self._files[path] = _applied(self._files.get(path, b""), self._waiting.pop(path, []))
        else:
            self._moved.append((path, False))
        if operation.directory and operation.kind in ("sync", "delete"):
            folder = os.path.dirname(path)
            self._entries.update(moved for moved in self._moved if os.path.dirname(moved[0]) == folder)
            self._moved = [moved for moved in self._moved if os.path.dirname(moved[0]) != folder]

    def after_power_cut(self, coin):
        """The files, by path, as a power cut may leave them now.

        What was synced is there. Of what was not, each sector of each write, each truncation and each creation or
        deletion of a file has happened or not, as a coin decides; the order between two syncs is not kept. A sync of a
        folder keeps what happened in it.
        """
        entries = self._entries | {path: exists for path, exists in self._moved if coin.random() < 0.5}
        return {
            path: _applied(self._files[path], self._waiting.get(path, []), lambda: coin.random() < 0.5)
            for path, exists in entries.items()
            if exists
        }


def after_power_cut(operations, seed, into: Path):
    """Write files into a folder as a power cut after these operations may leave them."""
    medium = Medium()
    for operation in operations:
        medium.note(operation)
    for path, content in medium.after_power_cut(random.Random(seed)).items():
        (into / Path(path).name).write_bytes(content)


def _applied(content, operations, happens=None):
    """A file after writes and truncations; sector by sector, as a coin decides, where there is one."""
    whole = bytearray(content)
    for operation in operations:
        if operation.kind == "truncate":
            if happens is None or happens():
                whole[operation.at :] = bytes(max(0, operation.at - len(whole)))
            continue
        start, end = operation.at, operation.at + len(operation.data)
        while start < end:
            stop = end if happens is None else min(end, (start // SECTOR + 1) * SECTOR)
            if happens is None or happens():
                whole.extend(bytes(max(0, stop - len(whole))))
                whole[start:stop] = operation.data[start - operation.at : stop - operation.at]
            start = stop
    return bytes(whole)

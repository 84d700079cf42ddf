"""The C library ``libpacman.so``, by ctypes. ``pacman.h`` documents its functions."""

from __future__ import annotations

import ctypes
import os
import shutil
from functools import lru_cache
from pathlib import Path
from typing import List

from .errors import CounterError

#: The ABI of pacman.h that this module is written for: major 0, minor 3.
ABI = (0 << 16) | 3

FORMAT_JSON = 2

E_CONFLICT = -8
E_NOT_ATTACHED = -9
E_FORKED = -13
E_NO_PMU = -16
E_NOT_SCHEDULED = -17
E_PERMISSION = -18
E_SYSTEM = -21
E_UNSUPPORTED = -24

MULTIPLEXED = 1
ROTATE = {"per-execution": 2, "staggered": 4}
TRUST_DRIVER = 8


class Options(ctypes.Structure):
    """``pacman_options``."""

    _fields_ = [
        ("size", ctypes.c_uint32),
        ("abi", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("clock", ctypes.c_uint32),
        ("log_samples", ctypes.c_uint64),
        ("name", ctypes.c_char_p),
        ("events", ctypes.c_char_p),
        ("placement", ctypes.c_char_p),
        ("reserved", ctypes.c_void_p * 5),
    ]


class PhaseHandle(ctypes.Structure):
    """``pacman_phase``."""

    _fields_ = [("id", ctypes.c_uint64)]


class Library:
    """The functions of a loaded library."""

    def __init__(self, path: str) -> None:
        #: What was loaded.
        self.path = path
        library = ctypes.CDLL(path)
        # These two do not wait, so they keep the GIL: to take it again would count into the phase.
        at_once = ctypes.PyDLL(path)
        session, word = ctypes.c_void_p, ctypes.c_int
        self.begin = at_once.pacman_begin
        self.end = at_once.pacman_end
        for function in (self.begin, self.end):
            function.argtypes, function.restype = [session, PhaseHandle], word
        self.open = library.pacman_session_open
        self.open.argtypes = [ctypes.POINTER(Options), ctypes.POINTER(session)]
        self.close = library.pacman_session_close
        self.attach = library.pacman_attach
        self.detach = library.pacman_detach
        for function in (self.close, self.attach, self.detach):
            function.argtypes = [session]
        self.define = library.pacman_phase_define
        self.define.argtypes = [session, ctypes.c_char_p, ctypes.POINTER(PhaseHandle)]
        self.write = library.pacman_report_write
        self.write.argtypes = [session, ctypes.c_uint32, ctypes.c_int]
        self.save = library.pacman_report_save
        self.save.argtypes = [session, ctypes.c_uint32, ctypes.c_char_p]
        self._text = library.pacman_last_error
        self._text.restype = ctypes.c_char_p
        self._name = library.pacman_strerror
        self._name.argtypes, self._name.restype = [ctypes.c_int], ctypes.c_char_p
        check = library.pacman_abi_check
        check.argtypes = [ctypes.c_uint32]
        self.check(check(ABI))

    def error(self, status: int) -> CounterError:
        """The error of the calling thread's last call, which answered with this status."""
        text = self._text().decode("utf-8", "replace")
        name = self._name(status).decode("utf-8", "replace").split(":", 1)[0]
        return CounterError(text or name, status, name)

    def check(self, status: int) -> None:
        """Raises the error of a call that failed."""
        if status < 0:
            raise self.error(status)


def candidates() -> List[str]:
    """Where the library may be: ``PACMAN_LIBRARY`` alone, else the wheel's, else the usual places."""
    named = os.environ.get("PACMAN_LIBRARY")
    if named:
        return [named]
    # A wheel has the library of its own version; a package that was built from the sources has none.
    own = Path(__file__).with_name("libpacman.so.0")
    if own.exists():
        return [str(own)]
    found = ["libpacman.so.0", "libpacman.so"]
    command = shutil.which("pacman-pmu")
    if command:
        folder = Path(command).resolve().parent
        places = [folder, folder.parent / "lib", folder.parent / "lib64"]
        places += sorted((folder.parent / "lib").glob("*-linux-gnu*"))
        found += [
            str(place / name)
            for place in places
            for name in ("libpacman.so.0", "libpacman.so")
            if (place / name).exists()
        ]
    return found


@lru_cache(maxsize=1)
def library() -> Library:
    """The library, loaded once."""
    reason = ""
    for path in candidates():
        try:
            return Library(path)
        except OSError as error:
            reason = " ".join(str(error).split())
        except AttributeError as error:
            raise CounterError(f"cannot use {path}: it is not libpacman.so: {error}") from None
    raise CounterError(
        f"cannot load libpacman.so: {reason}; set PACMAN_LIBRARY to its path, or put pacman-pmu "
        "on PATH"
    )

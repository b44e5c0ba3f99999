"""A watched folder whose files become runs, for programs that can only write files."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from offdiag.errors import DatabaseUnavailable, KeyUsed, OffdiagError
from offdiag.inputs.files.tables import is_table
from offdiag.sdk.run import Run

QUIET_S = 2.0
"""A file is complete if it ends with a line end and did not change for this many seconds."""
UNENDED_QUIET_S = 30.0
"""The same for text without a final line end, of which more is likely to come."""
_ENDED_BY_LINES = (".csv", ".tsv", ".jsonl", ".ndjson")
UPLOAD_S = 60.0
"""Seconds that a copy waits for the upload of the file whose run was opened."""
_BLOCK = 1 << 20

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Taken:
    """The outcome of a file: a run, or a sentence that says why there is none."""

    file: Path
    run: Run | None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class _State:
    """The state of a file; it has changed if any of these has."""

    size: int
    changed_ns: int
    inode: int


class FolderWatch:
    """Logs a run for each complete file of a folder.

    `read` reads a file and returns a function that logs its content under a key. The key is
    computed from the content and `scope`. As a client key it gives one run for one content,
    whatever the name of the file, however many processes watch, and however often the watch
    restarts. `clock` returns seconds. Files whose names begin with a dot are still being written,
    by convention; files without the suffix of a table are ignored.
    """

    def __init__(
        self,
        folder: Path,
        read: Callable[[Path], Callable[[str], Run]],
        *,
        scope: str,
        clock: Callable[[], float],
    ) -> None:
        self._folder = folder
        self._read = read
        self._scope = scope
        self._clock = clock
        self._since: dict[Path, tuple[_State, float]] = {}
        self._done: dict[Path, _State] = {}

    def look(self) -> Iterator[Taken]:
        """Log the files that are complete by now.

        A file that cannot be logged gets a file next to it, "….error.txt", with the reason, which
        is removed once the file is corrected. Raises `DatabaseUnavailable`, and logs the file in a
        later call. Raises `OSError` if the folder cannot be read.
        """
        there = sorted(path for path in self._folder.iterdir() if _is_candidate(path))
        for forgotten in self._since.keys() - there:
            del self._since[forgotten]
            self._done.pop(forgotten, None)
        for path in there:
            state = _state_of(path)
            if state is None or self._done.get(path) == state or not self._is_quiet(path, state):
                continue
            taken = self._take(path, state)
            if taken is not None:
                self._done[path] = state
                yield taken

    def _is_quiet(self, path: Path, state: _State) -> bool:
        known, since = self._since.get(path, (None, 0.0))
        if known != state:
            self._since[path] = state, self._clock()
            return False
        needed = QUIET_S if _ends_where_it_may(path, state) else UNENDED_QUIET_S
        return self._clock() - since >= needed

    def _take(self, path: Path, state: _State) -> Taken | None:
        """Log one file; None if it changed while it was read."""
        if path.is_symlink():
            # A user who can write here could make us read what they cannot read themselves.
            problem = f"{path.name} is a link; links are not followed. Copy the file here."
            _say_beside(path, problem)
            return Taken(path, None, problem)
        try:
            key = f"watch:{_digest(path, self._scope)}"
            log = self._read(path)
            if _state_of(path) != state:
                return None
            run = _logged(log, key)
        except DatabaseUnavailable:
            raise
        except (OffdiagError, OSError) as error:
            if _state_of(path) != state or self._is_copy_of_begun(path, error):
                return None
            _say_beside(path, str(error))
            return Taken(path, None, str(error))
        _say_beside(path, None)
        return Taken(path, run)

    def _is_copy_of_begun(self, path: Path, error: Exception) -> bool:
        """Whether a file with the same content may still be uploading under its own name."""
        _, since = self._since[path]
        is_begun = isinstance(error, KeyUsed) and error.field == "name"
        return is_begun and self._clock() - since < UPLOAD_S


def _logged(log: Callable[[str], Run], key: str) -> Run:
    try:
        return log(key)
    except KeyUsed as error:
        # Nobody here gave a key, so the way out is not another one.
        hint = (
            "The key is the digest of the file, which is logged once. Watch as before, or make "
            "another run of it with `offdiag log`."
        )
        raise KeyUsed(error.message, field=error.field, hint=hint) from error


def _is_candidate(path: Path) -> bool:
    return not path.name.startswith(".") and is_table(path) and path.is_file()


def _state_of(path: Path) -> _State | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return _State(found.st_size, found.st_mtime_ns, found.st_ino)


def _ends_where_it_may(path: Path, state: _State) -> bool:
    if path.suffix.lower() not in _ENDED_BY_LINES:
        return True
    if state.size == 0:
        return False
    with path.open("rb") as file:
        file.seek(-1, 2)
        return file.read(1) == b"\n"


def _digest(path: Path, scope: str) -> str:
    content = hashlib.sha256(scope.encode() + b"\0")
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            content.update(block)
    return content.hexdigest()


def _say_beside(path: Path, problem: str | None) -> None:
    beside = path.with_name(f"{path.name}.error.txt")
    try:
        if problem is None:
            beside.unlink(missing_ok=True)
        else:
            # A link of that name would let another user choose what is overwritten.
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
            with os.fdopen(os.open(beside, flags, 0o666), "w", encoding="utf-8") as file:
                file.write(f"{problem}\n")
    except OSError as error:
        _log.warning("cannot write %s: %s", beside, error)

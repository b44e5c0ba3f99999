"""Programs of this project as processes that start in a moment, where a test needs many of them.

A cold start of `offdiag serve` loads libraries for two seconds of processor time. Here a process
loads them once for all tests of this one, and forks what they start. A child has the arguments,
folder, variables and streams that a new interpreter would have, and ends like one; only what is
loaded already differs. Where imports, a start or an installation are what is tested, use
`subprocess` itself.

Run as a program, this is the process that forks.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import json
import os
import pickle
import runpy
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module, invalidate_caches
from mmap import mmap
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType
from typing import IO, Any, Literal

_LOADED = (
    *("offdiag.cli.log.log", "offdiag.cli.operate.db", "offdiag.cli.operate.serve"),
    *(
        "offdiag.sdk.logging",
        "offdiag.services.evaluation.compute",
        "offdiag.services.reports.task",
    ),
    *("offdiag.store.schema", "offdiag_web.wsgi", "offdiag_workers.process"),
    *("alembic.autogenerate", "alembic.command", "gunicorn.app.wsgiapp", "httpx", "pandas"),
    *("psycopg", "scipy.special", "sqlalchemy.dialects.postgresql.psycopg"),
)
_READ_BY_PYTHON = ("PYTHON", "LANG", "LC_", "LD_", "MALLOC_", "OMP_", "OPENBLAS_")
"""Beginnings of variables that an interpreter and its libraries read only when they start."""
_TESTS = Path(__file__).parents[1]
_CALL = """
import pickle, sys
target, arguments = pickle.loads(bytes.fromhex(sys.argv[1]))
target(*arguments)
"""
_SET_CHILD_SUBREAPER = 36
"""The number of the option of prctl(2)."""

Output = int | IO[Any] | None


class QuickProcess(subprocess.Popen[str]):
    """`subprocess.Popen` of text for `python -m MODULE`, `python FILE`, `python -c CODE` and the
    Python commands that are installed beside `python`. Anything else is started cold.

    The child is one of this process like any other: `pid`, `wait`, `kill` and so on are the same.
    """

    def __init__(
        self,
        command: Sequence[str | Path],
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        stdin: Output = None,
        stdout: Output = None,
        stderr: Output = None,
        text: Literal[True] = True,
    ) -> None:
        words = [str(word) for word in command]
        super().__init__(
            words, cwd=cwd, env=env, stdin=stdin, stdout=stdout, stderr=stderr, text=text
        )

    def end(self) -> None:
        """SIGKILL, unless it has ended already."""
        self.kill()
        self.wait()

    def _execute_child(self, args: list[str], *others: Any) -> None:
        """What `Popen` calls to start the child; -1 is a stream that is that of this process."""
        cwd, env, pipes = others[4], others[5], others[9:15]
        variables = dict(os.environ if env is None else env)
        if not _can_be_forked(args, variables):
            super()._execute_child(args, *others)  # type: ignore[misc]  # not a public name
            return
        in_, out, errors = pipes[0], pipes[3], pipes[5]
        streams = [own if given == -1 else given for own, given in enumerate((in_, out, errors))]
        wanted = [args, str(Path(cwd or ".").absolute()), variables]
        self.pid = _server(os.getpid()).fork(json.dumps(wanted).encode(), streams)
        self._child_created = True
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]  # not a public name


def forked(
    target: Callable[..., None],
    *arguments: object,
    stdout: Output = None,
    stderr: Output = None,
) -> QuickProcess:
    """A function of a support module as a process of its own."""
    command = [sys.executable, "-c", _CALL, pickle.dumps((target, arguments)).hex()]
    return QuickProcess(
        command, cwd=_TESTS, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr
    )


def forked_into(log: Path, target: Callable[..., None], *arguments: object) -> QuickProcess:
    """The same, and everything it says is added to a file."""
    with log.open("ab") as said:
        return forked(target, *arguments, stdout=said, stderr=said)


def run_quickly(
    command: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    input: str | None = None,  # noqa: A002  # as `subprocess.run` calls it
    check: bool = False,
    timeout: float = 300,
) -> subprocess.CompletedProcess[str]:
    """`subprocess.run` with captured output."""
    stdin = subprocess.DEVNULL if input is None else subprocess.PIPE
    pipe = subprocess.PIPE
    process = QuickProcess(command, cwd=cwd, env=env, stdin=stdin, stdout=pipe, stderr=pipe)
    try:
        output, errors = process.communicate(input, timeout)
    finally:
        process.end()
    done = subprocess.CompletedProcess(process.args, process.returncode, output, errors)
    if check:
        done.check_returncode()
    return done


def _can_be_forked(command: list[str], variables: Mapping[str, str]) -> bool:
    if sys.platform != "linux":  # Only there does a grandchild become a child.
        return False
    program, *words = command
    if program == sys.executable:
        is_known = bool(words) and (words[0] in {"-m", "-c"} or not words[0].startswith("-"))
    else:
        is_known = _is_script(Path(program))
    return is_known and _read_by_python(variables) == _server(os.getpid()).variables


def _is_script(program: Path) -> bool:
    is_beside = program.parent == Path(sys.executable).parent
    return is_beside and program.read_bytes().startswith(b"#!" + sys.executable.encode())


def _read_by_python(variables: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in variables.items() if name.startswith(_READ_BY_PYTHON)}


class _Server:
    """The process that forks, as this one sees it. It ends with this one."""

    def __init__(self) -> None:
        self.variables = _read_by_python(os.environ)
        self._connection, theirs = socket.socketpair()
        self._lock = threading.Lock()
        clean = {name: text for name, text in os.environ.items() if "OFFDIAG" not in name}
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())],
                env=clean,
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )

    def fork(self, wanted: bytes, streams: Sequence[int]) -> int:
        """The id of the new process, which is a child of this one."""
        with self._lock:
            # The child's parent ends at once. Who adopts it is decided then.
            _adopt_orphans(True)
            try:
                socket.send_fds(self._connection, [len(wanted).to_bytes(4, "big")], streams)
                self._connection.sendall(wanted)
                answer = self._connection.recv(4, socket.MSG_WAITALL)
            finally:
                _adopt_orphans(False)
        assert answer, f"the process that forks has ended with {self._process.wait()}"
        return int.from_bytes(answer, "big")


@cache
def _server(_pid: int) -> _Server:
    """That of a process; one that was forked itself needs one of its own."""
    return _Server()


def _adopt_orphans(is_on: bool) -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(_SET_CHILD_SUBREAPER, int(is_on), 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


def _load() -> None:
    web = import_module("offdiag_web")
    views = [found.name for found in walk_packages(web.__path__, "offdiag_web.")]
    for name in (*_LOADED, *views):
        with suppress(ModuleNotFoundError):  # Its library is not installed, so nobody runs it.
            import_module(name)
    # Which the first statement, application and client of each child would do.
    import_module("sqlalchemy.orm").configure_mappers()
    _compile_addresses()
    import_module("quick_clients").remember_certificates()
    import_module("httpx").Client().close()
    # Else the first collection in each child copies all there is, for a second.
    gc.freeze()


def _compile_addresses() -> None:
    """Compile the rules of an application, which asks its database nothing."""
    # The package of these modules is not where a program looks for others.
    import_module("quick_apps").remember_addresses()
    make, settings, views = (
        import_module(name)
        for name in ("offdiag_web.application", "offdiag.settings", "offdiag_web.app.dispatch")
    )
    with tempfile.TemporaryDirectory() as folder:
        database = import_module("offdiag.store.database").Database(f"sqlite:///{folder}/none.db")
        app = make.create_app(settings.Settings(), database)
        views.lazy_views(app).load_all()
        database.close()


def _fork_until_the_end(connection: socket.socket) -> list[Any]:
    """Returns in each child what it is to be, and ends with the process that asks."""
    while True:
        try:
            length, streams, _, _ = socket.recv_fds(connection, 4, 3)
        except KeyboardInterrupt:
            length = b""
        if not length:
            os._exit(0)
        wanted = connection.recv(int.from_bytes(length, "big"), socket.MSG_WAITALL)
        reading, writing = os.pipe()
        between = os.fork()
        if between == 0:
            parent = os.getpid()
            child = os.fork()
            if child == 0:
                for number, stream in enumerate(streams):
                    os.dup2(stream, number)
                os.closerange(3, max(connection.fileno(), reading, writing, *streams) + 1)
                connection.detach()
                while os.getppid() == parent:
                    time.sleep(0.001)
                return list(json.loads(wanted))
            os.write(writing, child.to_bytes(4, "big"))
            os._exit(0)
        os.waitpid(between, 0)
        connection.sendall(os.read(reading, 4))
        for descriptor in (reading, writing, *streams):
            os.close(descriptor)


def _become(command: list[str], folder: str, variables: Mapping[str, str]) -> None:
    """Run a program in this process as a new interpreter would."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    time.tzset()
    invalidate_caches()
    # A server shares this memory with the processes it forks, and with no other server.
    sys.modules["offdiag_web.shutdown"].__dict__["_mark"] = mmap(-1, 1)
    is_python = command[0] == sys.executable
    sys.orig_argv = command if is_python else [sys.executable, *command]
    kind, *arguments = command[1:] if is_python else command
    main = sys.modules["__main__"] = ModuleType("__main__")
    if kind == "-m":
        sys.argv, sys.path[0] = arguments, folder
        runpy._run_module_as_main(arguments[0])  # type: ignore[attr-defined]  # what -m calls
    elif kind == "-c":
        sys.argv, sys.path[0] = ["-c", *arguments[1:]], ""
        exec(compile(arguments[0], "<string>", "exec"), main.__dict__)
    else:
        sys.argv, sys.path[0] = [kind, *arguments], str(Path(kind).resolve().parent)
        main.__file__ = str(Path(kind).absolute())
        exec(compile(Path(kind).read_bytes(), main.__file__, "exec"), main.__dict__)


def _end(code: int) -> None:
    """End as an interpreter does, but leave the memory as it is: others still share it.

    Taking all modules apart would copy them, for a tenth of a second of processor time.
    Returns where a stream cannot be written, of which the interpreter has something to say.
    """
    threading._shutdown()  # type: ignore[attr-defined]  # not a public name
    atexit._run_exitfuncs()
    with suppress(OSError, ValueError):
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)


if __name__ == "__main__":
    _load()
    try:
        _become(*_fork_until_the_end(socket.socket(fileno=int(sys.argv[1]))))
    except SystemExit as ended:
        if isinstance(ended.code, int | None):
            _end(ended.code or 0)
        raise
    _end(0)

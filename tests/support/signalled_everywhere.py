"""Run as a program: tell a loop to stop at every line it comes by, each in a process of its own.

    python signalled_everywhere.py LOOP FOLDER

A first child notes which lines its main thread comes by in two turns. Then for each of them a
child raises SIGTERM the first time it is there, and has to end by itself. Of the lines in the
files that the loop waits in it is every fourth, of others six, from one that is drawn; with
OFFDIAG_LONG set it is all.
Prints one line of JSON for each child, {"line", "code"}, in that of the first with all the
"functions" it came by; a child that hangs writes all its stacks to the error output and ends with
code 1.
"""

from __future__ import annotations

import faulthandler
import json
import os
import secrets
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import FrameType

sys.path.insert(0, str(Path(__file__).parent.parent))

HANGS_AFTER_S = 60.0
_MOST_FAR = 6
_MISSED = 3
_MOST_TURNS = 12


@dataclass(frozen=True)
class Loop:
    """A program that runs until SIGTERM. Each turn of its loop begins with a call of `turn`.

    `turn` names a module, and in it a function or a method. `files` are the ends of the paths of
    what the loop waits in. `modules` are what it loads beside.
    """

    run: Callable[[Path], None]
    turn: tuple[str, str]
    files: tuple[str, ...]
    modules: tuple[str, ...] = ()

    def load(self) -> None:
        for name in (self.turn[0], *self.modules):
            import_module(name)

    def call_at_each_turn(self, act: Callable[[], None]) -> None:
        *owners, name = self.turn[1].split(".")
        owner: object = import_module(self.turn[0])
        for each in owners:
            owner = getattr(owner, each)
        begin = getattr(owner, name)

        def turn(*arguments: object, **named: object) -> object:
            act()
            return begin(*arguments, **named)

        setattr(owner, name, turn)

    def is_near(self, line: tuple[str, int]) -> bool:
        return line[0].endswith(self.files)


Line = tuple[str, int]
Where = dict[Line, str]
"""Lines, with the function that each is in."""


class Tracer:
    """Raises SIGTERM where it is to, or after two turns, when it has noted all lines."""

    def __init__(self, loop: Loop, target: Line | None) -> None:
        self.lines: Where = {}
        self._loop = loop
        self._target = target
        self._n_turns = 0
        self._is_told = False

    def begin_turn(self) -> None:
        """Watch from the first turn on; tell it to stop after some."""
        self._n_turns += 1
        if self._n_turns == 1:
            self._look_at_callers(sys._getframe(1))
            sys.settrace(self)  # type: ignore[arg-type]  # returns itself or None
        if self._n_turns > (2 if self._target is None else _MOST_TURNS):
            self._tell_to_stop()

    def __call__(self, frame: FrameType, event: str, _argument: object) -> object:
        line = (frame.f_code.co_filename, frame.f_lineno)
        if event == "line" and not self._is_told and line not in self.lines:
            self.lines[line] = frame.f_code.co_qualname
            if line == self._target:
                self._tell_to_stop()
        return self

    def _look_at_callers(self, frame: FrameType | None) -> None:
        while frame is not None:
            frame.f_trace = self
            frame = frame.f_back

    def _tell_to_stop(self) -> None:
        if not self._is_told:
            self._is_told = True
            sys.settrace(None)
            signal.raise_signal(signal.SIGTERM)


def in_a_child(loop: Loop, folder: Path, target: Line | None) -> tuple[int, Where]:
    """Run the loop once; its exit code, and the lines it has come by."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _run_and_exit(loop, folder, target, writing)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as told:
        found = json.loads(told.read() or "[]")
    _, status = os.waitpid(child, 0)
    lines = {(str(file), int(number)): str(name) for file, number, name in found}
    code = os.waitstatus_to_exitcode(status)
    missed = code == 0 and target is not None and target not in lines
    return _MISSED if missed else code, lines


def _run_and_exit(loop: Loop, folder: Path, target: Line | None, writing: int) -> None:
    faulthandler.dump_traceback_later(HANGS_AFTER_S, exit=True)
    tracer = Tracer(loop, target)
    code = 0
    loop.call_at_each_turn(tracer.begin_turn)
    try:
        loop.run(folder)
    except SystemExit as ended:
        code = int(ended.code or 0)
    finally:
        sys.settrace(None)
    said = json.dumps([(*line, name) for line, name in tracer.lines.items()])
    with os.fdopen(writing, "w", encoding="utf-8") as answer:
        answer.write(said)
    os._exit(code)


def _watch(folder: Path) -> None:
    from offdiag.cli.log import log

    log._LOOK_EVERY_S = 0.02
    (folder / "results").mkdir(exist_ok=True)
    (folder / "results" / "one.csv").write_text("y_true\na\n", encoding="utf-8")
    url = f"sqlite:///{folder / 'registry.db'}"
    log.watch.main(
        [str(folder / "results"), "--dataset", "d", "--url", url], standalone_mode=False
    )


def _worker(folder: Path) -> None:
    from offdiag.logs import log_to_stderr
    from offdiag.settings import Settings
    from offdiag.store.database import Database
    from offdiag_workers.process import work_until_signal

    log_to_stderr()
    work_until_signal(Database(f"sqlite:///{folder / 'registry.db'}"), Settings())


def _serve(folder: Path) -> None:
    from offdiag.cli.operate.serve import serve_until_stopped
    from offdiag.settings import ServerSettings, Settings
    from offdiag.store.database import Database
    from offdiag_web import server

    server._TURN_S = 0.02
    serve_until_stopped(
        Database(f"sqlite:///{folder / 'registry.db'}"),
        Settings(server=ServerSettings(port=0, shutdown_delay_s=0.05)),
        with_worker=False,
        announce=lambda _address: None,
    )


def _gunicorn(folder: Path) -> None:
    from gunicorn.app.wsgiapp import WSGIApplication
    from gunicorn.arbiter import Arbiter

    wait = Arbiter.wait_for_signals
    Arbiter.wait_for_signals = lambda arbiter, **_: wait(arbiter, timeout=0.02)
    os.environ["OFFDIAG_SERVER__SHUTDOWN_DELAY_S"] = "0.05"
    config = folder / "gunicorn.conf.py"
    example = Path(__file__).parents[2] / "config" / "gunicorn.conf.py.example"
    config.write_text(example.read_text(encoding="utf-8"), encoding="utf-8")
    # No worker: its first process alone hears the signal, and so starts at once.
    sys.argv = ["gunicorn", "--config", str(config), "--bind", "127.0.0.1:0", "--workers", "0"]
    WSGIApplication("%(prog)s [OPTIONS]", prog="gunicorn").run()


LOOPS = {
    "watch": Loop(
        _watch,
        ("offdiag.sdk.watch", "FolderWatch.look"),
        ("/cli/log.py", "/threading.py"),
        ("offdiag.cli.log.log", "offdiag.cli.file_input", "offdiag.sdk.logging"),
    ),
    "worker": Loop(
        _worker,
        ("offdiag_workers.loop", "_wait_for_notification"),
        ("/offdiag_workers/loop.py", "/services/jobs/submit.py", "/threading.py"),
        ("offdiag_workers.process",),
    ),
    "serve": Loop(
        _serve,
        ("offdiag_web.server", "Listening._is_ended"),
        ("/offdiag_web/server.py",),
        ("offdiag.cli.operate.serve", "offdiag_web", "offdiag_workers.process"),
    ),
    "gunicorn": Loop(
        _gunicorn,
        ("gunicorn.arbiter", "Arbiter.wait_for_signals"),
        ("/gunicorn/arbiter.py",),
        ("gunicorn.app.wsgiapp", "offdiag_web.shutdown", "offdiag.settings"),
    ),
}


def main(loop: Loop, folder: Path) -> None:
    loop.load()
    code, lines = in_a_child(loop, folder, None)
    _say(line=None, code=code, functions=sorted(set(lines.values())))
    near, far = ([line for line in lines if loop.is_near(line) is it] for it in (True, False))
    for line in (*_drawn(near, 4), *_drawn(far, 1 + len(far) // _MOST_FAR)):
        _say(line=f"{line[0]}:{line[1]}", code=in_a_child(loop, folder, line)[0])


def _drawn(lines: list[Line], stride: int) -> list[Line]:
    if "OFFDIAG_LONG" in os.environ:
        return lines
    return lines[secrets.randbelow(stride) :: stride]


def _say(**told: object) -> None:
    print(json.dumps(told), flush=True)  # noqa: T201


if __name__ == "__main__":
    main(LOOPS[sys.argv[1]], Path(sys.argv[2]))

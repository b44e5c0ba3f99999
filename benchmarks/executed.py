"""The code that a fresh interpreter executes for one use case, written to FOLDER/executed.json.

    python benchmarks/executed.py FOLDER

Two runs are logged to a new SQLite registry in FOLDER and evaluated. Then each use case is carried
out twice: the first time imports and compiles, the second time a profile hook records every
offdiag file in which a function is called. Templates count as such files. The keys of the
documents about one run are recorded as well, from each of the three interfaces.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from flask.testing import FlaskClient

import offdiag
from offdiag.settings import Settings
from offdiag.store.database import Database
from offdiag_web import create_app
from offdiag_web.app.context import COMPARISONS_KEY

ROOT = Path(__file__).parents[1]
OURS = tuple(f"{ROOT / folder}/" for folder in ("registry", "migrations", "web", "workers"))
FOUND = "executed.json"
ACTUAL = ["cat", "cat", "cat", "dog", "dog", "fox"] * 20
ANSWERS = {
    "first": ["cat", "cat", "dog", "dog", "dog", "fox"] * 20,
    "second": ["cat", "cat", "cat", "dog", "fox", "cat"] * 20,
}


def main(folder: Path) -> None:
    url = f"sqlite:///{folder / 'registry.db'}"
    runs = [_log(url, name, answers) for name, answers in ANSWERS.items()]
    for run in runs:
        run.evaluation()
    first, second = (run.id for run in runs)
    database = Database(url)
    try:
        app = create_app(Settings(), database)
        client = app.test_client()

        pair = f"/compare?runs={first},{second}"

        def compare_first() -> None:
            app.extensions.pop(COMPARISONS_KEY, None)
            _get(client, pair)

        executed = {
            "log_run": _executed(lambda: _log(url, "third", ANSWERS["first"])),
            "run page": _executed(lambda: _get(client, f"/runs/{first}")),
            "compare page": _executed(lambda: _get(client, pair)),
            "compare page, for the first time": _executed(compare_first),
        }
        documents = {
            "API": sorted(json.loads(_get(client, f"/api/v1/runs/{first}"))),
            "page": sorted(json.loads(_get(client, f"/runs/{first}.json"))),
            "command line": sorted(json.loads(_shown(url, first))),
        }
    finally:
        database.close()
    found = {"executed": executed, "documents": documents}
    (folder / FOUND).write_text(json.dumps(found), encoding="utf-8")


def _log(url: str, name: str, answers: list[str]) -> offdiag.Run:
    return offdiag.log_run(
        y_true=ACTUAL, y_pred=answers, name=name, model="tree", dataset="pets", url=url
    )


def _get(client: FlaskClient, address: str) -> str:
    answer = client.get(address)
    if answer.status_code != 200:
        raise RuntimeError(f"{address} answered {answer.status}")
    return answer.get_data(as_text=True)


def _shown(url: str, run: str) -> str:
    offdiag_command = str(Path(sys.executable).with_name("offdiag"))
    done = subprocess.run(
        [offdiag_command, "runs", "show", run, "--json", "--url", url],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


def _executed(work: Callable[[], object]) -> list[str]:
    """Paths of offdiag's files, from the root, whose functions are called by `work`."""
    work()
    found: set[str] = set()

    def note(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            found.add(frame.f_code.co_filename)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return sorted(str(Path(path).relative_to(ROOT)) for path in found if path.startswith(OURS))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""offdiag over HTTP: a job logs a run to `offdiag serve` on the same machine.

`record 1e5` ends when the server has acknowledged the predictions, as a training job does;
`record and read 1e5` when every metric has come back.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from peer_work.turns import Answers, Work, take_turns

import offdiag


def main(folder: Path) -> None:
    actual, predicted = np.load(folder / "1e5.npy")
    with tempfile.TemporaryDirectory() as place, _server(Path(place)) as url:

        def log() -> offdiag.Run:
            return offdiag.log_run(
                y_true=actual, y_pred=predicted, name="run", dataset="bench", url=url
            )

        def recorded(_: Any) -> Answers:
            log()
            return {}

        def read(_: Any) -> Answers:
            log().evaluation()
            return {}

        take_turns(
            ("offdiag", "flask", "waitress", "httpx"),
            {
                "record 1e5": Work(recorded, lambda: None),
                "record and read 1e5": Work(read, lambda: None),
            },
        )


@contextmanager
def _server(folder: Path) -> Iterator[str]:
    command = str(Path(sys.executable).with_name("offdiag"))
    settings = {name: text for name, text in os.environ.items() if "OFFDIAG" not in name}
    with subprocess.Popen(
        [command, "serve", "--port", "0", "--url", f"sqlite:///{folder / 'registry.db'}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**settings, "OFFDIAG_SERVER__SECRET_KEY": "0123456789abcdef" * 4},
    ) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://\S+", process.stdout.readline())
            assert found is not None
            yield found[0].rstrip("/")
        finally:
            process.kill()


if __name__ == "__main__":
    main(Path(sys.argv[1]))

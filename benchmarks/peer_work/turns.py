"""One process that takes its turn when it is told to; what every peer's script is made of.

Needs nothing but Python, because each peer lives in an environment of its own. A script is
started with the folder of the sample, tells in its first line of JSON which versions it runs,
and then answers each line of its input, the name of a case, with one line of JSON: the seconds
that the work took, its answers, and the most memory that the process has held so far.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

Answers = Mapping[str, float]
"""Accuracy, macro F1, MCC and kappa, or areas and losses of scores, as far as computed."""


@dataclass(frozen=True, slots=True)
class Work:
    """What is timed, and what is handed to it, made anew for each turn."""

    do: Callable[[Any], Answers]
    prepare: Callable[[], Any]


def take_turns(libraries: tuple[str, ...], cases: Mapping[str, Work]) -> None:
    """Say the versions, then do the case that each line of input names, until it ends."""
    # A peer that prints while it works must not be taken for an answer.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def say(line: Mapping[str, Any]) -> None:
        answers.write(json.dumps(line) + "\n")
        answers.flush()

    say({"versions": {name: version(name) for name in libraries}})
    for line in sys.stdin:
        work = cases[line.strip()]
        given = work.prepare()
        start = perf_counter()
        found = work.do(given)
        seconds = perf_counter() - start
        say({"seconds": seconds, "answers": dict(found), "peak_mib": _peak_mib()})


def _peak_mib() -> float:
    # What getrusage tells is carried over from the process that started this one.
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    kilobytes = next(line.split()[1] for line in status.splitlines() if line[:6] == "VmHWM:")
    return int(kilobytes) / 1024

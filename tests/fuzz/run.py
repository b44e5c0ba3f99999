"""Fuzz every target for a while, following branches, from the kept seeds.

    python tests/fuzz/run.py --seconds 60 [TARGET …]

It needs atheris (`pip install 'offdiag[fuzz]'`). What a target raised, other than an
error of offdiag, lies as a file below `build/fuzz`, one for each place it was raised at; copied
into `tests/fuzz/seeds/TARGET`, it is tried by the test suite for ever.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import resource
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

import atheris

HERE = Path(__file__).parent
SEEDS = HERE / "seeds"
FOUND = HERE.parents[1] / "build" / "fuzz"
_LONGEST_INPUT = 16_384
_SLOWEST_S = 10
_MOST_MEMORY_MB = 2_048
_FOLLOWED = [
    *("json", "csv", "tomllib", "zipfile"),
    *(
        f"offdiag.{part}"
        for part in ("inputs", "domain", "filters", "gate", "importers", "records")
    ),
    *("offdiag.audit", "offdiag.metrics.costs", "offdiag.store.archive"),
    *("offdiag_web.urls", "offdiag_web.api"),
]


def main() -> int:
    """Run targets one after the other and print a line of figures for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="all, if none is named")
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, too")
    asked = parser.parse_args()
    sys.path.insert(0, str(HERE.parent))
    # Following branches costs half a minute of preparation, which all targets share.
    with atheris.instrument_imports(include=_FOLLOWED):
        from fuzz.targets import TARGETS
    figures = {
        name: _figures(name, TARGETS[name], asked.seconds) for name in asked.targets or TARGETS
    }
    if asked.json:
        asked.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return 1 if any(figure["found"] for figure in figures.values()) else 0


def _figures(name: str, target: Callable[[bytes], object], seconds: int) -> dict[str, int]:
    """Executions, branches reached and distinct findings of a target, in a process of its own."""
    folder = FOUND / name
    (folder / "grown").mkdir(parents=True, exist_ok=True)
    log = folder / "log"
    child = os.fork()
    if child == 0:
        with log.open("wb") as stream:
            os.dup2(stream.fileno(), sys.stderr.fileno())
        _fuzz(name, target, folder, seconds)
        os._exit(70)  # The fuzzer ends the process itself.
    _, status = os.waitpid(child, 0)
    said = log.read_text(encoding="utf-8", errors="replace")
    found = sorted(path.name for path in folder.glob("found-*"))
    figures = {
        "executions": _last(r"stat::number_of_executed_units:\s*(\d+)", said),
        "branches": _last(r"\bcov: (\d+)", said),
        "peak_mb": _last(r"stat::peak_rss_mb:\s*(\d+)", said),
        "found": len(found) + (status != 0),
    }
    sys.stdout.write(f"{name:18} {figures} {' '.join(found)}\n")
    if status:
        sys.stdout.write("\n".join(said.splitlines()[-30:]) + "\n")
    sys.stdout.flush()
    return figures


def _last(pattern: str, text: str) -> int:
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


def _fuzz(name: str, target: Callable[[bytes], object], folder: Path, seconds: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def once(data: bytes) -> None:
        try:
            target(data)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
            _keep(error, data, folder)

    seeds = SEEDS / name
    atheris.Setup(
        [
            sys.argv[0],
            f"-max_total_time={seconds}",
            f"-max_len={_LONGEST_INPUT}",
            f"-timeout={_SLOWEST_S}",
            f"-rss_limit_mb={_MOST_MEMORY_MB}",
            f"-artifact_prefix={folder}/found-",
            "-print_final_stats=1",
            str(folder / "grown"),
            *([str(seeds)] if seeds.is_dir() else []),
        ],
        once,
    )
    atheris.Fuzz()


def _keep(error: Exception, data: bytes, folder: Path) -> None:
    """Keep the shortest input that raises such an error at such a place."""
    place = f"{type(error).__name__} {_last_own_line(error.__traceback__)}"
    path = folder / f"found-{hashlib.sha256(place.encode()).hexdigest()[:12]}"
    if path.exists() and path.stat().st_size <= len(data):
        return
    path.write_bytes(data)
    path.with_name(f"why-{path.name}").write_text(
        "".join(traceback.format_exception(error)), encoding="utf-8", errors="replace"
    )


def _last_own_line(trace: TracebackType | None) -> str:
    frames = traceback.extract_tb(trace)
    own = [frame for frame in frames if "offdiag" in frame.filename]
    return f"{own[-1].filename}:{own[-1].lineno}" if own else ""


if __name__ == "__main__":
    sys.exit(main())

"""How easily a newcomer finds the way through the code, and how soon its programs start.

    python benchmarks/house.py [--full]

Counts files, importers and fields in the sources (`structure.py`), files that one use case
executes (`executed.py`), and how long users wait who start the dashboard or ask the command line
for help. `--full` starts them more often. Counts do not depend on the machine; missed goals show
where the code should improve.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from statistics import median

import structure
from executed import FOUND
from harness import Report, wants_everything

from load.memory import resident_mib
from load.process_tree import PROC, text_of

OFFDIAG = Path(sys.executable).with_name("offdiag")
RETRY_FOR_S = 120.0
RESULTS = frozenset({"metrics", "per_class", "confusion_matrix", "costs", "weighted"})
"""Parts of the document of a run that are included on request."""
LOOK_EVERY_S = 0.02
SETTLED_AFTER_S = 6.0


def main() -> None:
    everything = wants_everything(__doc__ or "")
    report = Report("house", libraries=("flask", "sqlalchemy", "pydantic"))
    _sources(report)
    with tempfile.TemporaryDirectory() as folder:
        _use_cases(report, Path(folder))
        _starts(report, Path(folder), turns=7 if everything else 3)
    report.save()


def _sources(report: Report) -> None:
    files = structure.product_files()
    _at_most(report, "product files", len(files), 600)
    _at_most(report, "product lines, thousands", _thousands(structure.n_lines(files)), 92)
    report.fact("modules with one importer", len(structure.modules_with_one_importer()))
    for_one_other = structure.modules_for_one_other()
    _at_most(report, "modules with one importer that is not a table", len(for_one_other), 80)
    _at_most(report, "product files naming git_sha", len(structure.files_naming("git_sha")), 10)
    run_classes = structure.classes_with_many_run_fields()
    _at_most(report, "classes with a quarter of the fields of a run", len(run_classes), 6)
    _at_most(report, "modules named by a gerund", len(structure.modules_named_by_a_gerund()), 10)
    _at_most(report, "folders of more than 15 modules", len(structure.large_folders()), 1)
    report.goal("import contracts", measured=structure.import_contracts(), wanted=8)
    _at_most(report, "lines of tests, thousands", _thousands(structure.test_lines()), 72)


def _use_cases(report: Report, folder: Path) -> None:
    script = Path(__file__).with_name("executed.py")
    subprocess.run([sys.executable, script, folder], check=True, stdout=subprocess.DEVNULL)
    found = json.loads((folder / FOUND).read_text(encoding="utf-8"))
    executed: Mapping[str, list[str]] = found["executed"]
    for use_case, wanted in (("log_run", 25), ("run page", 35), ("compare page", 35)):
        _at_most(report, f"files executed, {use_case}", len(executed[use_case]), wanted)
    shared = {*executed["run page"]} & {*executed["compare page"]}
    report.fact("files executed that both pages share", len(shared))
    again = "compare page, for the first time"
    report.fact(f"files executed, {again}", len(executed[again]))
    documents: Mapping[str, list[str]] = found["documents"]
    different = {frozenset(keys) - RESULTS for keys in documents.values()}
    _at_most(report, "different documents of one run", len(different), 1)
    report.tables["keys of a run that not every interface has"] = _partial_keys(documents)


def _partial_keys(documents: Mapping[str, list[str]]) -> list[dict[str, str]]:
    counts = Counter(key for keys in documents.values() for key in keys)
    return [
        {"key": key, "in": ", ".join(name for name, keys in documents.items() if key in keys)}
        for key, count in sorted(counts.items())
        if count < len(documents)
    ]


def _starts(report: Report, folder: Path, *, turns: int) -> None:
    url = f"sqlite:///{folder / 'registry.db'}"
    served = [_served(url) for _ in range(turns + 1)][1:]  # The first one compiles.
    seconds, of_processor, mib = (median(found) for found in zip(*served, strict=True))
    _at_most(report, "offdiag serve, command to first answer, s", round(seconds, 2), 2)
    report.fact("offdiag serve, processor time to first answer, s", round(of_processor, 2))
    _at_most(report, "offdiag serve, idle memory, MiB", round(mib), 150)
    helped = [_helped() for _ in range(turns + 1)][1:]
    _at_most(report, "offdiag --help, processor time, s", round(median(helped), 3), 0.34)


def _served(url: str) -> tuple[float, float, float]:
    """Seconds and processor seconds until the dashboard answers, and MiB when it is idle."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    began = time.perf_counter()
    process = subprocess.Popen(
        [OFFDIAG, "serve", "--port", str(port), "--url", url],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        address = f"http://127.0.0.1:{port}/"
        while not _answers(address):
            if process.poll() is not None or time.perf_counter() - began > RETRY_FOR_S:
                raise RuntimeError(f"offdiag serve did not answer at {address}")
            time.sleep(LOOK_EVERY_S)
        seconds, of_processor = time.perf_counter() - began, _processor_s(process.pid)
        time.sleep(SETTLED_AFTER_S)
        return seconds, of_processor, resident_mib(process.pid)
    finally:
        process.terminate()
        process.wait()


def _processor_s(pid: int) -> float:
    """Processor time that a process has used, from Linux; other load hardly changes it."""
    fields = text_of(PROC / str(pid) / "stat").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=RETRY_FOR_S) as answer:
            return bool(answer.status == 200)
    except urllib.error.URLError:
        return False


def _helped() -> float:
    before = os.times()
    subprocess.run([OFFDIAG, "--help"], check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return (after.children_user - before.children_user) + (
        after.children_system - before.children_system
    )


def _thousands(number: int) -> float:
    return round(number / 1_000, 1)


def _at_most(report: Report, name: str, measured: float, wanted: float) -> None:
    report.goal(name, measured=measured, wanted=wanted, at_least=False)


if __name__ == "__main__":
    main()

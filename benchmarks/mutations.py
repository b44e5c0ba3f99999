"""Mutation testing: one-line faults that the tests have to find.

    python benchmarks/mutations.py [--check] [NAME ...]

`mutations.toml` lists them: a line of a file, its replacement, and the tests that should then
fail. Each fault is applied in a worktree of the last commit, so that uncommitted edits play no
part; its tests pass there first and are then run again. The share of killed faults is recorded
when all were tried. `--check` only checks that every fault still applies, which must be to one
line of its file. With names, only these faults are tried.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from harness import Report

ROOT = Path(__file__).parents[1]
LIST = Path(__file__).with_suffix(".toml")
FOLDERS = ("registry", "migrations", "web", "workers")
LONGEST_S = 600.0
_PASSED, _FAILED, _INTERRUPTED = 0, 1, 2
"""Exit codes of pytest; an error while tests are collected interrupts it."""


class Verdict(StrEnum):
    """The result of a fault."""

    KILLED = "killed"
    SURVIVED = "survived"
    HUNG = "hung"
    """The tests did not end, which would be noticed."""


@dataclass(frozen=True)
class Mutation:
    """One fault; `old` occurs once in `file`, and `tests` are the arguments of pytest."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    def applied_to(self, text: str) -> str:
        """The text with the fault. Raises `ValueError` unless it applies in exactly one place."""
        found = text.count(self.old)
        if found != 1:
            raise ValueError(f"{self.name}: {self.old!r} stands {found} times in {self.file}.")
        if self.old == self.new or "\n" in self.old + self.new:
            raise ValueError(f"{self.name}: it has to change one line.")
        return text.replace(self.old, self.new)


@dataclass
class Worktree:
    """A checkout of the last commit, in which tests run against its own sources."""

    folder: Path
    _passing: set[tuple[str, ...]] = field(default_factory=set)

    def try_out(self, mutation: Mutation) -> Verdict:
        self._require_passing(mutation.tests)
        path = self.folder / mutation.file
        sound = path.read_text(encoding="utf-8")
        path.write_text(mutation.applied_to(sound), encoding="utf-8")
        try:
            code = self._run(mutation.tests)
        finally:
            path.write_text(sound, encoding="utf-8")
        if code is None:
            return Verdict.HUNG
        if code not in (_PASSED, _FAILED, _INTERRUPTED):
            raise RuntimeError(f"{mutation.name}: pytest ended with {code}.")
        return Verdict.SURVIVED if code == _PASSED else Verdict.KILLED

    def _require_passing(self, tests: tuple[str, ...]) -> None:
        if tests in self._passing:
            return
        if self._run(tests) != _PASSED:
            raise RuntimeError(f"{' '.join(tests)}: these fail without any fault.")
        self._passing.add(tests)

    def _run(self, tests: tuple[str, ...]) -> int | None:
        """The exit code of pytest, None if it did not end."""
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", *tests]
        # These take precedence over the installed sources.
        path = os.pathsep.join(str(self.folder / name) for name in FOLDERS)
        try:
            done = subprocess.run(
                command,
                check=False,
                cwd=self.folder,
                env={**os.environ, "PYTHONPATH": path},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=LONGEST_S,
            )
        except subprocess.TimeoutExpired:
            return None
        return done.returncode


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only look for their places")
    parser.add_argument("names", nargs="*", metavar="NAME", help="faults to try, all if none")
    arguments = parser.parse_args()
    listed = read_list()
    for mutation in listed:
        mutation.applied_to((ROOT / mutation.file).read_text(encoding="utf-8"))
        missing = [
            test for test in mutation.tests if not (ROOT / test.partition("::")[0]).exists()
        ]
        if missing:
            raise SystemExit(f"{mutation.name}: there is no {missing[0]}.")
    if arguments.check:
        print(f"{len(listed)} faults, each in its place")
        return
    unknown = set(arguments.names) - {mutation.name for mutation in listed}
    if unknown:
        raise SystemExit(f"there is no {', '.join(sorted(unknown))}.")
    chosen = [each for each in listed if not arguments.names or each.name in arguments.names]
    _try_all(chosen, is_everything=len(chosen) == len(listed))


def read_list() -> tuple[Mutation, ...]:
    """All faults. Raises `ValueError` if two have the same name."""
    entries = tomllib.loads(LIST.read_text(encoding="utf-8"))["mutation"]
    names = [entry["name"] for entry in entries]
    if len(set(names)) != len(names):
        raise ValueError("two faults have one name.")
    return tuple(Mutation(**{**entry, "tests": tuple(entry["tests"])}) for entry in entries)


def _try_all(chosen: Sequence[Mutation], *, is_everything: bool) -> None:
    report = Report("mutations", libraries=("pytest",))
    verdicts: dict[str, Verdict] = {}
    with _worktree() as worktree:
        for mutation in chosen:
            began = time.perf_counter()
            verdict = verdicts[mutation.name] = worktree.try_out(mutation)
            print(
                f"{mutation.name:<48} {verdict} {time.perf_counter() - began:6.1f} s", flush=True
            )
    survivors = [name for name, verdict in verdicts.items() if verdict is Verdict.SURVIVED]
    report.fact("faults", len(verdicts))
    report.fact("not noticed", ", ".join(survivors) or "none")
    share = (len(verdicts) - len(survivors)) / len(verdicts)
    report.goal("share of the faults that is killed", measured=share, wanted=1.0)
    if is_everything:
        report.save()


@contextmanager
def _worktree() -> Iterator[Worktree]:
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "offdiag"
        _git("worktree", "add", "--quiet", "--detach", str(folder), "HEAD")
        try:
            yield Worktree(folder)
        finally:
            _git("worktree", "remove", "--force", str(folder))


def _git(*words: str) -> None:
    subprocess.run(["git", *words], cwd=ROOT, check=True)


if __name__ == "__main__":
    main()

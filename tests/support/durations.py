"""Plugin: long tests start first, and a summary names those that take longer than they should.

What starts last should be short, or one core works alone at the end. How long tests took the last
time is kept in the cache of pytest; where it is empty, `LONG` says which files to start with.
"""

from __future__ import annotations

from typing import Any

import pytest

BUDGET_S = 5.0
"""What a test may take, unless `LONG` names its file."""

LONG = {
    "tests/e2e/": "pages of a browser, and servers that start for them",
    "tests/faults/": "processes are started and killed, and disks filled",
    "tests/integrations/": "imports of large libraries",
    "tests/docs/": "every example of the documentation is run, and the site is built",
    "tests/migrations/stairway_test.py": "every revision is gone up, down and up again",
    "tests/services/archives/killed_test.py": "one task is killed at many places",
    "tests/workers/": "worker processes are started and killed",
}
"""Files and folders whose tests take long, and why."""

_KEPT_FROM_S = 1.0
_CACHE = "offdiag/durations"
_last = pytest.StashKey[dict[str, float]]()
_now = pytest.StashKey[dict[str, float]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--fail-over-budget",
        action="store_true",
        help=f"fail if a test that is not expected to takes longer than {BUDGET_S:g} s",
    )


def pytest_configure(config: pytest.Config) -> None:
    # All processes must agree about the order, so the first one tells the others.
    known: Any = getattr(config, "workerinput", {}).get(_CACHE)
    if known is None:
        cache = getattr(config, "cache", None)
        known = cache.get(_CACHE, {}) if cache is not None else {}
    config.stash[_last] = known
    config.stash[_now] = {}
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Recorder(config.stash[_now]))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a process of xdist how long tests took."""
    node.workerinput[_CACHE] = node.config.stash[_last]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Move long tests to the front; the others stay together with those that share with them."""
    last = config.stash[_last]
    if last:
        items.sort(key=lambda item: -_rounded(last.get(item.nodeid, 0.0)))
    else:
        items.sort(key=lambda item: not _is_long(item.nodeid))


class _Recorder:
    """Notes in the process that reports how long each test took."""

    def __init__(self, took: dict[str, float]) -> None:
        self._took = took

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name = report.nodeid
        self._took[name] = self._took.get(name, 0.0) + report.duration


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Keep for the next time what took long, and what took long before and was not run."""
    config = session.config
    cache = getattr(config, "cache", None)
    if hasattr(config, "workerinput"):
        return
    took = config.stash[_now]
    if cache is not None:
        known = config.stash[_last] | took
        cache.set(_CACHE, {name: s for name, s in known.items() if s >= _KEPT_FROM_S})
    if config.getoption("fail_over_budget") and _over_budget(took) and session.exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    over = _over_budget(config.stash[_now])
    if over:
        terminalreporter.section(f"tests over their budget of {BUDGET_S:g} s")
        for name in over:
            terminalreporter.write_line(f"{config.stash[_now][name]:6.1f} s  {name}")


def _over_budget(took: dict[str, float]) -> list[str]:
    over = [name for name, seconds in took.items() if seconds > BUDGET_S and not _is_long(name)]
    return sorted(over, key=lambda name: -took[name])


def _is_long(name: str) -> bool:
    return name.startswith(tuple(LONG))


def _rounded(seconds: float) -> float:
    """Nothing for what does not matter: a test that shares a fixture waits for the others."""
    return seconds if seconds >= BUDGET_S else 0.0

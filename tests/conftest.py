"""Fixtures of all tests, and how often this process looks for garbage."""

from __future__ import annotations

import gc
import os

import pytest
from hypothesis import settings

# Libraries of numbers have a thread on every core, and each waits for its next piece of work by
# running in circles, which the other processes of the tests then lack. They ask when they load.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

# How long an example takes depends on what else the machine does. What 25 examples do not find
# hundreds may: `--hypothesis-profile thorough` looks for longer.
settings.register_profile("offdiag", deadline=None, max_examples=25)
settings.register_profile("thorough", deadline=None, max_examples=400)
settings.load_profile("offdiag")

pytest_plugins = ("support.durations",)

# Modules and thousands of collected tests are not garbage. Looking through them again and again
# took a third of the time that collecting takes, and a sixth of that of the tests.
gc.disable()


def pytest_configure(config: pytest.Config) -> None:
    """Bring the fixtures, but to the process of xdist that has others run the tests.

    Loading what they are made of takes seconds, for which the others would wait.
    """
    only_waits = config.getoption("dist", "no") != "no" and not config.option.collectonly
    if not only_waits or hasattr(config, "workerinput"):
        config.pluginmanager.import_plugin("support.databases")


def pytest_collection_finish() -> None:
    """Leave alone what is there, and look less often at what comes."""
    gc.freeze()
    gc.enable()
    # Whole applications of tests are garbage in circles, and fill gigabytes unless looked for.
    gc.set_threshold(20_000, 20, 10)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more process than cores, as many tests wait for others.

    Each further one starts a database server and a browser of its own and saves no time.
    """
    return (os.cpu_count() or 1) + 1

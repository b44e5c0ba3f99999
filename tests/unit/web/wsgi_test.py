"""A server that has settled does not look through what it started with again and again."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from offdiag_web.wsgi import settle


@pytest.fixture
def unfrozen() -> Iterator[None]:
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("unfrozen")
def test_what_is_there_when_a_server_settles_is_passed_by() -> None:
    kept: list[list[int]] = [[]]

    settle()

    assert gc.get_freeze_count() > 0
    assert not any(each is kept for each in gc.get_objects())
    gc.unfreeze()
    assert any(each is kept for each in gc.get_objects())

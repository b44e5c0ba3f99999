"""Values that may be None elsewhere, and are not where a test goes on with them."""

from __future__ import annotations

from typing import TypeVar

Value = TypeVar("Value")


def present(value: Value | None) -> Value:
    """The value; there is one."""
    assert value is not None
    return value

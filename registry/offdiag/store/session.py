"""The session type that services pass on: they own its transaction, the store its statements."""

from __future__ import annotations

from sqlalchemy.orm import Session

__all__ = ["Session"]

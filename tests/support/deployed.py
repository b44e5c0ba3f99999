"""What files that start offdiag elsewhere may name."""

from __future__ import annotations

from offdiag.settings import Settings


def require_setting(variable: str) -> None:
    """Fail unless a variable names a setting, or is one that others read."""
    if variable in {"OFFDIAG_URL", "OFFDIAG_CONFIG", "PGPASSWORD"}:
        return
    section, _, name = variable.removeprefix("OFFDIAG_").lower().partition("__")
    assert name in type(getattr(Settings(), section)).model_fields, variable

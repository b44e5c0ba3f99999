"""How every request that is not fulfilled is answered."""

from __future__ import annotations

from pydantic import Field

from offdiag.wire.bodies import Answered


class Reason(Answered):
    """What is wrong, where, and the way out."""

    code: str = Field(description="Stable name of the kind of error.")
    message: str
    field: str | None = Field(description="The input that caused it.")
    hint: str | None = Field(description="What to do next.")


class Refusal(Answered):
    """The one shape of all errors."""

    error: Reason

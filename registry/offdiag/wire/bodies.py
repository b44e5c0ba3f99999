"""What all bodies share."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Asked(BaseModel):
    """The body or the query of a request: a field that is not declared is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Answered(BaseModel):
    """The body of an answer. NaN and infinity cannot be put into one.

    Whoever reads an answer lets fields pass that a newer server added.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)

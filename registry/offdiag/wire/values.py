"""Measured values."""

from __future__ import annotations

from pydantic import Field

from offdiag.domain.values import MetricValue
from offdiag.wire.bodies import Answered


class Value(Answered):
    """One value of a metric, in full precision; where it is undefined, the reason instead."""

    value: float | None
    reason: str | None = Field(default=None, description="Why there is no value.")
    limit: str | None = Field(
        default=None, description='"+inf" where a positive number was divided by zero.'
    )
    ci_low: float | None = None
    ci_high: float | None = None
    ci_method: str | None = Field(default=None, description="How the interval was found.")

    @classmethod
    def of(cls, measured: MetricValue) -> Value:
        """The value as it travels."""
        return cls(
            value=measured.value,
            reason=measured.reason,
            limit=measured.limit,
            ci_low=measured.ci_low,
            ci_high=measured.ci_high,
            ci_method=measured.ci_method,
        )

    def measured(self) -> MetricValue:
        """The value as it was measured."""
        return MetricValue(
            self.value, self.reason, self.limit, self.ci_low, self.ci_high, self.ci_method
        )

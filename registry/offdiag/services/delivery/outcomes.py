"""How a delivery may end when it does not arrive."""

from __future__ import annotations


class DeliveryFailed(Exception):
    """It did not arrive; a later attempt may."""


class DeliveryRefused(Exception):
    """Settings or rules forbid it; the message says what to change."""

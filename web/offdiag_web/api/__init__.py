"""The interface for programs: `/api/v1`, one module for each resource."""

from offdiag_web.api.registration import BLUEPRINTS, register

__all__ = ["BLUEPRINTS", "register"]

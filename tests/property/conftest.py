"""Properties hold on slow and busy machines too: no example has a deadline."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

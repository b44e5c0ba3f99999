"""The rules and thresholds in force, by which flags are raised."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import cached_property

from offdiag.flags.catalogue import RULES
from offdiag.flags.thresholds import Thresholds
from offdiag.settings import FlagsSettings, load_settings


@dataclass(frozen=True)
class RulesInForce:
    """What every rule compares with; `digest` changes when a rule or a threshold does."""

    thresholds: Thresholds

    @cached_property
    def digest(self) -> str:
        """SHA-256 over the versions of all rules and all thresholds."""
        facts = {
            "rules": {rule.id: rule.version for rule in RULES.values()},
            "thresholds": asdict(self.thresholds),
        }
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def thresholds_in(settings: FlagsSettings) -> Thresholds:
    """The rules' thresholds out of `[flags]`. Raises `InvalidInput` for grades out of order."""
    return Thresholds(**settings.model_dump())


def rules_in_force() -> RulesInForce:
    """The rules with the thresholds of the settings, read now."""
    return RulesInForce(thresholds_in(load_settings().flags))

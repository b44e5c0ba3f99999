"""The rules in force, with their thresholds and where each threshold comes from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property

from offdiag.flags.catalogue import RULES, RuleDescription
from offdiag.flags.rules import THRESHOLDS_OF
from offdiag.flags.thresholds import MEANINGS, Thresholds
from offdiag.metrics.custom import custom_suffix
from offdiag.settings import FlagsSettings, Settings, load_settings
from offdiag.settings.load import SettingSource
from offdiag.store.database import Database
from offdiag.store.flags import count_judged_by_others


@dataclass(frozen=True)
class RulesInForce:
    """The thresholds of all rules; `digest` changes when a rule or a threshold does.

    `suppressed_below` is the size below which slices are hidden, 0 for none; if it is set, no
    slice is flagged.
    """

    thresholds: Thresholds
    suppressed_below: int = 0

    @cached_property
    def digest(self) -> str:
        """SHA-256 over the versions of all rules, all thresholds, and what is hidden."""
        facts: dict[str, object] = {
            "rules": {rule.id: rule.version for rule in RULES.values()},
            "thresholds": asdict(self.thresholds),
        }
        if self.suppressed_below:
            facts["suppressed_below"] = self.suppressed_below
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()

    @property
    def evaluated_by(self) -> str:
        """`digest`, followed by that of the metrics declared in this process.

        Runs that were evaluated by others are evaluated again. A process without declared metrics
        has only the beginning, and keeps the results of processes that have some.
        """
        return f"{self.digest}{custom_suffix()}"


def thresholds_in(settings: FlagsSettings) -> Thresholds:
    """The thresholds of rules in `[flags]`. Raises `InvalidInput` for grades out of order."""
    return Thresholds(**settings.model_dump())


def rules_in(settings: Settings) -> RulesInForce:
    """The rules with the thresholds in these settings."""
    return RulesInForce(thresholds_in(settings.flags), settings.slices.suppress_below)


def rules_in_force() -> RulesInForce:
    """The rules with the thresholds in the current settings."""
    return rules_in(load_settings())


_SECTION = "flags."


@dataclass(frozen=True, slots=True)
class ThresholdInForce:
    """A threshold with its default; `source` is "default", a file, or a variable."""

    name: str
    meaning: str
    value: float
    default: float
    source: str


@dataclass(frozen=True, slots=True)
class RuleInForce:
    """A rule with its thresholds."""

    rule: RuleDescription
    thresholds: tuple[ThresholdInForce, ...]


@dataclass(frozen=True, slots=True)
class RulesOverview:
    """All rules, and how many runs were judged by other rules or thresholds."""

    rules: tuple[RuleInForce, ...]
    digest: str
    n_judged_by_others: int


def browse_rules(
    database: Database, in_force: RulesInForce, described: Sequence[SettingSource]
) -> RulesOverview:
    """The rules that check every run. `described` says where settings come from."""
    sources = {
        each.key.removeprefix(_SECTION): each.source
        for each in described
        if each.key.startswith(_SECTION)
    }
    with database.read() as session:
        n_judged_by_others = count_judged_by_others(session, in_force.digest)
    return RulesOverview(
        tuple(
            RuleInForce(
                rule,
                tuple(
                    _threshold(name, in_force.thresholds, sources)
                    for name in THRESHOLDS_OF[rule.id]
                ),
            )
            for rule in RULES.values()
        ),
        in_force.digest,
        n_judged_by_others,
    )


def _threshold(name: str, in_force: Thresholds, sources: dict[str, str]) -> ThresholdInForce:
    value, default = asdict(in_force)[name], asdict(Thresholds())[name]
    # The settings may have changed since the application was created.
    source = sources.get(name, "default")
    return ThresholdInForce(name, MEANINGS[name], value, default, source)

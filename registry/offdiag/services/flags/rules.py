"""The rules in force, with their thresholds and where each of these comes from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property

from offdiag.flags.catalogue import RULES, RuleDescription
from offdiag.flags.rules import MEANINGS, METRICS_OF, THRESHOLDS_OF
from offdiag.flags.thresholds import Thresholds
from offdiag.metrics.custom import custom_suffix
from offdiag.settings import FlagsSettings, Settings, load_settings
from offdiag.settings.load import SettingSource
from offdiag.store.database import Database
from offdiag.store.flags import count_judged_by_others


@dataclass(frozen=True)
class RulesInForce:
    """What every rule compares with; `digest` changes when a rule or a threshold does.

    `suppressed_below` is the size below which slices are hidden, 0 for none: no slice is flagged
    then.
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
        """`digest`, and behind it that of the metrics declared in this process.

        Runs that were evaluated by another one are evaluated again. A process that knows no
        declared metrics has the beginning alone, and lets the results of those that do stand.
        """
        return f"{self.digest}{custom_suffix()}"


def thresholds_in(settings: FlagsSettings) -> Thresholds:
    """The rules' thresholds out of `[flags]`. Raises `InvalidInput` for grades out of order."""
    return Thresholds(**settings.model_dump())


def rules_in(settings: Settings) -> RulesInForce:
    """The rules as some settings have them."""
    return RulesInForce(thresholds_in(settings.flags), settings.slices.suppress_below)


def rules_in_force() -> RulesInForce:
    """The rules with the thresholds of the settings, read now."""
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
    """A rule with its thresholds and the keys of the metrics it looks at."""

    rule: RuleDescription
    thresholds: tuple[ThresholdInForce, ...]
    metrics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RulesOverview:
    """All rules, and how many runs were judged by other rules or thresholds than these."""

    rules: tuple[RuleInForce, ...]
    digest: str
    n_judged_by_others: int


def browse_rules(
    database: Database, in_force: RulesInForce, described: Sequence[SettingSource]
) -> RulesOverview:
    """What is asked of every run. `described` tells where settings come from."""
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
                METRICS_OF[rule.id],
            )
            for rule in RULES.values()
        ),
        in_force.digest,
        n_judged_by_others,
    )


def _threshold(name: str, in_force: Thresholds, sources: dict[str, str]) -> ThresholdInForce:
    value, default = asdict(in_force)[name], asdict(Thresholds())[name]
    # What the application was created with need not be what the settings say by now.
    source = sources.get(name, "default")
    return ThresholdInForce(name, MEANINGS[name], value, default, source)

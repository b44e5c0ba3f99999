"""Gates on stored runs as tests judge them: by conditions in text, without waiting for long."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from offdiag.flags.thresholds import Thresholds
from offdiag.gate.conditions import parse_condition
from offdiag.services.gates.gate import GateResult, gate_run
from offdiag.settings import FlagsSettings, Settings
from offdiag.store.database import Database


def judged(
    database: Database,
    run_id: str,
    *texts: str,
    thresholds: Thresholds | None = None,
    **options: Any,
) -> GateResult:
    """What a gate says of a run."""
    return gate_run(
        database,
        run_id,
        [parse_condition(text) for text in texts],
        settings=Settings(flags=FlagsSettings(**asdict(thresholds or Thresholds()))),
        **{"timeout_s": 5, **options},
    )

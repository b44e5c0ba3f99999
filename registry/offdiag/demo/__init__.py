"""Real models on real data, so that a new registry has something true to show.

The data ships inside scikit-learn; nothing is downloaded and no number is written down here:
what the dashboard shows is what these models did.
"""

from __future__ import annotations

from offdiag.demo.costs_and_reports import judge_runs, plan_report
from offdiag.demo.experiments import Experiment, Trial, breast_cancer, digits, log_trial, wine

__all__ = [
    "PROJECT",
    "Experiment",
    "Trial",
    "experiments",
    "judge_runs",
    "log_trial",
    "plan_report",
]

PROJECT = "demo"


def experiments(seed: int) -> list[Experiment]:
    """All experiments, their data read and split; models are trained by `log_trial`."""
    return [wine(), breast_cancer(seed), digits(seed)]

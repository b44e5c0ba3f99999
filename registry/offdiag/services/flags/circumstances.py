"""What the rules look at beside the matrix of a run: costs, orientation, and the baseline."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.domain.orientation import OrientationEvidence
from offdiag.metrics.paired.joint import JointCounts
from offdiag.services.flags.settings import RulesInForce
from offdiag.services.flags.verdicts import AgainstBaseline, Circumstances
from offdiag.services.pairing import pair_runs
from offdiag.store import cost_matrices, runs
from offdiag.store.runs import RunRecord
from offdiag.store.session import Session


@dataclass(frozen=True)
class JudgedBy:
    """What a run is judged by, and the names under which that is remembered.

    `baseline_run_id` is the pinned run of the dataset, None for that run itself; whether the
    two could be compared case by case is another matter.
    """

    circumstances: Circumstances
    rules_digest: str
    cost_matrix_id: int | None
    baseline_run_id: str | None


def read_circumstances(
    session: Session, run: RunRecord, *, truth_id: int | None, rules: RulesInForce
) -> JudgedBy:
    """Read everything the rules need about a run that is scored with a version of the truth."""
    costs = cost_matrices.default_costs(session, run.dataset_id)
    baseline = runs.find_baseline(session, run.dataset_id)
    against = None
    if baseline is not None and baseline.run_id != run.id:
        pinned = runs.get_run(session, baseline.run_id)
        joint = pair_runs(session, pinned, run, truth_id=truth_id)
        if isinstance(joint, JointCounts):
            against = AgainstBaseline(baseline.run_name, joint)
    evidence = run.orientation_evidence
    return JudgedBy(
        Circumstances(
            thresholds=rules.thresholds,
            costs=None if costs is None else costs.costs,
            orientation=None if evidence is None else OrientationEvidence.from_dict(evidence),
            baseline=against,
        ),
        rules_digest=rules.digest,
        cost_matrix_id=None if costs is None else costs.id,
        baseline_run_id=None if baseline is None or baseline.run_id == run.id else baseline.run_id,
    )

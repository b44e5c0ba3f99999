"""API operations on leaders, methods, champion and candidate of a dataset, and on gates."""

from __future__ import annotations

from offdiag.domain.access import Role
from offdiag.domain.runs import PromotionRole
from offdiag.records.base import InProject
from offdiag.records.gate import Gate, GateRequest, asked_gate
from offdiag.records.promotion import (
    NewPromotion,
    PrimaryMetric,
    Promotions,
    RankedRuns,
    asked_promotion,
    leaders_document,
    promotions_document,
)
from offdiag.records.runs.method import Methods, asked_methods
from offdiag.records.runs.run_list import LeadersQuery
from offdiag.services.champions import leaders, promotions
from offdiag.store.datasets import DatasetRecord, dataset_named
from offdiag_web.api.operations import author, operation, resource
from offdiag_web.app.context import (
    current_registry,
    kept_best_sets,
    kept_choices,
    kept_moments,
    requires,
)

blueprint = resource("promotions")


@operation(blueprint, "GET", "/datasets/<name:name>/leaders")
def list_leaders(name: str, query: LeadersQuery) -> RankedRuns:
    """Read the runs of a dataset, best first, with the set of runs that may be the best."""
    database = current_registry().database
    with database.read() as session:
        known = dataset_named(session, project=query.project, name=name)
    return _ranked(known, metric=query.metric)


@operation(blueprint, "GET", "/datasets/<name:name>/methods")
def list_methods(name: str, query: LeadersQuery) -> Methods:
    """Read the methods of a dataset, which group runs that differ by seed or fold, best first."""
    return asked_methods(current_registry().database, name, query, kept_moments())


@operation(blueprint, "PUT", "/datasets/<name:name>/primary-metric")
def set_primary_metric(name: str, json: PrimaryMetric) -> RankedRuns:
    """Set the metric by which the runs of a dataset are ranked."""
    database = current_registry().database
    known = leaders.set_primary_metric(
        database, project=json.project, dataset=name, key=json.metric
    )
    return _ranked(known)


@operation(blueprint, "GET", "/datasets/<name:name>/promotions")
def list_promotions(name: str, query: InProject) -> Promotions:
    """Read champion and candidate of a dataset, and earlier decisions."""
    return _decided(query.project, name)


@operation(blueprint, "PUT", "/datasets/<name:name>/champion")
def approve(name: str, json: NewPromotion) -> Promotions:
    """Approve a run as champion of the dataset, or withdraw the champion."""
    return _given(PromotionRole.CHAMPION, name, json)


@operation(blueprint, "PUT", "/datasets/<name:name>/candidate")
def propose(name: str, json: NewPromotion) -> Promotions:
    """Propose a run as the next champion of the dataset, or withdraw the candidate."""
    return _given(PromotionRole.CANDIDATE, name, json)


def _given(role: PromotionRole, name: str, asked: NewPromotion) -> Promotions:
    """Give the role to a run of the dataset, or withdraw it."""
    registry, by = current_registry(), author(asked.author)
    database, where = registry.database, {"project": asked.project, "dataset": name}
    if asked.run is None:
        promotions.withdraw(database, **where, role=role, reason=asked.reason, author=by)
    else:
        promotions.require_run_of(database, asked.run, **where)
        settings = registry.settings
        asked_promotion(database, role, asked.run, asked, author=by, settings=settings)
    return _decided(asked.project, name)


def _decided(project: str, name: str) -> Promotions:
    found = promotions.promotions_of(current_registry().database, project=project, dataset=name)
    return promotions_document(found)


@operation(blueprint, "POST", "/runs/<run:run_id>/gate")
@requires(Role.VIEWER)
def check_gate(run_id: str, json: GateRequest) -> Gate:
    """Check conditions on the metrics and flags of a run, and on its differences from a baseline.
    Nothing is stored. Until the run is evaluated the response is 409 with the code
    `evaluation_pending`.
    """
    registry = current_registry()
    return asked_gate(registry.database, run_id, json, registry.settings, timeout_s=0)


def _ranked(dataset: DatasetRecord, *, metric: str | None = None) -> RankedRuns:
    found = leaders.corrected_leaders(
        current_registry().database,
        dataset,
        metric=metric,
        kept=kept_best_sets(),
        kept_choices=kept_choices(),
    )
    return leaders_document(found, project=dataset.project, dataset=dataset.name)

"""The interface asked everything that its description allows, and some things that it forbids.

OFFDIAG_API_EXAMPLES is the number of requests to each operation; some hundreds take minutes.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import Case, HookContext
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.core.result import Ok
from schemathesis.generation import GenerationMode
from schemathesis.schemas import APIOperation, BaseSchema
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from sqlalchemy import func, select

from offdiag.reports.scope import ReportScope
from offdiag.services.schedules.edit import add_schedule, run_schedule
from offdiag.store.database import Database
from offdiag.store.models import WorkRow
from offdiag_web.app.dispatch import PREFIX
from support.dashboard import log_lesions, open_lesions, price_lesions
from support.kinds import Kind
from support.registries import dashboard

EXAMPLES = int(os.environ.get("OFFDIAG_API_EXAMPLES", "1"))
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="session")
def described(databases: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BaseSchema]:
    """The description of an application over a small registry, whose things it may ask for."""
    with databases.new(tmp_path_factory.mktemp("described")) as database:
        known = fill(database)
        schema = schemathesis.openapi.from_wsgi("/api/v1/openapi.json", dashboard(database))

        @schema.hook
        def map_path_parameters(context: HookContext, parts: dict[str, Any]) -> dict[str, Any]:
            """Every other request is about a thing that there is."""
            assert context.operation is not None
            things = (
                {} if context.operation.method == "delete" else known[section(context.operation)]
            )
            return {
                name: things.get(name, value) if len(str(value)) % 2 else value
                for name, value in (parts or {}).items()
            }

        @schema.hook
        def map_query(
            _context: HookContext, query: dict[str, Any] | None
        ) -> dict[str, Any] | None:
            """Nobody asks for a project that there is not, most of the time."""
            if query and len(str(query.get("project"))) % 3:
                return {name: value for name, value in query.items() if name != "project"}
            return query

        @schema.hook
        def map_body(_context: HookContext, body: Any) -> Any:
            if isinstance(body, dict) and isinstance(body.get("runs"), list):
                return body | {"runs": [known["runs"]["run_id"]]}
            return body

        yield schema


def section(operation: APIOperation[Any, Any, Any, Any]) -> str:
    """The first part of a path behind the prefix."""
    return str(operation.path).removeprefix(PREFIX).split("/")[1]


def fill(database: Database) -> defaultdict[str, dict[str, Any]]:
    """Log a few things; by section of the interface, the parts of a path that name them."""
    run_id = log_lesions(database, name="plain CE")
    log_lesions(database, name="waiting", evaluated=False)
    open_lesions(database)
    price_lesions(database)
    scope = ReportScope(project="default", dataset="derm-7")
    add_schedule(database, name="weekly", cron="0 7 * * 1", zone="UTC", scope=scope)
    run_schedule(database, project="default", name="weekly")
    with database.read() as session:
        job_id = session.scalar(select(func.max(WorkRow.id)))
    return defaultdict(
        dict,
        {
            "runs": {"run_id": run_id},
            "datasets": {"name": "derm-7", "number": 1},
            "cost-matrices": {"name": "triage"},
            "flags": {"number": 1},
            "schedules": {"name": "weekly"},
            "reports": {"name": "weekly", "number": 1, "file": "json"},
            "jobs": {"job_id": job_id},
            "metrics": {"key": "mcc"},
        },
    )


def test_answers_are_those_that_are_described(described: BaseSchema) -> None:
    found = {}
    for each in described.get_all_operations():
        assert isinstance(each, Ok)
        operation = each.ok()
        try:
            ask(operation)
        except FailureGroup as error:
            found[operation.label] = error
    assert not found, "\n\n".join(f"{label}: {error}" for label, error in found.items())


def ask(operation: APIOperation[Any, Any, Any, Any]) -> None:
    """Send requests that fit the description of an operation, and some that do not."""
    both = st.one_of([operation.as_strategy(generation_mode=mode) for mode in GenerationMode])

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=both)
    def send(case: Case[Any]) -> None:
        case.call_and_validate(checks=CHECKS)

    send()

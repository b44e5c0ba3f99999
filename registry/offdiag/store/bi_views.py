"""Views for BI tools on a PostgreSQL registry, with stable names.

Deleted runs appear in none of them. Roles that may read the views are limited in what they can do,
and the views are dropped and recreated around schema changes.

Tables change with the schema, and hold tokens and passwords. The views are in a schema of their
own, so that a role can be granted the views and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from offdiag.errors import Conflict, InvalidInput
from offdiag.store.database import Database

SCHEMA = "offdiag_bi"


@dataclass(frozen=True, slots=True)
class View:
    """One view: what a row is, what each column means, in order, and where rows come from."""

    name: str
    row: str
    columns: Mapping[str, str]
    source: str


_RUN = {"run_id": "The run."}
_INTERVAL = {
    "value": "The value; NULL where it is undefined.",
    "undefined_reason": "Why it is undefined; NULL where there is a value.",
    "tends_to": "Limit of an undefined value, if there is one.",
    "interval_low": "Lower end of its 95 % interval.",
    "interval_high": "Upper end of its 95 % interval.",
    "interval_method": "How the interval was computed; NULL where there is none.",
}
_VALUES = "m.value, m.reason, m.tends_to, m.ci_low, m.ci_high, m.ci_method"

# The current evaluation of a run that is not deleted.
_COUNTED = (
    "evaluation AS e JOIN run AS r "
    "ON r.id = e.run_id AND r.deleted_at IS NULL AND e.is_current AND e.slice IS NULL"
)

VIEWS = (
    View(
        "runs",
        "One row for each run.",
        {
            "run_id": "Identifier of the run.",
            "project": "Its project.",
            "dataset": "Its dataset.",
            "task": "`binary`, `multiclass` or `multilabel`.",
            "run_name": "Name, not unique.",
            "model": "Model name; NULL if not given.",
            "state": "`open`, `finished`, `evaluated` or `failed`.",
            "author": "Author.",
            "git_sha": "Git commit it was logged from.",
            "source_orientation": "`predictions`, or the orientation of an uploaded matrix.",
            "created_at": "When it was opened.",
            "finished_at": "When it was complete; NULL while it is open.",
            "evaluated_at": "Time of the current evaluation; NULL before it.",
            "n_predictions": "Number of its predictions, 0 for a matrix.",
            "n_cases": "Number of examples in its evaluation.",
            "n_labelled_cases": "Number of labelled examples.",
            "truth_version": "Label version of its results.",
            "suite_version": "Version of the metrics.",
            "hides_minority": "Whether its accuracy hides a class; NULL if not applicable.",
            "may_hide_minority": "Whether it may hide one: a large gap in recall is possible, "
            "none is confirmed.",
            "cost_matrix": "Name of the cost matrix of its costs; NULL without one.",
            "cost_matrix_version": "Version of that matrix.",
            "is_baseline": "Whether other runs of its dataset are compared with it.",
            "params": "Parameters as JSON: `params->>'lr'`.",
            "tags": "Tags as JSON.",
            "is_weighted": "Whether its examples have weights; its metrics are then of sums of "
            "weights.",
        },
        """
        SELECT r.id, p.name, d.name, d.task, r.name, r.model, r.state, r.author, r.git_sha,
            r.source_orientation, r.created_at, r.finished_at, e.computed_at, r.n_predictions,
            e.n_cases, e.n_labelled, t.number, e.suite_version, e.hides_minority,
            CASE WHEN e.hides_minority IS NOT NULL THEN NOT e.hides_minority AND EXISTS (
                SELECT FROM flag AS f WHERE f.run_id = r.id AND f.state <> 'closed'
                    AND f.in_badge AND f.severity = 'medium') END,
            c.name, c.version, b.run_id IS NOT NULL, r.params, r.tags, r.is_weighted
        FROM run AS r
        JOIN project AS p ON p.id = r.project_id
        JOIN dataset AS d ON d.id = r.dataset_id
        LEFT JOIN evaluation AS e ON e.run_id = r.id AND e.is_current AND e.slice IS NULL
        LEFT JOIN truth_version AS t ON t.id = e.truth_version_id
        LEFT JOIN cost_matrix AS c ON c.id = e.cost_matrix_id
        LEFT JOIN baseline AS b ON b.dataset_id = r.dataset_id AND b.run_id = r.id
        WHERE r.deleted_at IS NULL
        """,
    ),
    View(
        "metrics",
        "One row for each [metric](metrics/README.md) of a run as a whole.",
        {**_RUN, "metric": "Key of the metric in the catalogue.", **_INTERVAL},
        f"""
        SELECT e.run_id, m.key, {_VALUES}
        FROM {_COUNTED} JOIN metric_value AS m ON m.evaluation_id = e.id AND m.class_index = -1
        """,  # noqa: S608 - made of constants
    ),
    View(
        "class_metrics",
        "One row for each class of a run and each of `recall`, `precision`, `f1` and `support`; "
        "`offdiag sql` has the others.",
        {
            **_RUN,
            "class_label": "The class.",
            "metric": "Key of the metric in the catalogue.",
            **_INTERVAL,
        },
        f"""
        SELECT e.run_id, l.names ->> m.class_index, m.key, {_VALUES}
        FROM {_COUNTED} JOIN metric_value AS m ON m.evaluation_id = e.id AND m.class_index >= 0
        JOIN confusion_matrix AS c ON c.evaluation_id = e.id
        JOIN label_set AS l ON l.id = c.label_set_id
        """,  # noqa: S608 - made of constants
    ),
    View(
        "confusions",
        "One row for each non-empty cell of a confusion matrix, the diagonal included. "
        "Multi-label runs have none.",
        {
            **_RUN,
            "actual_label": "Actual class.",
            "predicted_label": "Predicted class.",
            "n_cases": "Examples in the cell, whatever their weights.",
            "is_correct": "Whether both are the same class.",
        },
        f"""
        SELECT e.run_id, l.names ->> cell.actual, l.names ->> cell.predicted, cell.n_cases,
            cell.actual = cell.predicted
        FROM {_COUNTED} JOIN confusion_matrix AS c ON c.evaluation_id = e.id
        JOIN label_set AS l ON l.id = c.label_set_id
        CROSS JOIN LATERAL {SCHEMA}.occupied_cells(c.cells, c.n_classes) AS cell
        """,  # noqa: S608 - made of constants
    ),
    View(
        "flags",
        "One row for each [flag](flags.md) that was ever raised.",
        {
            **_RUN,
            "rule": "Rule that raised it, such as `F4`.",
            "class_label": "Class; NULL for the whole run.",
            "slice": "Slice, such as `site=z`; NULL for all samples.",
            "severity": "Severity.",
            "state": "`open`, `acknowledged`, `snoozed`, `dismissed` or `closed`.",
            "message": "Message.",
            "says_accuracy_hides_a_class": "Whether it sets the red warning.",
            "says_accuracy_may_hide_a_class": "Whether it sets the amber warning: a large gap "
            "in recall is possible and not confirmed.",
            "dismissed_reason": "Reason of the dismissal.",
            "assignee": "Assignee.",
            "first_seen_at": "When it was first raised.",
            "last_seen_at": "When it was last raised.",
            "closed_at": "When it was closed.",
        },
        """
        SELECT f.run_id, f.rule, nullif(f.class_label, ''), nullif(f.slice, ''), f.severity,
            f.state, f.message, f.in_badge AND f.severity <> 'medium',
            f.in_badge AND f.severity = 'medium', f.reason, f.assignee, f.first_seen, f.last_seen,
            f.closed_at
        FROM flag AS f JOIN run AS r ON r.id = f.run_id AND r.deleted_at IS NULL
        """,
    ),
    View(
        "datasets",
        "One row for each dataset, with its newest label version.",
        {
            "project": "Its project.",
            "dataset": "Its name.",
            "task": "`binary`, `multiclass` or `multilabel`.",
            "positive_label": "Positive class, if there is one.",
            "n_classes": "Number of its classes.",
            "truth_version": "Newest label version; NULL before the first.",
            "n_samples": "Samples in that version.",
            "n_labelled_samples": "Number of labelled samples.",
            "baseline_run_id": "Baseline run, if one is pinned.",
            "created_at": "When the first run was logged.",
        },
        """
        SELECT p.name, d.name, d.task, d.positive_label, l.n_classes, t.number, t.n_samples,
            t.n_labelled, r.id, d.created_at
        FROM dataset AS d
        JOIN project AS p ON p.id = d.project_id
        JOIN label_set AS l ON l.id = d.label_set_id
        LEFT JOIN truth_version AS t ON t.dataset_id = d.id AND t.number =
            (SELECT max(n.number) FROM truth_version AS n WHERE n.dataset_id = d.id)
        LEFT JOIN baseline AS b ON b.dataset_id = d.id
        LEFT JOIN run AS r ON r.id = b.run_id AND r.deleted_at IS NULL
        """,
    ),
    View(
        "dataset_classes",
        "One row for each class of a dataset, in order.",
        {
            "project": "Project of the dataset.",
            "dataset": "The dataset.",
            "class_position": "Position of the class in the label order, from 0.",
            "class_label": "The class.",
            "n_samples": "Samples of this class in the newest label version.",
        },
        """
        SELECT p.name, d.name, (label.place - 1)::integer, label.name,
            (t.class_counts ->> (label.place - 1)::integer)::bigint
        FROM dataset AS d
        JOIN project AS p ON p.id = d.project_id
        JOIN label_set AS l ON l.id = d.label_set_id
        CROSS JOIN LATERAL jsonb_array_elements_text(l.names)
            WITH ORDINALITY AS label (name, place)
        LEFT JOIN truth_version AS t ON t.dataset_id = d.id AND t.number =
            (SELECT max(n.number) FROM truth_version AS n WHERE n.dataset_id = d.id)
        """,
    ),
)

# The inverse of `codec.encode_counts`: an 8-byte header with the layout and the number of entries,
# then the counts of all cells, or of the occupied cells followed by their positions. The first
# line of the body decompresses the stored blob once.
OCCUPIED_CELLS = f"""
CREATE OR REPLACE FUNCTION {SCHEMA}.occupied_cells(
    cells bytea, n_classes integer, OUT actual integer, OUT predicted integer, OUT n_cases bigint
) RETURNS SETOF record LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $body$
DECLARE
    blob bytea := cells || ''::bytea;
    layout integer;
    n_entries bigint := 0;
    place bigint;
BEGIN
    -- Weights stand behind the counts, which have a header of their own.
    IF get_byte(blob, 1) = 7 THEN
        blob := substring(blob FROM 9);
    END IF;
    layout := get_byte(blob, 1);
    IF layout NOT IN (1, 2) THEN
        RETURN;
    END IF;
    FOR part IN 0..3 LOOP
        n_entries := n_entries + (get_byte(blob, 4 + part)::bigint << (8 * part));
    END LOOP;
    FOR entry IN 0..n_entries - 1 LOOP
        n_cases := 0;
        FOR part IN 0..7 LOOP
            n_cases := n_cases
                + (get_byte(blob, (8 + 8 * entry + part)::integer)::bigint << (8 * part));
        END LOOP;
        CONTINUE WHEN n_cases = 0;
        place := entry;
        IF layout = 2 THEN
            place := 0;
            FOR part IN 0..3 LOOP
                place := place + (get_byte(
                    blob, (8 + 8 * n_entries + 4 * entry + part)::integer)::bigint << (8 * part));
            END LOOP;
        END IF;
        actual := place / n_classes;
        predicted := place % n_classes;
        RETURN NEXT;
    END LOOP;
END
$body$
"""


_LIMITS = {
    "default_transaction_read_only": "on",
    "statement_timeout": "60s",
    "idle_in_transaction_session_timeout": "60s",
}
_NOT_ALLOWED = "42501"


def quoted(name: str) -> str:
    """A name quoted for SQL, whatever it holds; colons are escaped, as they start parameters."""
    return '"' + name.replace('"', '""').replace(":", r"\:") + '"'


def check_reader(connection: Connection, role: str) -> None:
    """Raise `InvalidInput` for a role that does not exist or can do more than read."""
    found = connection.execute(
        text(
            "SELECT rolsuper, pg_has_role(rolname, current_user, 'MEMBER') AS is_owner "
            "FROM pg_roles WHERE rolname = :role"
        ),
        {"role": role},
    ).one_or_none()
    if found is None:
        raise InvalidInput(
            f"there is no role {role!r}.",
            field="reader",
            hint="Ask the server's administrator to run: createuser --pwprompt NAME",
        )
    if found.rolsuper or found.is_owner:
        raise InvalidInput(
            f"the role {role!r} can change the registry.",
            field="reader",
            hint="Make one that owns nothing and belongs to no role that does.",
        )


def limit_reader(connection: Connection, role: str) -> Iterator[str]:
    """Limit what a role may do in this database; yields what an administrator must run instead."""
    database = connection.scalar(text("SELECT current_database()"))
    for name, value in _LIMITS.items():
        whom = f"ALTER ROLE {quoted(role)} IN DATABASE {quoted(database)}"
        statement = f"{whom} SET {name} = '{value}'"
        try:
            with connection.begin_nested():
                connection.execute(text(statement))
        except DBAPIError as error:
            if getattr(error.orig, "sqlstate", None) != _NOT_ALLOWED:
                raise
            yield statement.replace(r"\:", ":")


_OTHERS_DEPEND = "2BP01"


@dataclass(frozen=True)
class Published:
    """The existing views, the roles that can read them, and what only an administrator can do."""

    views: tuple[str, ...]
    readers: tuple[str, ...]
    left_to_do: tuple[str, ...]

    def to_dict(self) -> dict[str, list[str]]:
        """The same as plain Python values."""
        return {name: list(getattr(self, name)) for name in ("views", "readers", "left_to_do")}


def publish_views(database: Database, readers: Sequence[str]) -> Published:
    """Create or replace the views, and let these roles read them in addition to earlier ones.

    The database must have the current schema. Raises `InvalidInput` on SQLite and for a role that
    does not exist or can do more than read, `Conflict` if views of others depend on offdiag's.
    """
    _require_postgres(database)
    with database.migrate() as connection:
        for role in readers:
            check_reader(connection, role)
        take_down(connection)
        connection.execute(text(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}"))
        for role in readers:
            connection.execute(text(f"GRANT USAGE ON SCHEMA {SCHEMA} TO {quoted(role)}"))
        put_up(connection)
        left_to_do = [todo for role in readers for todo in limit_reader(connection, role)]
        names = tuple(view.name for view in VIEWS)
        return Published(names, _readers(connection), tuple(left_to_do))


def remove_views(database: Database) -> None:
    """Remove the views and their schema.

    Raises `InvalidInput` on SQLite, `Conflict` if objects of others are in it or depend on it.
    """
    _require_postgres(database)
    with database.migrate() as connection:
        take_down(connection)
        _dropped(connection, f"DROP SCHEMA IF EXISTS {SCHEMA}")


def take_down(connection: Connection) -> None:
    """Drop the views so that tables can change; the roles that may read them stay on record."""
    if not _is_there(connection):
        return
    for view in reversed(VIEWS):
        _dropped(connection, f"DROP VIEW IF EXISTS {SCHEMA}.{view.name}")
    _dropped(connection, f"DROP FUNCTION IF EXISTS {SCHEMA}.occupied_cells(bytea, integer)")


def put_up(connection: Connection) -> None:
    """Recreate the views for the roles that could read them before, if there were any."""
    if not _is_there(connection):
        return
    connection.execute(text(OCCUPIED_CELLS.replace(":", r"\:")))
    for view in VIEWS:
        connection.execute(text(_statement(view).replace(":", r"\:")))
        for role in _readers(connection):
            connection.execute(text(f"GRANT SELECT ON {SCHEMA}.{view.name} TO {quoted(role)}"))


def _statement(view: View) -> str:
    # A security barrier: no function in a query sees rows that the view leaves out.
    columns = ", ".join(view.columns)
    return (
        f"CREATE VIEW {SCHEMA}.{view.name} ({columns}) WITH (security_barrier = true) "
        f"AS {view.source}"
    )


def _is_there(connection: Connection) -> bool:
    if connection.dialect.name != "postgresql":
        return False
    found = connection.scalar(text("SELECT to_regnamespace(:name)"), {"name": SCHEMA})
    return found is not None


def _readers(connection: Connection) -> tuple[str, ...]:
    """Roles, other than its owner, that may enter the schema."""
    rows = connection.execute(
        text(
            "SELECT DISTINCT r.rolname FROM pg_namespace AS n, aclexplode(n.nspacl) AS acl "
            "JOIN pg_roles AS r ON r.oid = acl.grantee "
            "WHERE n.nspname = :name AND acl.grantee <> n.nspowner ORDER BY 1"
        ),
        {"name": SCHEMA},
    )
    return tuple(rows.scalars())


def _dropped(connection: Connection, statement: str) -> None:
    try:
        connection.execute(text(statement))
    except DBAPIError as error:
        if getattr(error.orig, "sqlstate", None) != _OTHERS_DEPEND:
            raise
        raise Conflict(
            f"objects of others are in the schema {SCHEMA} or depend on it ({error.orig}).",
            hint="Drop them first and recreate them later.",
        ) from error


def _require_postgres(database: Database) -> None:
    if database.dialect != "postgresql":
        raise InvalidInput(
            "a file has no roles to grant views to.",
            field="database.url",
            hint="`offdiag sql` answers questions in SQL about an SQLite registry.",
        )

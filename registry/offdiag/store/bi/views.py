"""Names, columns and statements of the views. Runs that somebody deleted are in none of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

SCHEMA = "offdiag_bi"


@dataclass(frozen=True, slots=True)
class View:
    """One view: what a row is, what each column means in order, and where they come from."""

    name: str
    row: str
    columns: Mapping[str, str]
    source: str


_RUN = {"run_id": "The run."}
_INTERVAL = {
    "value": "The value; NULL where it is undefined.",
    "undefined_reason": "Why it is undefined; NULL where there is a value.",
    "tends_to": "What an undefined value tends to, if to anything.",
    "interval_low": "Lower end of its 95 % interval.",
    "interval_high": "Upper end of its 95 % interval.",
    "interval_method": "How the interval was computed; NULL where there is none.",
}
_VALUES = "m.value, m.reason, m.tends_to, m.ci_low, m.ci_high, m.ci_method"

# The evaluation that counts for a run which is there.
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
            "run_name": "Its name, which other runs may have too.",
            "model": "The model that predicted; NULL if nobody said.",
            "state": "`open`, `finished`, `evaluated` or `failed`.",
            "author": "Who logged it.",
            "git_sha": "The commit it was logged from.",
            "source_orientation": "`predictions`, or what the rows of an uploaded matrix were.",
            "created_at": "When it was opened.",
            "finished_at": "When it was complete; NULL while it is open.",
            "evaluated_at": "When the numbers that count were computed; NULL before that.",
            "n_predictions": "Number of its predictions, 0 for a matrix.",
            "n_cases": "Cases its numbers are of.",
            "n_labelled_cases": "Those of them that have a label and are scored.",
            "truth_version": "Version of the ground truth its numbers are of.",
            "suite_version": "Version of the metrics.",
            "hides_minority": "Whether its accuracy hides a class; NULL where nothing can be "
            "said.",
            "may_hide_minority": "Whether it may hide one: a large gap in recall is in sight, "
            "none is proved.",
            "cost_matrix": "Name of the cost matrix its costs are of; NULL without one.",
            "cost_matrix_version": "Version of that matrix.",
            "is_baseline": "Whether other runs of its dataset are compared with it.",
            "params": "Parameters as JSON: `params->>'lr'`.",
            "tags": "Tags as JSON.",
        },
        """
        SELECT r.id, p.name, d.name, d.task, r.name, r.model, r.state, r.author, r.git_sha,
            r.source_orientation, r.created_at, r.finished_at, e.computed_at, r.n_predictions,
            e.n_cases, e.n_labelled, t.number, e.suite_version, e.hides_minority,
            CASE WHEN e.hides_minority IS NOT NULL THEN NOT e.hides_minority AND EXISTS (
                SELECT FROM flag AS f WHERE f.run_id = r.id AND f.state <> 'closed'
                    AND f.in_badge AND f.severity = 'medium') END,
            c.name, c.version, b.run_id IS NOT NULL, r.params, r.tags
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
        "One row for each occupied cell of a confusion matrix, right answers included. Runs whose "
        "cases carry sets of labels have none.",
        {
            **_RUN,
            "actual_label": "Actual class.",
            "predicted_label": "Predicted class.",
            "n_cases": "Cases in the cell.",
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
            "class_label": "The class it is about; NULL for the whole run.",
            "severity": "How serious it is.",
            "state": "`open`, `acknowledged`, `snoozed`, `dismissed` or `closed`.",
            "message": "What was found.",
            "says_accuracy_hides_a_class": "Whether it is one of those that do.",
            "says_accuracy_may_hide_a_class": "Whether it is one of those that do: a large gap "
            "in recall is in sight and not proved.",
            "dismissed_reason": "Why somebody dismissed it.",
            "assignee": "Who looks after it.",
            "first_seen_at": "When it was first raised.",
            "last_seen_at": "When it was last raised.",
            "closed_at": "When it no longer held.",
        },
        """
        SELECT f.run_id, f.rule, nullif(f.class_label, ''), f.severity, f.state, f.message,
            f.in_badge AND f.severity <> 'medium', f.in_badge AND f.severity = 'medium',
            f.reason, f.assignee, f.first_seen, f.last_seen, f.closed_at
        FROM flag AS f JOIN run AS r ON r.id = f.run_id AND r.deleted_at IS NULL
        """,
    ),
    View(
        "datasets",
        "One row for each dataset, with the newest version of its ground truth.",
        {
            "project": "Its project.",
            "dataset": "Its name.",
            "task": "`binary`, `multiclass` or `multilabel`.",
            "positive_label": "The class that counts as positive, where one does.",
            "n_classes": "Number of its classes.",
            "truth_version": "Newest version of its ground truth; NULL before the first.",
            "n_samples": "Samples in that version.",
            "n_labelled_samples": "Those of them that have a label.",
            "baseline_run_id": "The run that others are compared with, where one is pinned.",
            "created_at": "When it was first logged to.",
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
            "class_position": "Place of the class in the order of the labels, from 0.",
            "class_label": "The class.",
            "n_samples": "Samples of this class in the newest version of the ground truth.",
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

# The inverse of `codec.encode_counts`: a header of eight bytes that names the layout and the
# number of entries, then the counts of all cells, or of the occupied ones and where these are.
# The first line of the body takes the blob out of its compressed storage once.
OCCUPIED_CELLS = f"""
CREATE OR REPLACE FUNCTION {SCHEMA}.occupied_cells(
    cells bytea, n_classes integer, OUT actual integer, OUT predicted integer, OUT n_cases bigint
) RETURNS SETOF record LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $body$
DECLARE
    blob bytea := cells || ''::bytea;
    layout integer := get_byte(blob, 1);
    n_entries bigint := 0;
    place bigint;
BEGIN
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

"""The page docs/bi.md: the views that dashboards of others read, column by column."""

from __future__ import annotations

from pathlib import PurePosixPath

from offdiag.store.bi import SCHEMA, VIEWS, View

PATH = PurePosixPath("bi.md")
GENERATED = "<!-- Written by docs/generate.py from docs/bi_page.py; edit that. -->"

INTRODUCTION = f"""\
# Dashboards of others

Metabase, Superset, Grafana and whatever else speaks to PostgreSQL can read a registry through
views under names that stay, whatever happens to the tables. Make a role without rights of its
own, with a password, as whoever runs the server; then give it the views:

```console
$ createuser --pwprompt metabase
$ offdiag db views --reader metabase
```

The role reads the views of the schema `{SCHEMA}` and nothing else: no table, so no passwords,
tokens or single predictions, and it can change nothing. Its transactions are read-only and its
statements end after 60 seconds. Where the role of offdiag may not limit other roles, the command
prints the three statements that an administrator has to run. `--reader` can be repeated, and the
command run again at any time; `offdiag db views --remove` takes the views away.

Upgrading and restoring the registry make the views anew and keep who reads them. Views of your
own that are built on them belong into another schema; drop them before an upgrade.

A reader sees every project, and none of the runs that somebody deleted. On SQLite, and for single
predictions, [`offdiag sql`](sql.md) answers the same questions.

## Three questions

Which runs are more accurate than the baseline of their dataset, and by how much?

```sql
SELECT dataset, run.run_name, mine.value AS accuracy,
       mine.value - baseline.value AS better_by, mine.interval_low, mine.interval_high
FROM {SCHEMA}.runs AS run
JOIN {SCHEMA}.datasets AS dataset USING (project, dataset)
JOIN {SCHEMA}.metrics AS mine ON mine.run_id = run.run_id AND mine.metric = 'overall_accuracy'
JOIN {SCHEMA}.metrics AS baseline
    ON baseline.run_id = dataset.baseline_run_id AND baseline.metric = 'overall_accuracy'
ORDER BY better_by DESC;
```

Which confusions cost a dataset the most cases, over all of its runs?

```sql
SELECT run.dataset, cell.actual_label, cell.predicted_label, sum(cell.n_cases) AS cases,
       count(*) AS runs
FROM {SCHEMA}.confusions AS cell JOIN {SCHEMA}.runs AS run USING (run_id)
WHERE NOT cell.is_correct
GROUP BY run.dataset, cell.actual_label, cell.predicted_label
ORDER BY cases DESC
LIMIT 20;
```

Where does accuracy hide a class, and which one? A value that is undefined is NULL and has a
reason; leaving it out says something else than counting it as 0.

```sql
SELECT run.run_name, class.class_label, class.value AS recall, class.undefined_reason,
       class.interval_low, class.interval_high, class.interval_method
FROM {SCHEMA}.runs AS run
JOIN {SCHEMA}.class_metrics AS class ON class.run_id = run.run_id AND class.metric = 'recall'
WHERE run.hides_minority
ORDER BY class.value NULLS FIRST;
```

## Views

Numbers are those of the evaluation that counts for its run, of all its cases. A count of cases is
in `n_…`, a moment in `…_at`, and both axes of a matrix are named: `actual_label` is what a case
is, `predicted_label` what the model said."""  # noqa: S608 - nothing comes from outside


def pages() -> dict[PurePosixPath, str]:
    """The page by its path below docs."""
    parts = [GENERATED, INTRODUCTION]
    for view in VIEWS:
        parts += [f"### `{view.name}`", view.row, _table(view)]
    return {PATH: "\n\n".join(parts) + "\n"}


def _table(view: View) -> str:
    rows = [f"| `{name}` | {text} |" for name, text in view.columns.items()]
    return "\n".join(["| column | meaning |", "| --- | --- |", *rows])

"""The page docs/bi.md: the views for BI tools, column by column."""

from __future__ import annotations

from pathlib import PurePosixPath

from offdiag.store.bi_views import SCHEMA, VIEWS, View

PATH = PurePosixPath("bi.md")
GENERATED = "<!-- Written by docs/generate.py from docs/bi_page.py; edit that. -->"

INTRODUCTION = f"""\
# BI tools

Metabase, Superset, Grafana and other tools for PostgreSQL can read a registry through views, whose
names and columns stay the same when the tables change. As the administrator of the server, create
a role without privileges, then give it access to the views:

```console
$ createuser --pwprompt metabase
$ offdiag db views --reader metabase
```

The role can read the views of the schema `{SCHEMA}` in all projects, without deleted runs. It
can read no tables, and therefore no passwords, tokens or single predictions. Its transactions are
read-only, and its statements are cancelled after 60 seconds. For SQLite, and for single
predictions, use [`offdiag sql`](sql.md).

Run the command at any time, for any number of `--reader`; `--remove` removes the views. If the
role of offdiag may not limit other roles, it prints three statements for an administrator.

Upgrading or restoring a registry recreates the views and the access of their readers. Create your
own views on top of them in another schema, and drop those before an upgrade.

## Example queries

Runs with higher accuracy than the baseline of their dataset:

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

The most frequent confusions of each dataset, over all of its runs:

```sql
SELECT run.project, run.dataset, cell.actual_label, cell.predicted_label,
       sum(cell.n_cases) AS cases, count(*) AS runs
FROM {SCHEMA}.confusions AS cell JOIN {SCHEMA}.runs AS run USING (run_id)
WHERE NOT cell.is_correct
GROUP BY run.project, run.dataset, cell.actual_label, cell.predicted_label
ORDER BY cases DESC
LIMIT 20;
```

Classes that accuracy hides. An undefined value is NULL and has a reason: do not count it as 0.

```sql
SELECT run.run_name, class.class_label, class.value AS recall, class.undefined_reason,
       class.interval_low, class.interval_high, class.interval_method
FROM {SCHEMA}.runs AS run
JOIN {SCHEMA}.class_metrics AS class ON class.run_id = run.run_id AND class.metric = 'recall'
WHERE run.hides_minority
ORDER BY class.value NULLS FIRST;
```

## Views

Values are from the current evaluation of each run on all of its examples. Counts are named `n_…`,
times `…_at`, and the axes of a matrix `actual_label` and `predicted_label`."""  # noqa: S608 - nothing comes from outside


def pages() -> dict[PurePosixPath, str]:
    """The page by its path below docs."""
    parts = [GENERATED, INTRODUCTION]
    for view in VIEWS:
        parts += [f"### `{view.name}`", view.row, _table(view)]
    return {PATH: "\n\n".join(parts) + "\n"}


def _table(view: View) -> str:
    rows = [f"| `{name}` | {text} |" for name, text in view.columns.items()]
    return "\n".join(["| column | meaning |", "| --- | --- |", *rows])

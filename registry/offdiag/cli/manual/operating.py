"""Entries of commands that run and look after a registry."""

from __future__ import annotations

from offdiag.cli.manual.entry import Entry

ENTRIES = {
    "demo": Entry(
        examples=("demo", "demo --no-serve --folder /tmp/demo"),
        see=("serve", "runs list"),
        no_json="it serves until Ctrl-C",
    ),
    "serve": Entry(
        examples=("serve", "serve --port 9000 --no-worker", "serve --url sqlite:///team.db"),
        see=("worker", "doctor"),
        no_json="it serves until Ctrl-C",
    ),
    "worker": Entry(
        examples=("worker", "worker --url postgresql+psycopg://db.example.org/offdiag"),
        see=("serve", "jobs list"),
        no_json="it works until Ctrl-C",
    ),
    "db backup": Entry(
        examples=("db backup registry.zip",),
        see=("db restore", "verify"),
        arguments={"file": "File to write; it must not exist yet."},
    ),
    "db check": Entry(
        examples=("db check", "db check --json"),
        see=("db upgrade", "doctor"),
        no="the schema is not the one that is needed",
    ),
    "db restore": Entry(
        examples=("db restore registry.zip --url sqlite:///restored.db",),
        see=("db backup", "verify"),
        arguments={"file": "Backup that `offdiag db backup` wrote."},
    ),
    "db upgrade": Entry(
        examples=("db upgrade", "db upgrade --json"), see=("db check", "db backup")
    ),
    "db copy": Entry(
        examples=("db copy sqlite:///offdiag.db postgresql+psycopg://db.example.org/offdiag",),
        see=("db backup", "verify"),
        arguments={"source": "URL of the database to read.", "target": "URL of an empty one."},
    ),
    "db views": Entry(
        examples=("db views --reader metabase", "db views --remove"),
        see=("sql", "db upgrade"),
    ),
    "recompute": Entry(
        examples=("recompute", "recompute --all", "recompute r_4bcd6fgh8jkm"),
        see=("verify", "jobs list"),
        arguments={"run_ids": "Ids of runs; those that are out of date if none are named."},
    ),
    "verify": Entry(
        examples=("verify", "verify --sample --json"),
        see=("recompute", "db restore"),
        no="what is stored is not what the predictions give",
    ),
    "gc": Entry(
        examples=("gc", "gc --older-than 90 --keep 3"), see=("runs delete", "runs restore")
    ),
    "jobs list": Entry(examples=("jobs list", "jobs list --json"), see=("jobs retry", "doctor")),
    "jobs retry": Entry(
        examples=("jobs retry 17", "jobs retry --all"),
        see=("jobs list",),
        arguments={"job": "Number of the job, which `offdiag jobs list` shows."},
    ),
    "doctor": Entry(
        examples=("doctor", "doctor --json"),
        see=("db check", "jobs list"),
        no="there is a problem",
    ),
    "completion": Entry(
        examples=("completion bash", "completion fish"),
        arguments={"shell": "bash, zsh or fish."},
        no_json="it prints a script for the shell",
    ),
    "export": Entry(
        examples=("export fraud --to fraud.zip",),
        see=("import archive", "db backup"),
        arguments={"project": "Name of the project."},
    ),
    "sql": Entry(
        examples=(
            'sql "SELECT name, state FROM runs ORDER BY created_at DESC LIMIT 5"',
            "sql \"SELECT key, value FROM metrics WHERE class = 'ill'\" --run r_4bcd6fgh8jkm",
            'sql "SELECT * FROM predictions" --dataset holdout --output all.parquet',
        ),
        see=("runs list", "export"),
        arguments={"query": "One statement that reads, or - for stdin."},
    ),
}

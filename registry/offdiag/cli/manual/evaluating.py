"""Entries of commands that take in results, and judge them."""

from __future__ import annotations

from offdiag.cli.manual.entry import Entry

_PREDICTIONS = "CSV, Parquet, JSON lines or Arrow."


def _import(dialect: str, file: str, what: str) -> Entry:
    return Entry(
        examples=(f"import {dialect} {file} --name xgb-17 --dataset holdout",),
        see=("log", "runs show"),
        arguments={"file": what},
    )


ENTRIES = {
    "log": Entry(
        examples=(
            "log predictions.csv --name xgb-17 --dataset holdout --score p --positive ill",
            "log matrix.csv --matrix --orientation actual_rows --name paper --dataset holdout",
        ),
        see=("evaluate", "import sklearn", "runs show"),
        arguments={"file": _PREDICTIONS},
    ),
    "sync": Entry(
        examples=("sync", "sync --spool spool --url http://127.0.0.1:8642 --json"),
        see=("log", "runs list"),
        no="a run is left in the spool",
        note="The reason of a refusal lies beside its run, in refused.json.",
    ),
    "watch": Entry(
        examples=("watch results/ --dataset holdout --id image --labels nv,mel,df",),
        see=("log", "import sklearn"),
        arguments={"folder": "Folder that other programs write to."},
        no_json="it works until Ctrl-C",
    ),
    "evaluate": Entry(
        examples=(
            "evaluate predictions.csv --true y --pred y_hat",
            "evaluate matrix.csv --matrix --orientation actual_rows --json",
        ),
        see=("log", "audit", "gate"),
        arguments={"file": _PREDICTIONS},
    ),
    "audit": Entry(
        examples=("audit table.txt", "audit - --class-counts ill=40,well=160 --json"),
        see=("evaluate", "import sklearn"),
        arguments={"file": "Text of a table, or - for stdin."},
        no="something contradicts the numbers",
    ),
    "gate": Entry(
        examples=(
            "gate r_4bcd6fgh8jkm --min 'recall[ill]>=0.8' --min 'low(mcc)>=0.5'",
            "gate --file predictions.csv --min 'balanced_accuracy>=0.7' --json",
        ),
        see=("evaluate", "compare"),
        arguments={"run_id": "Id of the run; none with --file."},
        no="a condition does not hold",
        note="Conditions: recall[df]>=0.8, low(mcc)>=0.5, high(error_rate)<=0.1, "
        "diff(f1[df])>=-0.02, low(diff(mcc))>=-0.05, mean_cost<=2.5, no-flag F4, no-badge.",
    ),
    "import archive": Entry(
        examples=("import archive fraud.zip --as fraud-2025",),
        see=("export", "db restore"),
        arguments={"file": "File that `offdiag export` wrote."},
    ),
    "import sklearn": _import("sklearn", "matrix.json", "The array as JSON, CSV or .npy."),
    "import caret": _import("caret", "printed.txt", "What R printed, or its table as CSV."),
    "import dvclive": _import("dvclive", "plots.json", "The records as JSON."),
    "import wandb": _import("wandb", "table.json", "The table as JSON."),
    "import pycm": _import("pycm", "saved.obj", "What `ConfusionMatrix.save_obj` wrote."),
    "import mlflow": _import("mlflow", "mlruns/0/17", "Folder of the run."),
    "import csv": _import("csv", "matrix.csv", "The table, whose corner names an axis."),
}

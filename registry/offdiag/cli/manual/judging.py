"""Entries of commands about runs, and about what people make of them."""

from __future__ import annotations

from offdiag.cli.manual.entry import Entry

_COSTS = "Name of the cost matrix, with @ and a version where an older one is meant."
_SETTLING = ("flags list", "flags show")
_HIERARCHY = ("hierarchy set", "hierarchy show", "hierarchy clear")

ENTRIES = {
    "runs list": Entry(
        examples=(
            "runs list --dataset holdout --sort -mcc",
            "runs list --filter \"metrics.recall[ill] > 0.8 and tags.team = 'x'\" --json",
        ),
        see=("runs show", "compare", "sql"),
    ),
    "runs show": Entry(
        examples=("runs show r_4bcd6fgh8jkm", "runs show r_4bcd6fgh8jkm --slice country=DE"),
        see=("runs history", "compare"),
    ),
    "runs history": Entry(
        examples=("runs history r_4bcd6fgh8jkm",), see=("runs show", "truth impact")
    ),
    "runs delete": Entry(examples=("runs delete r_4bcd6fgh8jkm",), see=("runs restore", "gc")),
    "runs restore": Entry(examples=("runs restore r_4bcd6fgh8jkm",), see=("runs delete",)),
    "runs baseline": Entry(
        examples=("runs baseline r_4bcd6fgh8jkm", "runs baseline --dataset holdout --clear"),
        see=("compare", "gate"),
        arguments={"run_id": "Id of the run; the baseline of --dataset is shown without."},
    ),
    "compare": Entry(
        examples=(
            "compare r_4bcd6fgh8jkm r_5mnp7qrs9tvw",
            "compare r_4bcd6fgh8jkm r_5mnp7qrs9tvw r_6xyz8012abcd --slice country=DE --json",
        ),
        see=("runs list", "gate"),
        no="the runs cannot be compared",
    ),
    "flags list": Entry(
        examples=("flags list --at-least high", "flags list --run r_4bcd6fgh8jkm --state all"),
        see=("flags show", "flags dismiss"),
    ),
    "flags show": Entry(examples=("flags show F-31",), see=("flags list",)),
    "flags acknowledge": Entry(examples=("flags acknowledge F-31 F-32",), see=_SETTLING),
    "flags assign": Entry(examples=("flags assign F-31 --to ada",), see=_SETTLING),
    "flags comment": Entry(
        examples=('flags comment F-31 --text "Seen in the field too."',), see=_SETTLING
    ),
    "flags dismiss": Entry(
        examples=('flags dismiss F-31 --reason "The class is retired."',),
        see=("flags list", "flags reopen"),
    ),
    "flags reopen": Entry(examples=("flags reopen F-31",), see=_SETTLING),
    "flags snooze": Entry(examples=("flags snooze F-31 --until 2027-01-31",), see=_SETTLING),
    "cost add": Entry(
        examples=("cost add screening costs.toml --dataset holdout",),
        see=("cost show", "cost default"),
        arguments={"name": "Name of the cost matrix.", "file": "TOML, JSON or CSV."},
    ),
    "cost default": Entry(
        examples=("cost default holdout screening", "cost default holdout --none"),
        see=("cost list", "cost show"),
        arguments={"name": _COSTS},
    ),
    "cost list": Entry(examples=("cost list", "cost list --json"), see=("cost show",)),
    "cost show": Entry(
        examples=("cost show screening", "cost show screening@2 --json"),
        see=("cost list", "cost add"),
        arguments={"name": _COSTS},
    ),
    "cost apply": Entry(
        examples=(
            "cost apply r_4bcd6fgh8jkm r_5mnp7qrs9tvw --matrix screening",
            "cost apply r_4bcd6fgh8jkm --set 'ill>well:50' --share ill:0.01 --json",
        ),
        see=("cost rank", "compare"),
    ),
    "cost rank": Entry(
        examples=("cost rank --dataset holdout", "cost rank --dataset holdout --share ill:0.01"),
        see=("cost apply", "runs list"),
    ),
    "cost diff": Entry(
        examples=("cost diff screening@1 screening@2",),
        see=("cost show",),
        arguments={"first": _COSTS, "second": "The same for the other one."},
        no="a price differs",
    ),
    "cost decide": Entry(
        examples=("cost decide r_4bcd6fgh8jkm --threshold cheapest --save-as cheapest",),
        see=("cost apply", "compare"),
    ),
    "truth show": Entry(
        examples=("truth show holdout",), see=("truth revise", "truth diff", "truth impact")
    ),
    "truth diff": Entry(
        examples=("truth diff holdout 1 2",),
        see=("truth show", "truth impact"),
        arguments={"before": "Number of a version.", "after": "Number of a later version."},
    ),
    "truth impact": Entry(
        examples=("truth impact holdout 1..2",),
        see=("truth diff", "runs history"),
        arguments={"versions": "Two versions, the older one first."},
    ),
    "truth revise": Entry(
        examples=('truth revise holdout labels.csv --reason "Second reading"',),
        see=("truth show", "truth impact"),
        arguments={"file": "Identifiers and their labels as CSV, Parquet, JSON lines or Arrow."},
    ),
    "hierarchy set": Entry(
        examples=("hierarchy set animals groups.json",),
        see=_HIERARCHY[1:],
        arguments={"file": "Groups of classes as JSON or TOML."},
    ),
    "hierarchy show": Entry(examples=("hierarchy show animals",), see=_HIERARCHY[:1]),
    "hierarchy clear": Entry(examples=("hierarchy clear animals",), see=_HIERARCHY[:2]),
}

"""`offdiag compare`: differences between runs of one dataset, with intervals and p-values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from offdiag.cli.call import Call, registry_options
from offdiag.cli.documents import ask, ids_of_runs
from offdiag.cli.options import help_text
from offdiag.cli.output import busy, label
from offdiag.cli.tables import MOST_CLASSES, filled_table, open_table
from offdiag.comparison import texts
from offdiag.comparison.churn import PairedOutcome
from offdiag.comparison.differences import DifferenceStatus, excludes_0
from offdiag.comparison.rank_status import RankStatus
from offdiag.domain.number_text import count, number, p_in_column, p_value
from offdiag.domain.sentences import visible
from offdiag.domain.values import MetricValue, undefined_note
from offdiag.records.base import MOST_ON_A_PAGE, USUAL_ON_A_PAGE
from offdiag.records.runs.comparison import (
    ComparedExamples,
    ComparedExamplesQuery,
    Comparison,
    ComparisonQuery,
    comparison_request,
    examples_request,
)

KINDS = ("only_a", "only_b", "both_right", "both_wrong")


@help_text(
    "compare r_4bcd6fgh8jkm r_5mnp7qrs9tvw",
    "compare r_4bcd6fgh8jkm r_5mnp7qrs9tvw r_6xyz8012abcd --slice country=DE --json",
    "compare r_4bcd6fgh8jkm r_5mnp7qrs9tvw --examples only_a --class mel",
    see=("runs list", "gate"),
    no="the runs cannot be compared",
)
@click.command()
@click.argument(
    "run_ids", metavar="RUN RUN [RUN]...", callback=ids_of_runs, nargs=-1, required=True
)
@click.option(
    "--baseline",
    metavar="RUN",
    callback=ids_of_runs,
    help="Run to put first.  [default: the first one]",
)
@click.option(
    "--slice",
    "slice_text",
    metavar="NAME=VALUE",
    help="Only the examples in this slice; join conditions with &.",
)
@click.option(
    "--shared",
    "on_shared",
    is_flag=True,
    help="If the runs have different examples, compare the examples that all of them share.",
)
@click.option(
    "--difference",
    type=click.FloatRange(min=0, min_open=True, max=1),
    default=0.01,
    show_default=True,
    metavar="SHARE",
    help="Difference in accuracy that matters; the verdict says how many examples are needed to "
    "detect it.",
)
@click.option(
    "--examples",
    type=click.Choice(KINDS),
    help="List the examples that only A, only B, both or neither of two runs predict correctly.",
)
@click.option(
    "--class",
    "class_label",
    metavar="CLASS",
    help="With --examples: only examples of this actual class.",
)
@click.option(
    "--limit",
    type=click.IntRange(1, MOST_ON_A_PAGE),
    default=USUAL_ON_A_PAGE,
    show_default=True,
    help="With --examples: maximum number of examples.",
)
@registry_options
def compare(
    *,
    run_ids: tuple[str, ...],
    baseline: str | None,
    slice_text: str | None,
    on_shared: bool,
    difference: float,
    examples: str | None,
    class_label: str | None,
    limit: int,
    call: Call,
) -> None:
    """Compare two or more runs of one dataset, example by example.

    The first run is A. For two runs, every difference is B minus A with its interval. For more
    runs, the best by each metric is shown, with the runs that do not differ significantly from it.
    """
    ids = list(run_ids)
    if baseline is not None:
        ids = [baseline, *(each for each in ids if each != baseline)]
    if examples is not None:
        query = ComparedExamplesQuery(
            runs=",".join(ids),
            which=PairedOutcome(examples),
            class_label=class_label,
            slice=slice_text,
            on_shared=on_shared,
            limit=limit,
        )
        _list_examples(query, call)
        return
    if class_label is not None:
        raise click.UsageError("--class selects examples. Add --examples.")
    wanted = ComparisonQuery(
        runs=",".join(ids), slice=slice_text, on_shared=on_shared, difference=difference
    )
    with busy(f"Comparing {len(ids)} runs"):
        found = ask(call, comparison_request(ids, wanted))
    call.print(
        found,
        refusal_text(found.refusal) if found.refusal is not None else comparison_tables(found),
    )
    if found.refusal is not None:
        click.get_current_context().exit(1)


def _list_examples(query: ComparedExamplesQuery, call: Call) -> None:
    found = ask(call, examples_request(query))
    none = found.refusal or "There are no such examples."
    call.print(found, examples_table(found) if found.examples else none)
    if found.refusal is not None:
        click.get_current_context().exit(1)


Record = Mapping[str, Any]


def refusal_text(refusal: Record) -> str:
    """Why there is no comparison, and a fix."""
    hint = refusal["hint"]
    if refusal["n_shared"] is not None:
        hint = "--shared compares them on the shared ones."
    return f"{visible(refusal['why'])} {visible(hint)}"


def examples_table(found: ComparedExamples) -> Table:
    """Examples with the predictions of both runs and their scores."""
    table = open_table(title=f"{found.which.value}: {len(found.examples)} of {found.total}")
    for name in ("sample", "actual"):
        table.add_column(name)
    for letter in ("a", "b"):
        table.add_column(f"{letter.upper()} ({found.runs[letter]})")
        table.add_column("score", justify="right")
    for each in found.examples:
        table.add_row(
            Text(visible(str(each.sample))),
            Text(label(each.actual)),
            *_prediction(each.a, each.a_confidence),
            *_prediction(each.b, each.b_confidence),
        )
    return table


def _prediction(predicted: str, score: float | None) -> tuple[Text, str]:
    return Text(label(predicted)), "" if score is None else number(score)


def comparison_tables(found: Comparison) -> Iterator[Table | Text]:
    """The runs, the verdict, and the numbers behind it."""
    yield _runs_table(found)
    if found.verdict is not None:
        yield Text(visible(found.verdict["headline"]), style="bold")
        for sentence in found.verdict["details"]:
            yield Text(visible(sentence))
    result = found.result
    if result is None:
        return
    if result["kind"] == "pair":
        yield from _pair_tables(result)
        return
    yield _ranks_table(result)
    if result["pairs"]:
        yield _pairs_table(result["pairs"])


def _runs_table(found: Comparison) -> Table:
    where = f" in {found.slice}" if found.slice is not None else ""
    n_samples = None if found.samples is None else found.samples["n_compared"]
    on = "" if n_samples is None else f", {count(n_samples, 'example')}{where}"
    versions = texts.differing_versions([run.truth_version for run in found.runs])
    return filled_table(
        ("", "run", "id", "model", *(["labels"] if versions else [])),
        (
            (run.letter, label(run.name), run.id, run.model or "", *versions[at : at + 1])
            for at, run in enumerate(found.runs)
        ),
        title=f"{found.dataset}{on}",
    )


def _pair_tables(result: Record) -> Iterator[Table]:
    level = texts.level_text(result["confidence"])
    numbers = ("A", "B", "B − A", f"{level} CI alone", "together")
    yield filled_table(
        ("metric", *numbers, "", "p"),
        (
            (texts.title(key), *_difference_cells(key, each, of_class=False), _p(each["p"]))
            for key, each in result["metrics"].items()
        ),
        right=(*numbers, "p"),
        caption=_undefined_differences(result["metrics"].values()),
    )
    if result["is_paired"]:
        columns = ("both correct", "only A correct", "only B correct", "both wrong")
        counts = [f"{count:,}" for count in result["counts"].values()]
        yield filled_table(columns, [counts], right=columns)
    sizes = result["class_sizes"]["a"]
    largest = sorted(sizes, key=lambda name: -sizes[name])[:MOST_CLASSES]
    cut = "" if len(largest) == len(sizes) else f", the {MOST_CLASSES} largest of {len(sizes)}"
    recalls = result["per_class"]["recall"]
    yield filled_table(
        ("class", "n", *numbers, ""),
        (
            (
                label(name),
                f"{sizes[name]:,}",
                *_difference_cells("recall", recalls[name], of_class=True),
            )
            for name in largest
        ),
        right=("n", *numbers),
        title=f"Recall of each class{cut}",
        caption=_undefined_differences(recalls[name] for name in largest),
    )


def _undefined_differences(found: Iterable[Record]) -> str | None:
    """Why differences are undefined where both values are defined; the other cells say why."""
    return (
        undefined_note(
            MetricValue.of_dict(each["difference"])
            for each in found
            if None not in (each["a"]["value"], each["b"]["value"])
        )
        or None
    )


def _difference_cells(key: str, found: Record, *, of_class: bool) -> tuple[str, ...]:
    gap, together = MetricValue.of_dict(found["difference"]), found["simultaneous_interval"] or {}
    ends = together.get("ci_low"), together.get("ci_high")
    return (
        _number(found["a"]),
        _number(found["b"]),
        texts.difference_text(key, gap, of_class=of_class),
        texts.difference_interval(key, gap, of_class=of_class) or "none",
        texts.ends_text(key, ends, of_class=of_class) or "none",
        _outcome(found["outcome"], gap),
    )


def _outcome(outcome: str, gap: MetricValue) -> str:
    if outcome != DifferenceStatus.NOT_SEPARABLE:
        return outcome
    alone = " (alone it would pass)" if excludes_0(gap.ci_low, gap.ci_high) else ""
    return f"no significant difference{alone}"


def _ranks_table(result: Record) -> Table:
    best = result["best_of_many"]
    corrected = ("best, on new examples",) if best else ()
    return filled_table(
        ("metric", *result["n"], *corrected),
        (
            (
                texts.title(key),
                *(_rank_text(key, ranks, name) for name in ranks),
                *([_number(best[key]["corrected"])] if key in best else []),
            )
            for key, ranks in result["metrics"].items()
        ),
        right=corrected,
        caption="p values are adjusted for all runs and metrics. Brackets: "
        f"{texts.level_text(result['confidence'])} CI of the difference to the highest "
        "run, or to the one that is named.",
    )


def _rank_text(key: str, ranks: Record, name: str) -> Text:
    rank = ranks[name]
    status = RankStatus(rank["standing"])
    said = texts.rank_text(key, status)
    if status is RankStatus.BEHIND and rank["p_adjusted"] is not None:
        said = f"{said}, {p_value(rank['p_adjusted'])}"
    lines = [f"{_number(rank)} {said}".strip()]
    rival = rank["compared_with"]
    if rank["behind"] is not None and rank["behind"]["value"] is not None and rival is not None:
        behind = MetricValue.of_dict(rank["behind"])
        ends = texts.difference_interval(key, behind)
        against = "" if ranks[rival]["standing"] == RankStatus.BEST else f" vs {rival}"
        interval = f" ({ends})" if ends else ""
        lines.append(f"{texts.difference_text(key, behind)}{interval}{against}")
    is_first = status in {RankStatus.BEST, RankStatus.NOT_SEPARABLE}
    return Text("\n".join(lines), style="bold" if is_first else "")


def _pairs_table(pairs: list[Record]) -> Table:
    numbers = ("only first", "only second", "p", "p, adjusted")
    return filled_table(
        ("runs", *numbers),
        (
            (
                f"{pair['first']}, {pair['second']}",
                f"{pair['only_first']:,}",
                f"{pair['only_second']:,}",
                _p(pair["p"]),
                _p(pair["p_adjusted"]),
            )
            for pair in pairs
        ),
        right=numbers,
        title="Examples that only one of two runs predicts correctly",
    )


def _p(p: float | None) -> str:
    return "" if p is None else p_in_column(p)


def _number(value: Record) -> str:
    if value["value"] is None:
        return MetricValue.of_dict(value).undefined_text
    return number(value["value"])

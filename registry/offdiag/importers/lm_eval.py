"""lm-evaluation-harness: the samples that `--log_samples` writes, one JSON object per line.

Up to version 0.4.2 it wrote one array of them, also into a file called `.jsonl`.

A multiple-choice task logs a log-likelihood for each choice; the prediction is the choice with the
largest one, as in its metric `acc`. Other tasks log the generated text after a filter.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from offdiag.errors import InvalidInput
from offdiag.importers.imported import Imported, ImportedLabels, Stated
from offdiag.inputs.files.checks import no_samples, unreadable
from offdiag.inputs.files.json_files import read_json

CONVENTION = (
    "The target of a sample is the actual class, its most likely choice or filtered response "
    "the predicted one."
)


def read_lm_eval(path: Path, stated: Stated) -> Imported:
    """Read `samples_<task>_<time>.jsonl`. Raises `InvalidInput`.

    Choices are named by their text if it is the same for all samples, else by their number from 0.
    """
    samples = _samples(path)
    filters = list(dict.fromkeys(str(sample.get("filter", "none")) for sample in samples))
    if len(filters) > 1 and stated.artifact is None:
        raise InvalidInput(
            f"{path.name} has the samples of several filters: {', '.join(filters)}.",
            field="artifact",
            hint="Name one of them.",
        )
    if stated.artifact is not None:
        samples = [sample for sample in samples if sample.get("filter") == stated.artifact]
        if not samples:
            raise InvalidInput(
                f"{path.name} has no filter {stated.artifact!r}.",
                field="artifact",
                hint=f"It has {', '.join(filters)}.",
            )
    texts = {tuple(_choices(sample)) for sample in samples}
    names = texts.pop() if len(texts) == 1 else ()
    numbered = _targets_are_numbers(samples)
    pairs = [_classes(sample, names, path, numbered=numbered) for sample in samples]
    _require_same_metric(samples, pairs, path)
    ids = [str(sample.get("doc_id", place)) for place, sample in enumerate(samples)]
    twice = next((name for name, n in Counter(ids).items() if n > 1), None)
    if twice is not None:
        raise InvalidInput(
            f"{path.name} has sample {twice!r} twice, as of several filters without their names.",
            field="file",
            hint="Log the samples again with a newer version, or keep those of one filter.",
        )
    content = ImportedLabels(
        [actual for actual, _ in pairs],
        [predicted for _, predicted in pairs],
        stated.labels or (names or None),
        sample_ids=ids,
    )
    return Imported("lm-eval", CONVENTION, content, path)


def _samples(path: Path) -> list[Mapping[str, object]]:
    samples: list[Mapping[str, object]] = []
    try:
        for place, sample in _written(path):
            if not (isinstance(sample, dict) and {"target", "filtered_resps"} <= sample.keys()):
                raise InvalidInput(
                    f"{place} has no target and filtered_resps.",
                    field="file",
                    hint="lm_eval writes such files with --log_samples.",
                )
            samples.append(sample)
    except OSError as error:
        raise unreadable(path, error) from None
    if not samples:
        raise no_samples(path)
    return samples


def _written(path: Path) -> Iterator[tuple[str, object]]:
    """Each sample with its place, from one array or from one object per line."""
    with path.open("rb") as file:
        if file.peek(1)[:1] == b"[":
            array = read_json(file.read(), path.name)
            for number, sample in enumerate(array if isinstance(array, list) else ()):
                yield f"sample {number} of {path.name}", sample
            return
        for number, line in enumerate(file, start=1):
            if line.strip():
                place = f"line {number} of {path.name}"
                yield place, read_json(line, place)


def _responses(sample: Mapping[str, object]) -> list[object]:
    found = sample["filtered_resps"]
    return found if isinstance(found, list) else [found]


def _choices(sample: Mapping[str, object]) -> list[str]:
    """The texts of the choices, except those that are scored without their question."""
    texts = [
        choice.strip()
        for question, choice in _calls(sample.get("arguments"))
        if isinstance(choice, str) and question
    ]
    return texts if len(set(texts)) == len(texts) > 1 else []


def _calls(given: object) -> Iterator[tuple[object, object]]:
    """The two arguments of each call of the model.

    Files that the harness writes have a mapping of mappings, the samples that `simple_evaluate`
    returns a list of lists.
    """
    if isinstance(given, dict):
        given = list(given.values())
    for call in given if isinstance(given, list) else ():
        if isinstance(call, dict):
            yield call.get("arg_0"), call.get("arg_1")
        elif isinstance(call, list) and len(call) >= 2:
            yield call[0], call[1]


def _targets_are_numbers(samples: Sequence[Mapping[str, object]]) -> bool:
    """Whether digits in a target are the number of a choice, even if a choice has this text.

    For some tasks the harness writes numbers, for others texts. They are numbers if one is not the
    text of any choice, or if the accuracy of a sample is consistent with nothing else.
    """
    for sample in samples:
        target, texts = str(sample["target"]).strip(), _choices(sample)
        if not texts or not (target.isascii() and target.isdecimal()):
            continue
        if target not in texts:
            return True
        scores = [_likelihood(response) for response in _responses(sample)[: len(texts)]]
        known = [score for score in scores if score is not None]
        is_right, at_text = sample.get("acc"), texts.index(target)
        if len(known) < len(texts) or is_right not in (0, 1) or at_text == int(target):
            continue
        predicted = known.index(max(known))
        if predicted in (at_text, int(target)):
            return (predicted == int(target)) == bool(is_right)
    return False


def _classes(
    sample: Mapping[str, object], names: tuple[str, ...], path: Path, *, numbered: bool
) -> tuple[str, str]:
    if sample["target"] is None:
        raise _unreadable_sample(sample, path, "no target")
    responses = _responses(sample)
    target = str(sample["target"]).strip()
    likelihoods = [_likelihood(response) for response in responses]
    scores = [value for value in likelihoods if value is not None]
    if len(scores) < 2 or len(scores) != len(responses):
        if len(responses) != 1 or not isinstance(responses[0], str):
            raise _unreadable_sample(sample, path, "no single response and no choices")
        return target, responses[0].strip()
    texts = names or tuple(_choices(sample))
    scores = scores[: len(texts)] if texts else scores
    numbers = [str(number) for number in range(len(scores))]
    if target in texts and not (numbered and target in numbers):
        actual = texts.index(target)
    elif target in numbers:
        actual = numbers.index(target)
    else:
        raise _unreadable_sample(sample, path, f"the target {target!r}, which is not a choice")
    predicted = scores.index(max(scores))
    return (names[actual], names[predicted]) if names else (str(actual), str(predicted))


def _require_same_metric(
    samples: Sequence[Mapping[str, object]], pairs: Sequence[tuple[str, str]], path: Path
) -> None:
    """Raise `InvalidInput` if the harness counted a sample as right that is wrong, or vice versa.

    It may ignore case, punctuation or a part of the target.
    """
    for sample, (actual, predicted) in zip(samples, pairs, strict=True):
        for metric in ("acc", "exact_match"):
            counted = sample.get(metric)
            if counted in (0, 1) and (actual == predicted) != bool(counted):
                raise InvalidInput(
                    f"sample {sample.get('doc_id')!r} of {path.name} has {metric} {counted}, but "
                    f"the target {actual!r} and the prediction {predicted!r}.",
                    field="file",
                    hint="Log the samples with a filter of the task whose responses are written "
                    "like its targets.",
                )


def _likelihood(response: object) -> float | None:
    """The first of a pair (log-likelihood, whether it is the greedy output); None if NaN."""
    if not isinstance(response, list) or len(response) != 2:
        return None
    try:
        value = float(str(response[0]))
    except ValueError:
        return None
    return None if math.isnan(value) else value


def _unreadable_sample(sample: Mapping[str, object], path: Path, has: str) -> InvalidInput:
    return InvalidInput(
        f"sample {sample.get('doc_id')!r} of {path.name} has {has}.",
        field="file",
        hint="Only tasks with one right choice or one short response are classification.",
    )

"""The pipelines in the documentation are YAML, and the commands in them exist."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from offdiag.cli.commands import COMMANDS, offdiag
from offdiag.gate.conditions import parse_condition

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "gate.md").read_text(encoding="utf-8")
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
GITHUB, GITLAB = (
    yaml.safe_load(text)
    for text in re.findall(r"^```yaml\n(.+?)^```", PAGE, re.DOTALL | re.MULTILINE)
)
OTHER_COMMANDS = {"pip", "python"}
"""What an image for Python has anyway."""


def scripts() -> Iterator[str]:
    """Every piece of shell in both pipelines."""
    for job in GITHUB["jobs"].values():
        yield from (step["run"] for step in job["steps"] if "run" in step)
    for name in GITLAB["stages"]:
        yield from GITLAB[name]["script"]


def commands() -> Iterator[list[str]]:
    """The words of each command: continued lines joined, pipes and redirections cut off."""
    for script in scripts():
        for line in script.replace("\\\n", " ").splitlines():
            words = shlex.split(line)
            ends = [place for place, word in enumerate(words) if word in {"|", ">"}]
            yield words[: min(ends, default=len(words))]


def parsed(words: list[str]) -> click.Context:
    """The verb of an offdiag command with its options. Raises `UsageError` if it has no such."""
    with click.Context(offdiag) as parent:
        command = offdiag.get_command(parent, words[1])
        assert command is not None, words[1]
        return command.make_context(words[1], words[2:], parent=parent)


def test_the_github_workflow_has_the_parts_that_github_reads() -> None:
    # YAML 1.1 reads the key "on" as true.
    assert set(GITHUB) == {"name", True, "permissions", "jobs"}
    for job in GITHUB["jobs"].values():
        assert job["runs-on"]
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step)
            assert "uses" not in step or re.fullmatch(r"[\w-]+/[\w-]+@(v\d+|main)", step["uses"])


def test_the_gitlab_pipeline_has_a_job_for_each_stage() -> None:
    jobs: dict[str, Any] = {name: job for name, job in GITLAB.items() if name != "stages"}

    assert [job["stage"] for job in jobs.values()] == GITLAB["stages"]
    assert all(job["script"] and job["image"] for job in jobs.values())


def test_every_command_is_ours_or_comes_with_python() -> None:
    first = [words[0] for words in commands()]

    assert first.count("offdiag") == 2
    for word in first:
        assert word in OTHER_COMMANDS or word == "offdiag" or word.startswith("RUN=$(python")


def test_every_offdiag_command_has_the_verb_and_the_options_it_uses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "predictions.csv").write_text("y,yhat\na,a\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    for words in commands():
        if words[0] == "offdiag":
            assert words[1] in COMMANDS
            assert parsed(words).params


def test_a_command_that_does_not_exist_would_be_noticed() -> None:
    with pytest.raises(click.UsageError):
        parsed(["offdiag", "gate", "r_1", "--no-such-option"])


def test_the_step_of_the_action_gives_inputs_and_conditions_that_exist() -> None:
    given = GITHUB["jobs"]["gate"]["steps"][-1]["with"]
    words = ["offdiag", "gate", *shlex.split(given["arguments"])]
    for condition in given["conditions"].splitlines():
        assert parse_condition(condition).text == condition
        words += ["--min", condition]

    assert set(given) <= set(ACTION["inputs"])
    assert len(parsed([*words, "--junit", given["junit"]]).params["conditions"]) == 3
    table = PAGE.split("| input | content |")[1].split("\n\n")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == set(ACTION["inputs"])


def test_what_later_steps_need_is_kept() -> None:
    written = re.findall(r"(?:tee|>) (\S+\.json)", "\n".join(scripts()))

    assert written == GITLAB["train"]["artifacts"]["paths"]

"""`offdiag doctor`: what is installed, what is configured, and whether the registry is well."""

from __future__ import annotations

import click

from offdiag.cli.options import json_option, settings_for, url_option
from offdiag.cli.output import busy, print_json, print_tables


@click.command()
@url_option
@json_option
@click.pass_context
def doctor(context: click.Context, url: str | None, as_json: bool) -> None:
    """Examine installation, extras, settings, database, clocks, disk, queue and key."""
    from offdiag.cli.examination import examine, versions
    from offdiag.cli.tables import facts_table
    from offdiag.settings import describe_settings

    settings, in_force = describe_settings(), settings_for(url)
    with busy("Examining"):
        findings = examine(in_force)
    healthy = not any(finding.is_problem for finding in findings)
    if as_json:
        print_json(
            {
                "healthy": healthy,
                "versions": versions(),
                "settings": {
                    row.key: {"value": row.value, "source": row.source} for row in settings
                },
                "findings": [finding.to_dict() for finding in findings],
            }
        )
    else:
        print_tables(
            facts_table("Versions", versions()),
            facts_table("Settings", {row.key: f"{row.value}  ({row.source})" for row in settings}),
            facts_table("Findings", {found.name: found.sentence for found in findings}),
        )
    if not healthy:
        context.exit(1)

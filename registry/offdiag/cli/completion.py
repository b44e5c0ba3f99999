"""`offdiag completion`: a script that lets the shell complete commands, options and values."""

from __future__ import annotations

import click


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print what lets SHELL complete verbs, options, ids of runs and other names.

    \b
    bash: echo 'eval "$(offdiag completion bash)"' >> ~/.bashrc
    zsh:  echo 'eval "$(offdiag completion zsh)"' >> ~/.zshrc
    fish: offdiag completion fish > ~/.config/fish/completions/offdiag.fish

    Names come from the registry that is configured, or from that of --url before them.
    """
    from click.shell_completion import ShellComplete, get_completion_class

    from offdiag.cli.edge import COMPLETION_VARIABLE

    completer = get_completion_class(shell)
    if completer is None:
        raise click.BadParameter(f"{shell!r} is not supported.", param_hint="SHELL")
    # The base class prints the script; that of bash would first start bash to ask its version.
    script = ShellComplete.source(
        completer(context.find_root().command, {}, "offdiag", COMPLETION_VARIABLE)
    )
    click.echo(script)

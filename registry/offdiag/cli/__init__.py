"""The command line `offdiag`: a module for each noun, with its tables in another."""

from offdiag.cli.process import main

__all__ = ["main"]

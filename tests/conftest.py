"""Fixtures of all tests."""

pytest_plugins = ("support.databases",)

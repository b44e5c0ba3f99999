"""What can be configured, and where the values come from."""

from offdiag.settings.load import SettingSource, describe_settings, load_settings
from offdiag.settings.model import (
    DatabaseSettings,
    FlagsSettings,
    JobsSettings,
    ServerSettings,
    Settings,
)

__all__ = [
    "DatabaseSettings",
    "FlagsSettings",
    "JobsSettings",
    "ServerSettings",
    "SettingSource",
    "Settings",
    "describe_settings",
    "load_settings",
]

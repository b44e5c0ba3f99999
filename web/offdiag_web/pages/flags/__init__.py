"""The inbox of flags, one flag with its checks, and the rules."""

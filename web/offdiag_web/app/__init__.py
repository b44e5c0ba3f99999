"""What every page and API operation builds on: sign-in, permissions, limits, errors, assets."""

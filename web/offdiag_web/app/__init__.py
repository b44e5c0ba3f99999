"""What every page and operation rests on: who asks, whether they may, limits, errors, files."""

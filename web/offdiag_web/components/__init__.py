"""What several pages show: matrix, tiles, classes, flags, rows of runs, numbers and words."""

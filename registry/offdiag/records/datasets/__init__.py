"""Documents of datasets, their labels and their samples."""

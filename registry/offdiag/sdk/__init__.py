"""What a training job or a notebook calls: logging, evaluating in memory, reading results."""

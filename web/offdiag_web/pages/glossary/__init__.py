"""The metrics, their definitions and what each looks at."""

"""Background processes of the registry: the worker loop and the scheduler."""

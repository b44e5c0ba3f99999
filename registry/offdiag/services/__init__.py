"""Use-cases. Each function here does one thing a user asks for and owns its transaction."""

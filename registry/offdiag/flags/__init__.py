"""What a person should be told about a run: rules with evidence, and their life cycle."""

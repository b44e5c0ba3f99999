"""What the help of each command tells beside its options: arguments, examples, exit codes."""

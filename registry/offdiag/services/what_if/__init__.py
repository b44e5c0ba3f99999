"""What-if questions: other costs of errors, other class shares, or another decision rule."""

"""What runs would cost with other costs of errors, other class shares, or another rule."""

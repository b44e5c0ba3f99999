"""What runs would cost with other costs and class shares."""

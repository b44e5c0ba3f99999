"""What runs would cost if errors had other prices, classes other shares, answers another rule."""

"""What runs cost under other costs and class shares."""

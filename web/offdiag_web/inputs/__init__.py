"""What readers type into forms, and what it means."""

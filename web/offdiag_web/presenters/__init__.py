"""From read models to what a page shows: frozen view models and the words in them. Pure."""

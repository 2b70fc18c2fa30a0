"""The strategy and its settings, who drafted what, and why Auto does what it does."""

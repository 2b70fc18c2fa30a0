"""The settings dialog: a list of pages, and their content."""

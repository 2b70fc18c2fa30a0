"""The settings dialog: a list of pages, and what stands on them."""

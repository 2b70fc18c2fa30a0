"""CPython's documentation, read from its reStructuredText sources."""

"""Models: their files, their properties, pairs of them, and downloads."""

"""The benchmark's dialog: choice of what to compare, progress, and results."""

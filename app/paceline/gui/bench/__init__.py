"""The benchmark's dialog: what to compare, how it stands, and what came out."""

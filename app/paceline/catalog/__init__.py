"""Models: where they lie, what they are, which fit together, and where to get more."""

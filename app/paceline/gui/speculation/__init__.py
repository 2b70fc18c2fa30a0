"""The strategy and its settings, the share of each drafter, and Auto's reasons."""

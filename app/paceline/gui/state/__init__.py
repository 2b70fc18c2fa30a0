"""State that several features show: the pair, the running reply, the strategy, and their words."""

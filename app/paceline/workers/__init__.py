"""Child processes: how they start, what is said to them, what bounds them, and how they end."""

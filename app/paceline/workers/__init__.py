"""Child processes: their start, messages, limits and end."""

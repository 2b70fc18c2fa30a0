"""The command palette, keyboard shortcuts, the log, and About."""

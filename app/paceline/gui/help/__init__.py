"""The command palette, keyboard shortcuts, the guide, and About."""

"""The conversation that is shown, and the field to write in."""

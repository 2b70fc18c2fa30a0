"""HTTP itself: access, and time limits of connections."""

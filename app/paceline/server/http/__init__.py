"""HTTP itself: who gets in, and connections that end in time."""

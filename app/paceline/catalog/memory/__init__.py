"""Memory that a pair uses on each device, and remedies if it does not fit."""

"""Downloads from the Hub that survive pauses, breaks and restarts."""

"""The command line: options in, events out as text or JSON lines; no Qt."""

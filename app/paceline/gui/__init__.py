"""The window: the only package that knows Qt. Everything here runs on the main thread."""

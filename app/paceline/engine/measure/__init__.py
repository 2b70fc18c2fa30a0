"""Measurements on this machine, kept as facts: costs of decodes, thread counts, reading speed."""

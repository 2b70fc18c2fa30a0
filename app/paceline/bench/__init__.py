"""Benchmarks that a user can run; see each module."""

"""Versions and programs that benchmarks compare by turns, each in a process of its own."""

"""Trials of whole packages under hard conditions, one file each; see `try_packages.py`."""

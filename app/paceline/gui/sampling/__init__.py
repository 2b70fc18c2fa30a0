"""Sampling and form of replies: presets, numbers, form, stop strings and seed."""

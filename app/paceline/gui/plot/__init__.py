"""Plots of the steps of a reply, with mouse, keys and words."""

"""Walks of a person through the window, from the first click to what they see."""

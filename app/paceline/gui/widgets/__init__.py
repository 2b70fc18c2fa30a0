"""Widgets that show state and report what the user does; they decide nothing."""

"""Colours, fonts, sizes, style sheets and icons; imports nothing else of the window."""

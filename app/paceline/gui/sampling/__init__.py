"""How replies are drawn: presets, numbers, form, stop strings and seed."""

"""Trials of llama.cpp's devices, for `packaging/devices.py`."""

"""This installation: its form, its own kernels, and the native code that it brings."""

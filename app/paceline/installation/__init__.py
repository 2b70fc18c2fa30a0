"""This installation: how the program came here, its own kernels, and what native code it brings."""

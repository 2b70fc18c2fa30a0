"""The parts of `build.py`: a self-contained program, and packages of it."""

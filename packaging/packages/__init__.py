"""The parts of `build.py`: a program that needs nothing else, and the packages that it comes in."""

"""The parts of ``packaging/pictures.py``."""

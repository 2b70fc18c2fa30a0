"""The machinery behind ``packaging/pictures.py``."""

"""The parts of ``packaging/translations.py``."""

"""The machinery behind ``packaging/translations.py``."""

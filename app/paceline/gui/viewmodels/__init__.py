"""The state that widgets show, in small observable objects; no widget in here."""

"""Two complete drafters for Paceline, to be read, installed and changed."""

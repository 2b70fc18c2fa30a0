"""JSON schemas turned into what the grammar library carries out exactly, or refused."""

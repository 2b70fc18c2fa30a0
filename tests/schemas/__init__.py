"""Random JSON schemas, random texts that a grammar allows, and a judge of such texts."""

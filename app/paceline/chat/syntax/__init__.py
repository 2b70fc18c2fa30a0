"""Syntax of replies beyond CommonMark, and places that CommonMark misunderstands."""

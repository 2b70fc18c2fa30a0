"""Drafters: one small module per idea, all behind `base.Drafter`, named in `registry`."""

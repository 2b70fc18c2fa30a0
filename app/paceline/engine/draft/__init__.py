"""Drafters by name, all with the interface of `base.Drafter`, and the chain that asks them."""

"""The dialog that picks a pair of models: two steps, three places to look, one judgement."""

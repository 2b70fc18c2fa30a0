"""The dialog for picking a pair of models: two steps, three sources, one judgement."""

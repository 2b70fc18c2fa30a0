"""Judgement of pairs: which models form one, why others do not, which draft model to take."""

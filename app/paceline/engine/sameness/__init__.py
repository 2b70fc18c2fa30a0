"""The dependence of replies on drafting, and the batch widths that avoid it.

Speculation decodes several tokens at once, plain decoding one, and a backend may round differently
for different batch widths: then a near-tie can fall the other way, although the rule of speculation
is exact. `look` compares rows of logits bit by bit, `evidence` stores the results, `promise`
chooses the widths of decodes and says what holds with them.
"""

"""Does a reply depend on how many tokens were drafted? What is known about that, and the cure.

Speculation decodes several tokens at once, plain decoding one, and a backend may round differently
for different batch widths: then a near-tie can fall the other way, although the rule of
speculation is exact. `look` compares rows of logits bit by bit, `evidence` keeps what was found,
`promise` chooses the widths that decoding takes and says what holds with them.
"""

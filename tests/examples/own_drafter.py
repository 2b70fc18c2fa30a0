"""Write a drafter and watch it work: python own_drafter.py TARGET.gguf [DRAFT.gguf]

The drafter remembers which token followed which, and proposes that it will be so again.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from paceline.engine import (
    Draft,
    ModelParams,
    Parameter,
    SamplingParams,
    Settings,
    Workbench,
    generate,
    load_pair,
)


class Successors:
    """Proposes what followed the same token the last time."""

    parameters = (Parameter("n_max", "int", 4, 1, 62, "Tokens ahead", "Tokens drafted per step."),)

    def __init__(self, bench: Workbench, settings: Settings) -> None:
        self.n_max = int(settings["n_max"])
        self.history: Sequence[int] = ()
        self.followed_by: dict[int, int] = {}
        self.n_known = 1

    def begin(self, history: Sequence[int], n_prompt: int) -> None:
        self.history = history
        self.learn()

    def propose(self, n_max: int) -> Draft:
        tokens: list[int] = []
        last = self.history[-1]
        while len(tokens) < min(n_max, self.n_max) and last in self.followed_by:
            last = self.followed_by[last]
            tokens.append(last)
        return Draft(tokens)

    def observe(self, n_accepted: int | None) -> None:
        self.learn()

    def close(self) -> None:
        self.followed_by.clear()

    def learn(self) -> None:
        for i in range(self.n_known, len(self.history)):
            self.followed_by[self.history[i - 1]] = self.history[i]
        self.n_known = len(self.history)


def main(target: str, draft: str | None = None) -> None:
    one_thread = ModelParams(target, n_threads=1)
    draft_model = ModelParams(draft, n_threads=1) if draft else None
    greedy = SamplingParams(temperature=0)
    question = "What does os.path.join do?"
    with load_pair(one_thread, draft_model) as pair:
        reply = generate(
            pair, question, strategy=Successors, sampling=greedy, max_tokens=100, seed=1
        )
        for step in reply:
            for trace in step.tokens:
                piece = pair.vocab.piece(trace.token).decode("utf-8", "replace")
                print(f"{step.step}\t{trace.source}\t{trace.position}\t{piece!r}")
        stats = reply.stats
        print(f"accepted {stats.n_accepted} of {stats.n_drafted}, {stats.n_steps} steps")

        plain = generate(pair, question, sampling=greedy, max_tokens=100, seed=1).finish()
        assert reply.result is not None
        print("same tokens as plain:", reply.result.tokens == plain.tokens)

        if draft:  # looked up first; where nothing is found the model drafts
            chain = generate(
                pair,
                question,
                strategy="own+draft:own.n_max=2:draft.n_max=4:draft.p_min=0",
                drafters={"own": Successors},
                sampling=greedy,
                max_tokens=100,
                seed=1,
            ).finish()
            print("drafted by:", ", ".join(entry.drafter for entry in chain.stats.by_drafter))
            print("same tokens in a chain:", chain.tokens == plain.tokens)


if __name__ == "__main__":
    main(*sys.argv[1:])

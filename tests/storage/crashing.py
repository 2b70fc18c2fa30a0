"""A program that writes chats until it is killed, and says on stdout what it knows to be safe.

``python crashing.py DATABASE SEED``: "saved ID" for a question, "ended ID N" for a reply with text
of N pieces, "shown ID N T" for a reply under way, with the time in seconds.
"""

from __future__ import annotations

import itertools
import random
import sys
import time
from pathlib import Path

from paceline.content import of_text
from paceline.conversation import Message
from paceline.run_record import RunRecord
from paceline.storage.archive import Archive
from storage.chats import chat, record, steps


def main(path: Path, seed: int) -> None:
    drawn = random.Random(seed)
    archive = Archive(path)
    archive.open()
    for number in itertools.count():
        key = f"{seed}-{number}"
        made = chat(key, f"question {key}")
        archive.save(made, [f"{key}-0"])
        say(archive, f"saved {key}-0")
        reply = f"{key}-1"
        archive.save(made.add(Message.of_text(reply, f"{key}-0", "assistant", "")), [reply])
        archive.begin_run(key, RunRecord(reply))
        n = drawn.randrange(30)
        for i in range(n):
            archive.extend_run(key, reply, f"{i} ", steps([f"{i} "]))
            print(f"shown {reply} {i + 1} {time.time()}", flush=True)
            time.sleep(drawn.choice([0, 0.001, 0.01]))
        text = "".join(f"{i} " for i in range(n))
        archive.end_run(key, record(reply, text), of_text(text))
        say(archive, f"ended {reply} {n}")
        if drawn.random() < 0.1:
            archive.remove(key)
            archive.purge(key)
            say(archive, f"purged {key}-0")


def say(archive: Archive, line: str) -> None:
    if archive.flush():
        print(line, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))

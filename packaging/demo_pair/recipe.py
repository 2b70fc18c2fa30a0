"""The steps of the recipe: chats, tokens, target, draft, files, evaluation."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from demo_pair.chats.build import build
from demo_pair.chats.chat import read_chats, write_chats
from demo_pair.corpus.sources import read_documentation
from demo_pair.learning.judged import judged
from demo_pair.learning.network import Network
from demo_pair.learning.packing import Rows, pack, pack_apart
from demo_pair.learning.sizes import Preset, Run
from demo_pair.learning.tokenizer import encode_chats, train_tokenizer
from demo_pair.learning.tokens import Tokens
from demo_pair.learning.training import Training
from demo_pair.learning.weights import load_pieces, restored, save_pieces
from demo_pair.steps import RECIPE, NotMadeError, Step, files_key, mark_done

SETS = ("learnt", "unseen", "rephrased")
FILES = {part: f"paceline-demo-{part}-q8_0.gguf" for part in ("target", "draft")}
_TOKENIZER_CHATS = 40_000
_PACKING_SEED = 17


@dataclass(frozen=True)
class Options:
    """What does not change the result.

    Attributes:
        paceline: A Python that has Paceline, for the evaluation.
        blocks: On a GPU, let attention leave out blocks that nothing sees.
        pause_at_s: Moment of `time.monotonic` after which training stops; its checkpoint stays.
    """

    paceline: Path
    blocks: bool = True
    pause_at_s: float = math.inf


class Recipe:
    """All steps with one set of settings.

    Args:
        preset: The settings.
        sources: The documentation's folder.
        folder: Where everything is kept.
        options: What does not change the result.
        tell: Hears what is done.
    """

    def __init__(
        self,
        preset: Preset,
        sources: Path,
        folder: Path,
        options: Options,
        tell: Callable[[str], None],
    ) -> None:
        self._preset, self._sources, self._folder = preset, sources, folder
        self._text, self._tokens_folder = folder / "text", folder / "tokens"
        self._options, self._tell = options, tell

    def steps(self) -> list[Step]:
        """Return the steps in their order."""
        preset = self._preset
        sources = files_key(self._sources)
        target, draft = asdict(preset.target), asdict(preset.draft)
        learning = ["learning/network.py", "learning/training.py", "learning/losses.py"]
        learning += ["learning/batches.py", "learning/packing.py", "learning/schedule.py"]
        learning += ["learning/by_products.py", "learning/in_parts.py"]
        return [
            Step("chats", "the documentation as questions and answers", [preset.share, sources],
                 ["corpus", "chats"], self._chats),
            Step("tokens", "the tokenizer, and the chats as tokens", target["size"]["n_vocab"],
                 ["learning/tokens.py", "learning/tokenizer.py"], self._tokens),
            Step("target", "training the target", [preset.lengths, target], learning, self._target),
            Step("draft", "distilling the draft from the target", [preset.lengths, draft], [],
                 self._draft),
            Step("files", "two GGUF files", None, ["learning/gguf_file.py"], self._files),
            Step("evaluation", "losses, acceptance, answers, and the model card", preset.n_judged,
                 ["judging", "evaluate.py", "MODEL_CARD.md.in"], self._evaluation),
        ]  # fmt: skip

    # -------------------------------------------------------------------------------- text

    def _chats(self, _key: str) -> None:
        self._text.mkdir(parents=True, exist_ok=True)
        made = build(read_documentation(self._sources), share=self._preset.share)
        for name in SETS:
            write_chats(self._text / f"{name}.jsonl", getattr(made, name))
        counts = made.counts()
        self._write_json("text/counts.json", counts)
        self._tell(f"      {sum(counts['learnt'].values()):,} chats to learn from")

    def _tokens(self, _key: str) -> None:
        self._tokens_folder.mkdir(parents=True, exist_ok=True)
        chats = {name: list(read_chats(self._text / f"{name}.jsonl")) for name in SETS}
        tokenizer = train_tokenizer(chat.text() for chat in chats["learnt"][:_TOKENIZER_CHATS])
        tokenizer.save(str(self._tokens_folder / "tokenizer.json"))
        found = {}
        for name in SETS:
            tokens = encode_chats(tokenizer, chats[name])
            tokens.save(self._tokens_folder / f"{name}.npz")
            found[name] = {"tokens": len(tokens.ids), "said": int(tokens.said.sum())}
        self._write_json("tokens/counts.json", found)
        self._tell(f"      {found['learnt']['tokens']:,} tokens to learn from")

    # ---------------------------------------------------------------------------- training

    def _target(self, key: str) -> None:
        self._train("target", self._preset.target, key, None)

    def _draft(self, key: str) -> None:
        self._train("draft", self._preset.draft, key, self.network("target"))

    def _train(self, part: str, run: Run, key: str, teacher: Network | None) -> None:
        checkpoint = self._folder / f"{part}-{key}.checkpoint"
        training = Training(
            run,
            pack_apart(self._read("learnt"), self._preset.lengths, _PACKING_SEED),
            checkpoint,
            teacher=teacher,
            blocks=self._options.blocks,
            tell=self._say,
        )
        training.go(self._options.pause_at_s)
        tensors = {
            name: weight.detach().float().cpu().numpy()
            for name, weight in training.network.named_parameters()
        }
        about: dict[str, object] = {
            "key": key, "steps": training.step, "seconds": round(training.elapsed_s),
            "batch": run.batch, "length": self._preset.lengths[-1],
        }  # fmt: skip
        save_pieces(self._folder / part, run.size, tensors, about)
        # What is judged are the weights as they are kept, by networks that nothing compiled.
        plain = self.network(part)
        teacher = self.network("target") if teacher else None
        found = {n: judged(plain, self._rows(n), teacher) for n in ("unseen", "rephrased")}
        save_pieces(self._folder / part, run.size, tensors, about | {"judged": found})
        self._say(json.dumps(found))
        checkpoint.unlink()  # twelve bytes per weight that are no longer needed

    def take(self, folder: Path) -> None:
        """Take weights that another machine trained, so that both trainings count as done.

        Args:
            folder: Has the folders `target` and `draft` with all pieces.
        """
        for part in FILES:
            _, _, about = load_pieces(folder / part)
            shutil.copytree(folder / part, self._folder / part, dirs_exist_ok=True)
            mark_done(self._folder, part, str(about["key"]), float(str(about["seconds"])))

    def network(self, part: str) -> Network:
        """Return the target or the draft as its pieces have it."""
        size, tensors, _ = load_pieces(self._folder / part)
        made = Network(size)
        weights = {
            name: torch.from_numpy(restored(raw) if raw.ndim == 2 else raw.copy())
            for name, raw in tensors.items()
        }
        made.load_state_dict(weights)
        device = "cuda" if torch.cuda.is_available() else "cpu"
        return made.to(device).eval()

    def _rows(self, name: str) -> Rows:
        """Return the rows to judge by: of one length, unlike those to learn from."""
        return pack(self._read(name), self._preset.lengths[-1], _PACKING_SEED)

    def _read(self, name: str) -> Tokens:
        return Tokens.load(self._tokens_folder / f"{name}.npz")

    # ------------------------------------------------------------------------------- result

    def _files(self, _key: str) -> None:
        # A machine that only trains need not have the library that writes the files.
        from demo_pair.learning.gguf_file import label_for, write_gguf  # noqa: PLC0415

        for part, file in FILES.items():
            size, tensors, _ = load_pieces(self._folder / part)
            tokenizer = self._tokens_folder / "tokenizer.json"
            write_gguf(self._folder / file, size, tensors, tokenizer, label_for(part, size))

    def _evaluation(self, _key: str) -> None:
        paceline = self._options.paceline
        if not paceline.exists():
            raise NotMadeError(
                f"There is no {paceline}: name a Python that has Paceline (--paceline)."
            )
        command = [paceline, RECIPE / "evaluate.py", "--folder", self._folder]
        command += ["--chats", str(self._preset.n_judged)]
        if not self._preset.is_compared:
            command += ["--no-before", "--repeats", "1"]
        subprocess.run([str(each) for each in command], check=True)

    def _write_json(self, name: str, data: object) -> None:
        text = json.dumps(data, indent=1) + "\n"
        (self._folder / name).write_text(text, encoding="utf-8")

    def _say(self, line: str) -> None:
        self._tell(f"      {line}")

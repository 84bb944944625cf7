"""Made-up run folders of searches: fast and deterministic."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random
from typing import Any

from bayesnas_graph import passes
from bayesnas_graph.bayes import Decision
from bayesnas_graph.derive.derived import derive, given
from bayesnas_graph.ir import Graph
from bayesnas_graph.language.elaborate import load_network
from bayesnas_graph.language.elaborate.load import Loaded
from bayesnas_graph.passes.analysis import cost
from bayesnas_graph.runs.config.search import SearchConfig
from bayesnas_graph.runs.config.train import TrainConfig
from bayesnas_graph.runs.folder import RunFolder
from bayesnas_graph.runs.manifest import SearchManifest
from bayesnas_graph.runs.subject import Subject
from bayesnas_graph.search.events import HISTORY, METRICS, UPDATES
from bayesnas_graph.train.events import METRICS as EPOCHS
from tests.helpers import edit_json

# A motif whose uses have switches of their own, in a network that a page shows in two panels.
OWN_SWITCHES = """
motif part(w) {
    in x
    node h
    x -> h : choose { conv(w, 3), conv(w, 1), identity }
    x -> h : optional conv(w, 5)
    out h
}
network two(w = 4) : image(4, 8, 8) -> classes(3) {
    in x
    node a = x : part(w)
    node b = a : part(w)
    b -> out : global_avg_pool > linear(3)
}
"""


def searched(
    folder: Path,
    space: str | Path = "quickstart",
    iterations: int = 5,
    seed: int = 0,
    parameters: dict[str, Any] | None = None,
    **settings: object,
) -> Path:
    """The run folder of a finished search with one candidate left per choice."""
    loaded = load_network(Path(space), parameters=parameters)
    graph = passes.run(loaded.network.graph(), passes.SWITCHES)
    out = begun(folder, loaded, str(space), seed, {"parameters": parameters or {}, **settings})
    random = Random(seed)
    kept = _one_of_each(graph, random)
    decision = derive(graph, given(graph, kept)).decision
    closed = {verdict.name: random.randint(1, iterations) for verdict in decision.verdicts if not verdict.keep}
    alive = [
        sum(closed.get(verdict.name, iterations + 1) > at for verdict in decision.verdicts)
        for at in range(iterations + 1)
    ]
    whole, left = cost(graph), cost(passes.prune(graph, decision.off))
    sizes = [whole.parameters - (whole.parameters - left.parameters) * at // iterations for at in range(iterations + 1)]
    _table(
        out.metrics,
        METRICS,
        ([20 * at, at, 2 / at, 1 - 1 / (at + 1), 0.1 * at, 0.02, 0.4, alive[at]] for at in range(1, iterations + 1)),
    )
    _table(
        out.updates,
        UPDATES,
        ([at, 1 - 1 / (at + 2), sizes[at], 10 * sizes[at], alive[at], 0.3, 2.5] for at in range(1, iterations + 1)),
    )
    _table(out.history, HISTORY, _history(decision, closed, iterations, random))
    out.write_json(out.decision, decision.to_plain())
    result = {"why": "all iterations are done", "parameters": left.parameters, "flops": left.flops, "accuracy": 0.9125}
    out.write_json(
        out.result,
        {
            **result,
            "kept": len(decision.verdicts) - len(closed),
            "switches": len(decision.verdicts),
            "unmet": [],
            "on_target": True,
        },
    )
    return folder


def trained_run(folder: Path, epochs: int = 3) -> Path:
    """The run folder of a finished training run."""
    loaded = load_network(Path("lenet5"))
    out = begun(folder, loaded, "lenet5")
    config = TrainConfig(data="digits", epochs=epochs).to_plain()
    edit_json(out.manifest_file, lambda manifest: manifest.update(kind="train", config=config))
    _table(out.metrics, EPOCHS, ([at, 20 * at, 2 / at, 0.5, 1.5 / at, 0.3 * at, 0.1, 4] for at in range(1, epochs + 1)))
    size = cost(loaded.network.graph())
    result = {"accuracy": 0.975, "loss": 0.125, "parameters": size.parameters, "flops": size.flops}
    out.write_json(out.result, {"epochs": epochs, **result})
    return folder


def begun(
    folder: Path, loaded: Loaded, space: str, seed: int = 0, settings: dict[str, object] | None = None
) -> RunFolder:
    """The run folder of a search that has just started."""
    subject = Subject.of(loaded, space)
    out = RunFolder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    path, text = subject.files[0]
    out.write(out.space / path.name, text)
    config = SearchConfig.model_validate({"data": "digits", "seed": seed, **(settings or {})})
    versions = {"bayesnas-graph": "0.1.0", "python": "3.12.1", "torch": "2.13.0", "machine": "Linux x86_64, 2 cores"}
    out.write_manifest(
        SearchManifest(
            space=space,
            called=subject.called,
            file=path.name,
            network=subject.network.name,
            fingerprint=subject.fingerprint,
            python_ops=False,
            data_dir="data",
            begun="2026-01-02T03:04:05+00:00",
            versions=versions,
            threads=1,
            config=config,
        )
    )
    return out


def _one_of_each(graph: Graph, random: Random) -> set[str]:
    """One candidate and the zero switch of every choice, and every optional operation."""
    choices: dict[str, list[str]] = {}
    for gate in graph.gates:
        cell, colon, path = gate.group.rpartition(":")
        choices.setdefault(f"{cell}{colon}{path.rpartition('.')[0]}", []).append(gate.group)
    kept = set()
    for groups in choices.values():
        zeros = {group for group in groups if group.endswith(".zero")}
        others = sorted(set(groups) - zeros)
        kept |= zeros | ({random.choice(others)} if zeros else set(others))
    return kept


def _history(decision: Decision, closed: dict[str, int], iterations: int, random: Random) -> Iterable[Sequence[object]]:
    first = {verdict.name: random.uniform(0.3, 2.0) for verdict in decision.verdicts}
    for at in range(1, iterations + 1):
        for verdict in decision.verdicts:
            last = closed.get(verdict.name, iterations + 1)
            if at > last:
                continue
            gamma = 0.0 if at == last else first[verdict.name] * (1 - 0.5 * at / (last + 1))
            uses = len(verdict.gates)
            w, h = (" ".join(f"{random.uniform(0, 1):.4f}" for _ in range(uses)) for _ in range(2))
            why = "own switch off" if at == last else "kept"
            entropy = "" if at == last else 1.2
            scores = [gamma, 0.1, gamma, gamma, gamma]
            yield [at, verdict.name, int(at < last), why, gamma, 2 * gamma, 1.5, entropy, w, h, *scores]


def _table(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def board_of(text: str) -> dict[str, object]:
    """The data embedded in a page for its scripts."""
    start = text.index('id="data">') + len('id="data">')
    found: dict[str, object] = json.loads(text[start : text.index("</script>", start)])
    return found

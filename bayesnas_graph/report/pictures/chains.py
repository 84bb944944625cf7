"""Labels for candidates that are chains: their operations, which say more than the word "chain"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from bayesnas_graph.language.elaborate.block import Compute, Nested
from bayesnas_graph.report.pictures.settings import Settings, merged_settings, settings_of, settings_of_motif
from bayesnas_graph.report.pictures.words import shortened

Part = Compute | Nested
ARROW = " > "
ROOM = 36  # characters of a label
KERNEL = "k"  # the argument that says how large a kernel is


def candidate_labels(names: Sequence[str], candidates: Sequence[Sequence[Part]]) -> list[str]:
    """Labels of the candidates of a choice: their names, or the operations of those that are chains.

    `candidates` has the parts of each, without those of choices inside it. Candidates of the same operations are
    distinguished by the arguments that differ: `conv 3x3 > bn` and `conv 5x5 > bn`.
    """
    alike: dict[tuple[str, ...], list[Sequence[Part]]] = {}
    for parts in candidates:
        alike.setdefault(_words(parts), []).append(parts)
    differing = {words: _differing(chains) for words, chains in alike.items()}
    labels: list[str] = []
    counts: Counter[str] = Counter()
    for name, parts in zip(names, candidates, strict=True):
        differences = differing[_words(parts)]
        is_chain = len(parts) > 1 or differences == [{KERNEL}]
        label = _chain_label(parts, differences) if is_chain else shortened(name, ROOM)
        counts[label] += 1
        labels.append(label if counts[label] == 1 else f"{label} ({counts[label]})")
    return labels


def kernel_of(parts: Sequence[Part]) -> str:
    """The size of the kernel of a candidate, such as `3x3`; empty if not exactly one of its parts has a kernel."""
    sizes = [size for part in parts if (size := _kernel(part))]
    return sizes[0] if len(sizes) == 1 else ""


def _kernel(part: Part) -> str:
    size = next((setting.values[0] for setting in _settings(part) if setting.name == KERNEL), "")
    shape = part.block.output_shapes[0] if isinstance(part, Nested) else part.shape
    return "x".join([str(size)] * (len(shape) - 1)) if isinstance(size, int) and len(shape) > 1 else str(size)


def _words(parts: Sequence[Part]) -> tuple[str, ...]:
    return tuple(_word(part) for part in parts)


def _word(part: Part) -> str:
    if isinstance(part, Nested):
        return part.block.definition.name.name
    return "optional" if part.op.is_optional else part.op.label


def _differing(chains: Sequence[Sequence[Part]]) -> list[set[str]]:
    """For each part of chains of the same operations, the names of the arguments in which they differ."""
    differing = []
    for same in zip(*chains, strict=True):
        merged = merged_settings([_settings(part) for part in same])
        differing.append({setting.name for setting in merged if len(setting.values) > 1})
    return differing


def _chain_label(parts: Sequence[Part], differing: Sequence[set[str]]) -> str:
    words = []
    for part, names in zip(parts, differing, strict=True):
        if names == {KERNEL}:
            words.append(f"{_word(part)} {_kernel(part)}")
            continue
        values = (str(setting.values[0]) for setting in _settings(part) if setting.name in names)
        words.append("_".join([_word(part), *values]))
    whole = ARROW.join(words)
    if len(whole) <= ROOM:
        return whole
    if len(words) == 1:
        return shortened(whole, ROOM)
    first = [words[0]]
    while len(ARROW.join([*first, words[len(first)], "…", words[-1]])) <= ROOM:
        first.append(words[len(first)])
    return shortened(ARROW.join([*first, "…", words[-1]]), ROOM)


def _settings(part: Part) -> Settings:
    return settings_of_motif(part.block) if isinstance(part, Nested) else settings_of(part.op)

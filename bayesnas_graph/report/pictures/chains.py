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


def candidate_labels(names: Sequence[str], candidates: Sequence[Sequence[Part]]) -> list[str]:
    """Labels of the candidates of a choice: their names, or the operations of those that are chains.

    `candidates` has the parts of each, without those of choices inside it. Chains of the same operations are
    distinguished by the arguments that differ: `conv_3 > bn` and `conv_5 > bn`.
    """
    alike: dict[tuple[str, ...], list[Sequence[Part]]] = {}
    for parts in candidates:
        alike.setdefault(_words(parts), []).append(parts)
    differing = {words: _differing(chains) for words, chains in alike.items() if len(words) > 1}
    labels: list[str] = []
    counts: Counter[str] = Counter()
    for name, parts in zip(names, candidates, strict=True):
        label = _chain_label(parts, differing[_words(parts)]) if len(parts) > 1 else shortened(name, ROOM)
        counts[label] += 1
        labels.append(label if counts[label] == 1 else f"{label} ({counts[label]})")
    return labels


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
        values = (str(setting.values[0]) for setting in _settings(part) if setting.name in names)
        words.append("_".join([_word(part), *values]))
    whole = ARROW.join(words)
    if len(whole) <= ROOM:
        return whole
    first = [words[0]]
    while len(ARROW.join([*first, words[len(first)], "…", words[-1]])) <= ROOM:
        first.append(words[len(first)])
    return shortened(ARROW.join([*first, "…", words[-1]]), ROOM)


def _settings(part: Part) -> Settings:
    return settings_of_motif(part.block) if isinstance(part, Nested) else settings_of(part.op)

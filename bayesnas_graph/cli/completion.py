"""Shell completion: the scripts that shells load, and the answers that these ask for.

A script runs the program with `_BAYESNAS_GRAPH_COMPLETE=1` and the words up to the cursor, of which the last one is
incomplete. The answer is a line for each value, with a description after a tab; none means that the shell completes
files.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bayesnas_graph.cli.console import echo
from bayesnas_graph.cli.terminal import dim

BASH = """\
_bayesnas_graph() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        COMPREPLY+=("${line%%$'\\t'*}")
    done < <(_BAYESNAS_GRAPH_COMPLETE=1 "${COMP_WORDS[0]}" "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[/=] ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
complete -o default -F _bayesnas_graph bayesnas-graph
"""

ZSH = """\
#compdef bayesnas-graph
_bayesnas-graph() {
    local line
    local -a found partial
    for line in "${(@f)$(_BAYESNAS_GRAPH_COMPLETE=1 "${words[1]}" "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
        case "${line%%$'\\t'*}" in
            "") ;;
            */ | *=) partial+=("${line%%$'\\t'*}") ;;
            *) found+=("${${line//:/\\\\:}/$'\\t'/:}") ;;
        esac
    done
    if (( $#found + $#partial == 0 )); then
        _files
        return
    fi
    (( $#found )) && _describe -V 'value' found
    (( $#partial )) && compadd -S '' -- "${partial[@]}"
}
if [[ ${funcstack[1]} == _bayesnas-graph ]]; then
    _bayesnas-graph "$@"
else
    compdef _bayesnas-graph bayesnas-graph
fi
"""

FISH = """\
function __bayesnas_graph
    set -l words (commandline -opc) (commandline -ct)
    set -l found (_BAYESNAS_GRAPH_COMPLETE=1 $words[1] $words[2..-1] 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c bayesnas-graph -f -a '(__bayesnas_graph)'
"""

SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}


def install(shell: str) -> None:
    """Write the script of a shell to the user's folder for such scripts."""
    home = Path.home()
    data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    path = {
        "bash": data / "bash-completion" / "completions" / "bayesnas-graph",
        "zsh": home / ".zfunc" / "_bayesnas-graph",
        "fish": config / "fish" / "completions" / "bayesnas-graph.fish",
    }[shell]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(SCRIPTS[shell], encoding="utf-8")
    echo(f"wrote {dim(str(path))}")
    if shell == "zsh":
        echo("add this line to ~/.zshrc, unless it is there, and start a new shell:")
        echo("  fpath=(~/.zfunc $fpath); autoload -Uz compinit; compinit")
    else:
        echo("it takes effect in a new shell" + (" with bash-completion" if shell == "bash" else ""))


def answer(program: Any, words: Sequence[str]) -> None:
    """Print the completions of the last word. Never fails: a shell would show the error at the prompt."""
    *before, incomplete = words or [""]
    try:
        lines = [f"{value}\t{' '.join(help.split())}".rstrip() for value, help in _found(program, before, incomplete)]
    except Exception:
        return
    sys.stdout.write("".join(f"{line}\n" for line in lines))


def _found(command: Any, before: Sequence[str], incomplete: str) -> Iterator[tuple[str, str]]:
    """Yield the values of the next word of a command, each with a description."""
    if hasattr(command, "list_commands"):
        named = next((i for i, word in enumerate(before) if not word.startswith("-")), None)
        if named is not None:
            chosen = command.get_command(None, before[named])
            if chosen is not None:
                yield from _found(
                    chosen.loaded() if hasattr(chosen, "loaded") else chosen, before[named + 1 :], incomplete
                )
            return
        if not incomplete.startswith("-"):
            for name in command.list_commands(None):
                if name.startswith(incomplete):
                    yield name, command.get_command(None, name).help or ""
            return
    options = [param for param in command.params if param.param_type_name == "option"]
    valued = {name: option for option in options if not option.is_flag for name in option.opts}
    if before and before[-1] in valued:
        yield from _values(command, valued[before[-1]], before[:-1], incomplete)
    elif incomplete.startswith("-"):
        for option in options:
            for name in (*option.opts, *option.secondary_opts):
                if name.startswith(incomplete) and (option.multiple or name not in before):
                    yield name, option.help or ""
        if "--help".startswith(incomplete):
            yield "--help", "Show this message and exit."
    else:
        arguments = [param for param in command.params if param.param_type_name == "argument"]
        values = [i for i, word in enumerate(before) if i and before[i - 1] in valued]
        given = sum(not word.startswith("-") and i not in values for i, word in enumerate(before))
        many = [argument for argument in arguments if argument.nargs == -1]
        for argument in arguments[given : given + 1] or many:
            yield from _values(command, argument, before, incomplete)


def _values(command: Any, param: Any, before: Sequence[str], incomplete: str) -> Iterator[tuple[str, str]]:
    """Yield the values of an option or an argument; none if it is a file or a folder."""
    with command.make_context(command.name, list(before), resilient_parsing=True) as context:
        for item in param.shell_complete(context, incomplete):
            if item.type == "plain":
                yield item.value, item.help or ""

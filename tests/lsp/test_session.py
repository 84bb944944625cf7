"""A session of an editor with the server, over standard input and output."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT
from tests.lsp.client import Client

SPACE = """import "std.nas"

/// A block of the network.
motif block(width) {
    in x
    x -> out : conv(width) > sep_conv(3)
}

network net : image(3, 16, 16) -> classes(10) {
    in x
    x -> out : block(8) > global_avg_pool > linear(10)
}
"""
FEATURES = (
    "hoverProvider definitionProvider referencesProvider documentSymbolProvider documentFormattingProvider "
    "completionProvider signatureHelpProvider renameProvider semanticTokensProvider codeActionProvider"
)


def at(line: int, character: int) -> dict[str, int]:
    return {"line": line, "character": character}


def test_a_session(tmp_path: Path) -> None:
    uri = (tmp_path / "net.nas").as_uri()
    with Client(tmp_path) as client:
        assert client.server["serverInfo"]["name"] == "bayesnas-graph"
        assert [name for name in FEATURES.split() if name not in client.server["capabilities"]] == []
        assert client.server["capabilities"]["positionEncoding"] == "utf-16"

        # An error is typed, and fixed.
        client.open(uri, SPACE)
        client.problems(uri, 1, [])
        client.change(uri, 2, SPACE.replace("linear(10)", "liner(10)"))
        (problem,) = client.problems(uri, 2, ["NAS101"])
        assert problem["severity"] == 1
        assert problem["range"] == {"start": at(10, 44), "end": at(10, 49)}
        assert problem["codeDescription"]["href"].endswith("NAS101.md")
        (fix,) = client.request(
            "textDocument/codeAction",
            textDocument={"uri": uri},
            range=problem["range"],
            context={"diagnostics": [problem]},
        )["result"]
        assert fix["edit"]["changes"][uri][0]["newText"] == "linear"
        client.change(uri, 3, SPACE)
        client.problems(uri, 3, [])

        # Once the networks are checked, shapes and costs are known.
        answers = (client.about("hover", uri, 10, 17)["contents"]["value"] for _ in range(20_000))
        hover = next(answer for answer in answers if "parameters" in answer)
        assert "motif block(width)" in hover
        assert "A block of the network." in hover
        assert "3x16x16 -> 8x16x16, 520 parameters, 124,928 multiply-adds" in hover
        place = client.about("definition", uri, 5, 32)
        assert place["uri"].endswith("/std.nas")
        assert place["range"]["start"]["character"] == 6
        assert len(client.about("references", uri, 10, 17, context={"includeDeclaration": True})) == 2
        assert client.about("signatureHelp", uri, 5, 20)["signatures"][0]["label"].startswith("conv(width = same")

        # Renaming, and a refusal with its reason.
        edits = client.about("rename", uri, 10, 17, newName="stem")["changes"][uri]
        assert [edit["newText"] for edit in edits] == ["stem", "stem"]
        assert client.about("prepareRename", uri, 3, 8)["start"] == at(3, 6)
        assert client.about("prepareRename", uri, 10, 46)["message"] == "`linear` is a primitive"

        # Text that is being written.
        broken = SPACE.replace("> sep_conv(3)", "> conv(width, ")
        client.change(uri, 4, broken)
        client.problems(uri, 4, ["NAS002"])
        labels = [item["label"] for item in client.about("completion", uri, 5, 42)]
        assert {"k =", "stride =", "width", "sep_conv", "relu", "choose"} <= set(labels)
        symbols = client.request("textDocument/documentSymbol", textDocument={"uri": uri})["result"]
        assert [symbol["name"] for symbol in symbols] == ["block", "net"]
        tokens = client.request("textDocument/semanticTokens/full", textDocument={"uri": uri})["result"]["data"]
        assert len(tokens) % 5 == 0
        assert len(tokens) > 100

        # Formatting.
        options = {"tabSize": 4, "insertSpaces": True}
        assert client.request("textDocument/formatting", textDocument={"uri": uri}, options=options)["result"] == []
        client.change(uri, 5, SPACE.replace("    in x\n", "  in x\n"))
        (edit, *_) = client.request("textDocument/formatting", textDocument={"uri": uri}, options=options)["result"]
        assert edit["newText"].startswith("  ")

        client.notify("textDocument/didClose", textDocument={"uri": uri})
        assert client.stop() == 0
    assert (tmp_path / "errors.txt").read_text() == ""


def test_hostile_requests(tmp_path: Path) -> None:
    """Positions outside the text, documents that are not open, wrong parameters: there is always an answer."""
    uri = (tmp_path / "a.nas").as_uri()
    with Client(tmp_path, positionEncodings=["utf-8"]) as client:
        assert client.server["capabilities"]["positionEncoding"] == "utf-8"
        client.open(uri, "let a = 1 // \N{GRINNING FACE}\nlet b = c // \N{GRINNING FACE}")
        assert client.problems(uri, 1, ["NAS101"])[0]["range"]["start"] == at(1, 8)
        for line, character in ((10**6, 0), (0, 10**6), (0, 15), (2**31 - 1, 2**31 - 1)):
            for method in ("hover", "completion", "definition", "signatureHelp"):
                answer = client.about(method, uri, line, character)
                assert not isinstance(answer, dict) or "code" not in answer, answer
        client.notify("textDocument/hover", textDocument={"uri": uri}, position={"line": -1, "character": 0})
        client.notify("textDocument/didChange", nonsense=1)
        assert client.about("hover", "untitled:never opened", 0, 0) is None
        assert client.about("completion", "file:///no/such/file.nas", 3, 3) is not None
        client.open("untitled:new", "let a = \ud800")
        client.problems("untitled:new", 1, ["NAS011"])
        assert client.about("hover", uri, 0, 4)["contents"]["value"].startswith("```nas\nlet a = 1")
        assert client.stop() == 0


def test_the_server_ends_with_the_editor(tmp_path: Path) -> None:
    with Client(tmp_path) as client:
        client.open((tmp_path / "a.nas").as_uri(), SPACE)
        assert client.process.stdin is not None
        client.process.stdin.close()
        client.process.wait()


def test_only_the_last_of_many_changes_is_checked(tmp_path: Path) -> None:
    uri = (tmp_path / "a.nas").as_uri()
    with Client(tmp_path) as client:
        client.open(uri, "")
        for version in range(2, 200):
            client.change(uri, version, f"let a = {version}")
        client.problems(uri, 199, [])
        assert client.stop() == 0


def test_a_document_is_checked_again_when_its_import_changes(tmp_path: Path) -> None:
    part, main = (tmp_path / "part.nas").as_uri(), (tmp_path / "main.nas").as_uri()
    (tmp_path / "part.nas").write_text("let one = 1\n")
    with Client(tmp_path) as client:
        client.open(main, 'import "part.nas"\nlet two = one + 1\n')
        client.problems(main, 1, [])
        client.open(part, "let uno = 1\n")
        client.problems(main, 1, ["NAS101"])
        client.change(part, 2, "let one = 1\n")
        client.problems(main, 1, [])
        assert client.stop() == 0


def test_starting_does_not_load_torch() -> None:
    code = "import sys; import bayesnas_graph.lsp.server as s; s.create_server(); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout == "False\n"

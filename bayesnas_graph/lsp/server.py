"""The server: it passes what an editor asks to the functions of this package, and their answers back."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable
from typing import TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from bayesnas_graph import __version__
from bayesnas_graph.lsp.checks import Checks
from bayesnas_graph.lsp.code_actions import code_actions
from bayesnas_graph.lsp.completion import completion
from bayesnas_graph.lsp.documents import path_of
from bayesnas_graph.lsp.formatting import formatting
from bayesnas_graph.lsp.hover import hover
from bayesnas_graph.lsp.places import definition, references
from bayesnas_graph.lsp.positions import UTF16
from bayesnas_graph.lsp.rename import CannotRename, renamable, rename
from bayesnas_graph.lsp.session import Session
from bayesnas_graph.lsp.signatures import signature_help
from bayesnas_graph.lsp.symbols import document_symbols
from bayesnas_graph.lsp.tokens import LEGEND, semantic_tokens

NAME = "bayesnas-graph"

T = TypeVar("T")
log = logging.getLogger(__name__)


def serve(*, allow_python: bool = False) -> None:
    """Run a server on standard input and output until the editor ends it. Errors are logged on standard error."""
    logging.basicConfig(stream=sys.stderr, level=logging.ERROR, format="%(message)s")
    logging.getLogger("pygls.protocol.json_rpc").addFilter(_is_bug)
    create_server(allow_python=allow_python).start_io()


def _is_bug(record: logging.LogRecord) -> bool:
    """Whether a record is about an error of the server, not an answer that is an error, such as a refused rename."""
    return not (record.exc_info and isinstance(record.exc_info[1], JsonRpcException))


def create_server(*, allow_python: bool = False) -> LanguageServer:
    """A server with all features, to be started with `start_io`."""
    # Whole texts are sent, not changes: pygls applies changes to lines as Python sees them, which are not those of
    # the protocol.
    server = LanguageServer(NAME, __version__, text_document_sync_kind=types.TextDocumentSyncKind.Full)
    session = Session(allow_python=allow_python)
    checks = Checks(session, server.text_document_publish_diagnostics)
    _add_documents(server, session, checks)
    _add_requests(server, session)
    return server


async def _answer(work: Callable[[], T]) -> T | None:
    """Answer a request in a thread. A bug is logged, and the answer is that there is none: the server lives on."""
    try:
        return await asyncio.to_thread(work)
    except CannotRename as reason:
        raise JsonRpcException(str(reason), types.LSPErrorCodes.RequestFailed.value) from None
    except Exception:
        log.exception("a request failed; this is a bug in bayesnas-graph")
        return None


def _add_documents(server: LanguageServer, session: Session, checks: Checks) -> None:
    """Opening, changing and closing documents."""

    def note(uri: str, version: int | None) -> None:
        session.change(uri, server.workspace.get_text_document(uri).source, version)
        checks.start(uri)

    @server.feature(types.INITIALIZED)
    def initialized(_: types.InitializedParams) -> None:
        session.units = str(getattr(server.workspace.position_encoding, "value", UTF16))
        folders = [path_of(folder.uri) for folder in server.workspace.folders.values()]
        session.folders = tuple(folder for folder in folders if folder is not None)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenTextDocumentParams) -> None:
        note(params.text_document.uri, params.text_document.version)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: types.DidChangeTextDocumentParams) -> None:
        note(params.text_document.uri, params.text_document.version)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def did_save(_: types.DidSaveTextDocumentParams) -> None:
        for uri in session:  # other files may have changed too
            session.refresh(uri)
            checks.start(uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseTextDocumentParams) -> None:
        session.close(params.text_document.uri)
        checks.forget(params.text_document.uri)

    @server.feature(types.SHUTDOWN)
    def shutdown(_: None) -> None:
        session.close_all()


def _add_requests(server: LanguageServer, session: Session) -> None:
    """What an editor asks about a document."""

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def _hover(params: types.HoverParams) -> types.Hover | None:
        uri = params.text_document.uri
        return await _answer(lambda: hover(session.reading(uri), session.elaboration(uri), params.position))

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=[".", '"', "("]))
    async def _completion(params: types.CompletionParams) -> list[types.CompletionItem] | None:
        uri = params.text_document.uri
        return await _answer(lambda: completion(session.document(uri), session.last_reading(uri), params.position))

    @server.feature(types.TEXT_DOCUMENT_SIGNATURE_HELP, types.SignatureHelpOptions(["(", ","]))
    async def _signature_help(params: types.SignatureHelpParams) -> types.SignatureHelp | None:
        return await _answer(lambda: signature_help(session.reading(params.text_document.uri), params.position))

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def _definition(params: types.DefinitionParams) -> types.Location | None:
        return await _answer(lambda: definition(session.reading(params.text_document.uri), params.position))

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    async def _references(params: types.ReferenceParams) -> list[types.Location] | None:
        uri, declaration = params.text_document.uri, params.context.include_declaration
        return await _answer(
            lambda: references(session.reading(uri), params.position, session.related(uri), declaration=declaration)
        )

    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    async def _prepare_rename(params: types.PrepareRenameParams) -> types.Range | None:
        return await _answer(lambda: renamable(session.reading(params.text_document.uri), params.position))

    @server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    async def _rename(params: types.RenameParams) -> types.WorkspaceEdit | None:
        uri = params.text_document.uri
        return await _answer(
            lambda: rename(session.reading(uri), params.position, params.new_name, lambda: session.related(uri))
        )

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def _symbols(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol] | None:
        return await _answer(lambda: document_symbols(session.reading(params.text_document.uri)))

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    async def _formatting(params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
        return await _answer(lambda: formatting(session.document(params.text_document.uri), session.units))

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, LEGEND)
    async def _semantic_tokens(params: types.SemanticTokensParams) -> types.SemanticTokens | None:
        return await _answer(lambda: semantic_tokens(session.reading(params.text_document.uri)))

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])
    )
    async def _code_actions(params: types.CodeActionParams) -> list[types.CodeAction] | None:
        return await _answer(lambda: code_actions(session.reading(params.text_document.uri), params.range))

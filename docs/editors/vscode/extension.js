// Starts `bayesnas-graph lsp` and connects it to the editor. Everything else is in the server.

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

async function start() {
  const settings = vscode.workspace.getConfiguration("nas.server");
  const command = settings.get("path");
  const args = settings.get("allowPython") ? ["lsp", "--allow-python"] : ["lsp"];
  const documentSelector = [
    { language: "nas", scheme: "file" },
    { language: "nas", scheme: "untitled" },
  ];
  client = new LanguageClient("nas", "NAS", { command, args }, { documentSelector });
  try {
    await client.start();
  } catch (error) {
    const install = "Install bayesnas-graph with the extra `lsp`, and set `nas.server.path` if it is not on the PATH.";
    vscode.window.showErrorMessage(`NAS: cannot start \`${command} lsp\`. ${install}`);
  }
}

async function stop() {
  const running = client;
  client = undefined;
  if (running !== undefined && running.isRunning()) {
    await running.stop();
  }
}

async function restart() {
  await stop();
  await start();
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("nas.restart", restart),
    vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration("nas.server") && restart()),
  );
  await start();
}

module.exports = { activate, deactivate: stop };

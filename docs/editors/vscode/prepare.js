// Copies what the extension shares with the rest of the project, before it is packaged.

const { copyFileSync } = require("node:fs");
const { join } = require("node:path");

const copies = { "nas.tmLanguage.json": "../nas.tmLanguage.json", LICENSE: "../../../LICENSE" };
for (const [copy, original] of Object.entries(copies)) {
  copyFileSync(join(__dirname, original), join(__dirname, copy));
}

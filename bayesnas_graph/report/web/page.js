// Shared by all sections: the data of the page, its theme, and the copy and save buttons.

const page = {
  data: JSON.parse(document.getElementById("data").textContent),
  dark: () => document.documentElement.dataset.theme === "dark",
  onTheme: [],  // called when the theme changes
};
window.page = page;

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  for (const change of page.onTheme) change();
}

document.getElementById("theme").addEventListener("click", () => {
  const theme = page.dark() ? "light" : "dark";
  try { localStorage.setItem("bayesnas-graph-theme", theme); } catch { /* no storage: not remembered */ }
  setTheme(theme);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => setTheme(event.matches ? "dark" : "light"));

const textOf = (button) => document.getElementById(button.dataset.for).textContent;

function say(button, text) {
  const before = button.dataset.label ?? button.textContent;
  button.dataset.label = before;
  button.textContent = text;
  setTimeout(() => { button.textContent = before; }, 1500);
}

async function copy(button) {
  const text = textOf(button);
  try {
    await navigator.clipboard.writeText(text);
  } catch {  // some browsers deny the clipboard to local files
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    if (!done) return say(button, "cannot copy here");
  }
  say(button, "copied");
}

function save(button) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([textOf(button)], { type: "text/plain" }));
  link.download = button.dataset.name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button.copy, button.save");
  if (button) (button.classList.contains("copy") ? copy : save)(button);
  const toggle = event.target.closest("button.toggle");
  if (toggle) {
    const on = document.getElementById(toggle.dataset.for).classList.toggle(toggle.dataset.class);
    toggle.setAttribute("aria-pressed", String(on));
  }
});

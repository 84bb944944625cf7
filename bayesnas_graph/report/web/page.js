// Shared by all sections: the data of the page, its theme, and the copy and save buttons.

const page = {
  data: JSON.parse(document.getElementById("data").textContent),
  dark: () => document.documentElement.dataset.theme === "dark",
  onTheme: [],  // called when the theme changes
  opened: null,  // the switch whose history is shown
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
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", ({ matches }) => {
  if (onScreen === null) setTheme(matches ? "dark" : "light");  // a printer is no change of theme
});

// ---- print: always the light theme, with everything unfolded that has no other place to be seen

const FOLDS = "details.panel, details.more, section > details:not([class])";
let onScreen = null;  // the theme and the open folds, while the page is printed

function print(isPrinting) {
  if (isPrinting === (onScreen !== null)) return;
  const folds = [...document.querySelectorAll(FOLDS)];
  if (isPrinting) {
    onScreen = { theme: document.documentElement.dataset.theme, closed: folds.filter(({ open }) => !open) };
    for (const fold of folds) fold.open = true;
    setTheme("light");
  } else {
    for (const fold of onScreen.closed) fold.open = false;
    setTheme(onScreen.theme);
    onScreen = null;
  }
}

addEventListener("beforeprint", () => print(true));
addEventListener("afterprint", () => print(false));
matchMedia("print").addEventListener("change", ({ matches }) => print(matches));

// ---- boxes that scroll sideways can be reached with the keyboard, while there is something to scroll

const widths = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }
});
for (const box of document.querySelectorAll(".scroll:not(.picture)")) widths.observe(box);

// ---- buttons

for (const link of document.querySelectorAll(".figures a.svg")) {
  link.href = link.closest("figure").querySelector(".on-light").src;
}

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

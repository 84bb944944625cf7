// Finding switches by name.

const MAX_LISTED = 50;
const box = document.getElementById("find");
const results = document.getElementById("found");

if (box) listen();

function listen() {
  const shown = () => [...results.querySelectorAll("[role=option]")];
  const selected = () => results.querySelector("[aria-selected=true]");

  box.addEventListener("input", look);
  box.addEventListener("blur", hide);
  box.addEventListener("keydown", (event) => {
    const items = shown();
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      select(items[Math.min(items.length - 1, Math.max(0, items.indexOf(selected()) + step))]);
    } else if (event.key === "Enter" && items.length) {
      go((selected() ?? items[0]).known);
    } else if (event.key === "Escape") {
      box.value = "";
      look();
    }
  });
}

function look() {
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  const all = words.length ? page.search.switches.filter((one) => fits(one, words)) : [];
  results.replaceChildren(...all.slice(0, MAX_LISTED).map(item));
  if (all.length > MAX_LISTED) results.append(note(`and ${page.count(all.length - MAX_LISTED)} more`));
  else if (words.length && !all.length) results.append(note("no matching switch"));
  results.hidden = !words.length;
  box.setAttribute("aria-expanded", String(!results.hidden));
  const found = new Set(all);
  for (const panel of page.panels) {
    panel.element.classList.toggle("searched", words.length > 0);
    for (const mark of panel.marks) {
      mark.classList.toggle("match", found.size > 0 && panel.behind(mark).some((one) => found.has(one)));
    }
  }
}

// All words must occur, in any order.
function fits(one, words) {
  const text = `${one.text} ${one.name}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

function item(one, index) {
  const element = document.createElement("li");
  element.id = `found-${index}`;
  element.setAttribute("role", "option");
  element.dataset.kept = String(one.kept ?? one.closed === null);
  element.textContent = one.text;
  element.known = one;
  element.addEventListener("pointerdown", (event) => { event.preventDefault(); go(one); });
  return element;
}

function note(text) {
  const element = document.createElement("li");
  element.className = "more";
  element.textContent = text;
  return element;
}

function select(element) {
  for (const other of results.children) other.removeAttribute("aria-selected");
  element?.setAttribute("aria-selected", "true");
  element?.scrollIntoView({ block: "nearest" });
  if (element) box.setAttribute("aria-activedescendant", element.id);
}

function hide() {
  results.hidden = true;
  box.setAttribute("aria-expanded", "false");
}

// Show the panel of a switch, if it has one, and return its mark.
function locate(one) {
  const number = page.search.switches.indexOf(one);
  const holds = ({ switches }) => switches.includes(number);
  const panel = page.panels.find(({ rows }) => rows.some(holds));
  if (!panel) return {};
  const row = panel.rows.findIndex(holds);
  page.reveal(panel, row);
  const gate = panel.gates[panel.rows[row].switches.indexOf(number)];
  const mark = panel.marks.find((other) => [other.dataset.gate, other.dataset.zero].includes(gate));
  if (mark) panel.point(mark);
  return { panel, mark };
}

// Go to a switch from the list.
function go(one) {
  hide();
  const { panel, mark } = locate(one);
  panel?.picture.focus({ preventScroll: true });
  if (!mark) return;
  mark.scrollIntoView({ block: "center", inline: "center" });
  page.showTip(mark, [one]);
}

// Open the history of a switch beside its picture.
page.openSwitch = (one) => {
  const { panel, mark } = locate(one);
  if (mark) page.openDetail(panel, mark, one);
};

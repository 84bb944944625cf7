// Details of a switch: a tooltip, and its history in a side panel.

const { search } = page;

function table(pairs) {
  const body = document.createElement("table");
  for (const [name, text] of pairs) {
    const row = body.insertRow();
    row.insertCell().textContent = name;
    row.insertCell().textContent = text;
  }
  return body;
}

// ---- tooltips

const tip = document.getElementById("tip");

page.hideTip = () => { if (tip) tip.hidden = true; };

// Show facts about the switches behind a mark, or the hint of the picture if it has none.
page.showTip = (mark, own) => {
  const heading = document.createElement("strong");
  const hint = document.createElement("pre");
  heading.textContent = own.length === 1 ? own[0].text : page.gateOf(mark);
  hint.textContent = mark.dataset.hint ?? "";
  tip.replaceChildren(...(own.length ? [heading, table(search.facts(own))] : [hint]));
  tip.hidden = false;
  const around = mark.getBoundingClientRect();
  const { width, height } = tip.getBoundingClientRect();
  const x = Math.min((around.left + around.right - width) / 2, innerWidth - width - 8);
  const y = around.bottom + 8 + height < innerHeight ? around.bottom + 8 : Math.max(8, around.top - height - 8);
  tip.style.left = `${Math.max(8, x) + scrollX}px`;
  tip.style.top = `${y + scrollY}px`;
};

// ---- histories

const MAX_LISTED = 50;
const detail = document.getElementById("detail");
let opener = null;

page.openDetail = (panel, mark, one = null) => {
  const own = one ? [one] : panel.behind(mark);
  opener = panel.picture;
  page.hideTip();
  if (own.length === 1) showHistory(own[0]);
  else list(own, page.gateOf(mark));
};

function showHistory(one) {
  page.opened = one;
  page.remember();
  fill(one.text, table([["id", one.name], ...search.facts([one]), ["outcome", search.outcome(one)]]));
  const rows = one.gamma.map((gamma, index) => ({
    iteration: index + 1, gamma, s: one.s[index], omega: one.omega[index], w: one.w[index] ?? [], h: one.h[index] ?? [],
  }));
  page.draw(detail.querySelector(".plot"), { ...page.data.history, data: { name: "history", values: rows } }, "switch");
}

// Several uses at one place: let the user choose.
function list(own, gate) {
  const choices = document.createElement("ul");
  choices.append(...own.slice(0, MAX_LISTED).map((one) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = `${one.text}, ${search.state(one)}`;
    button.addEventListener("click", () => showHistory(one));
    const item = document.createElement("li");
    item.append(button);
    return item;
  }));
  const more = own.length > MAX_LISTED ? [`and ${page.count(own.length - MAX_LISTED)} more: find them by name`] : [];
  fill(`${gate}, ${own.length} switches`, table(search.facts(own)), choices, ...more);
}

function fill(title, ...facts) {
  detail.querySelector("h3").textContent = title;
  detail.querySelector(".facts").replaceChildren(...facts);
  detail.querySelector(".plot").replaceChildren();
  detail.hidden = false;
  detail.focus();
}

function close() {
  detail.hidden = true;
  page.opened = null;
  page.remember();
  opener?.focus();
}

if (detail) {
  detail.querySelector("button").addEventListener("click", close);
  detail.addEventListener("keydown", (event) => { if (event.key === "Escape") close(); });
  page.onTheme.push(() => { if (!detail.hidden) close(); });  // its chart has the old colours
}

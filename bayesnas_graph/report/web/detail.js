// All that is known about a switch: a hint where the pointer rests, and its history beside the page.

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

// ---- hints

const tip = document.getElementById("tip");

page.hideTip = () => { if (tip) tip.hidden = true; };

// Tell about the switches behind a mark, or, of what has none, what the picture says about it.
page.showTip = (mark, own) => {
  const heading = document.createElement("strong");
  const hint = document.createElement("pre");
  heading.textContent = own.length === 1 ? own[0].name : page.gateOf(mark);
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

const MOST = 50;  // switches that are listed
const detail = document.getElementById("detail");
let opener = null;

page.openDetail = (panel, mark) => {
  const own = panel.behind(mark);
  opener = panel.picture;
  page.hideTip();
  if (own.length === 1) tell(own[0]);
  else list(own, page.gateOf(mark));
};

function tell(one) {
  fill(one.name, table([...search.facts([one]), ["in the end", search.outcome(one)]]));
  const rows = one.gamma.map((gamma, index) => ({
    iteration: index + 1, gamma, s: one.s[index], omega: one.omega[index], w: one.w[index] ?? [], h: one.h[index] ?? [],
  }));
  page.draw(detail.querySelector(".plot"), { ...page.data.history, data: { name: "history", values: rows } }, "switch");
}

// Several uses at one place: which of them is meant?
function list(own, gate) {
  const choices = document.createElement("ul");
  choices.append(...own.slice(0, MOST).map((one) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = `${one.name}, ${search.state(one)}`;
    button.addEventListener("click", () => tell(one));
    const item = document.createElement("li");
    item.append(button);
    return item;
  }));
  const more = own.length > MOST ? [`and ${page.count(own.length - MOST)} more: find them by name`] : [];
  fill(`${gate}, ${own.length} switches`, table(search.facts(own)), choices, ...more);
}

function fill(title, ...told) {
  detail.querySelector("h3").textContent = title;
  detail.querySelector(".told").replaceChildren(...told);
  detail.querySelector(".plot").replaceChildren();
  detail.hidden = false;
  detail.focus();
}

function close() {
  detail.hidden = true;
  opener?.focus();
}

if (detail) {
  detail.querySelector("button").addEventListener("click", close);
  detail.addEventListener("keydown", (event) => { if (event.key === "Escape") close(); });
  page.onTheme.push(() => { if (!detail.hidden) close(); });  // its chart has the colours of the other theme
}

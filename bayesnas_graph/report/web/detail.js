// Details of a switch: a tooltip, and its history in a side panel.

const { search } = page;

function table(rows) {
  const body = document.createElement("table");
  for (const cells of rows) {
    const row = body.insertRow();
    const texts = cells.filter(Boolean);
    for (const text of texts) row.insertCell().textContent = text;
    row.lastElementChild.colSpan = 4 - texts.length;  // of up to three columns
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

// From outside a picture.
page.openHistory = (one) => {
  opener = null;
  showHistory(one);
};

function showHistory(one) {
  page.opened = one;
  page.remember();
  const because = document.createElement("p");
  because.className = "because";
  because.textContent = one.because;
  const reading = document.createElement("p");
  reading.className = "dim";
  reading.textContent = page.data.history_caption;
  fill(one.text, because, reading);
  const source = { name: "history", values: updatesOf(one) };
  chart(detail.querySelector(".plot"), page.data.history, source);
  detail.append(numbers(one, source));
}

// The rows of the charts of a switch.
function updatesOf(one) {
  const uses = [one.name, ...one.gates].slice(-Math.max(1, one.gates.length));
  return one.gamma.map((gamma, index) => {
    const [worth, error] = [one.worth?.[index] ?? null, one.error?.[index] ?? null];
    const isKnown = worth !== null && error < 100 * Math.max(1, Math.abs(worth));
    return {
      iteration: page.moment.all[index + 1].update, gamma, s: one.s[index], omega: one.omega[index],
      w: one.w[index] ?? [], h: one.h[index] ?? [], use: uses, worth: isKnown ? worth : null,
      low: isKnown ? worth - 1.6449 * error : null, high: isKnown ? worth + 1.6449 * error : null,
      bound: one.bounds?.[Math.min(index, one.bounds.length - 1)] ?? null,
    };
  });
}

async function chart(plot, spec, source) {
  plot.dataset.time = "update";
  page.follow(plot, await page.draw(plot, { ...spec, data: source }, "switch"));
}

// Everything that was recorded, under a fold.
function numbers(one, source) {
  const fold = document.createElement("details");
  const summary = document.createElement("summary");
  const { symbols } = page.data.graph;
  summary.textContent = "All numbers";
  fold.className = "numbers";
  const facts = [["id", one.name], ...search.facts([one]), ["outcome", search.outcome(one)]];
  const when = document.createElement("p");
  when.className = "dim";
  when.textContent = `At ${search.moments[search.moment].label}:`;
  fold.append(summary, when, table(facts.map(([name, text]) => [name, text, symbols[name] ?? ""])));
  fold.addEventListener("toggle", () => {
    const plot = document.createElement("div");
    plot.className = "plot";
    fold.append(plot);
    chart(plot, page.data.numbers, source);
  }, { once: true });
  return fold;
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
  detail.querySelector(".numbers")?.remove();
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

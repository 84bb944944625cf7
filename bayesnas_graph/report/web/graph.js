// Pointer and keyboard in the pictures.

const { panels } = page;

// Open a panel, show a row of its uses, and bring it into view.
page.reveal = (panel, row) => {
  panel.element.open = true;
  panel.choose(row);
  panel.paint();
  panel.element.scrollIntoView({ block: "nearest" });
};

for (const panel of panels) {
  const markAt = (event) => event.target.closest(".candidate, .choice, .vertex");
  panel.picture.addEventListener("pointerover", (event) => {
    const mark = markAt(event);
    if (mark) page.showTip(mark, panel.behind(mark));
    else page.hideTip();
  });
  panel.picture.addEventListener("pointerleave", page.hideTip);
  panel.picture.addEventListener("click", (event) => {
    const mark = markAt(event);
    if (mark) follow(panel, mark);
  });
  panel.picture.addEventListener("keydown", (event) => walk(event, panel));
  panel.picture.addEventListener("blur", () => { page.hideTip(); panel.point(null); });
  panel.select?.addEventListener("change", () => {
    panel.row = Number(panel.select.value);
    page.hideTip();
    panel.paint();
  });
}

// On click or Enter.
function follow(panel, mark) {
  if (mark.dataset.opens !== undefined) enter(panel, mark);
  else if (panel.behind(mark).length) page.openDetail(panel, mark);
}

// Go to the panel of a box, showing the use that it stands for.
function enter(panel, mark) {
  const inner = panels[Number(mark.dataset.opens)];
  const around = panel.rows[Math.max(0, panel.row)]?.uses[0] ?? "";
  const use = [around, mark.dataset.name].filter(Boolean).join(".");
  page.reveal(inner, inner.rows.findIndex(({ uses }) => uses.includes(use)));
  inner.picture.focus({ preventScroll: true });
}

function walk(event, panel) {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity }[event.key];
  const { stops } = panel;
  if (step && stops.length) {
    event.preventDefault();
    const at = stops.indexOf(panel.pointed);
    const next = at < 0 && Number.isFinite(step) ? 0 : at + step;
    const mark = stops[Math.min(stops.length - 1, Math.max(0, next))];
    panel.point(mark);
    mark.scrollIntoView({ block: "nearest", inline: "nearest" });
    page.showTip(mark, panel.behind(mark));
  } else if ((event.key === "Enter" || event.key === " ") && panel.pointed) {
    event.preventDefault();
    follow(panel, panel.pointed);
  } else if (event.key === "Escape") {
    page.hideTip();
    panel.point(null);
  }
}

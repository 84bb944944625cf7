// Charts over time share a cursor: they show the moment of the page and the one under the pointer, and a click in one
// of them moves the slider.

const followed = new Map();  // the view of each chart

page.follow = (plot, view) => {
  if (!page.moment.all.length) return;
  if (!followed.has(plot)) listen(plot);
  followed.set(plot, view);
  mark(plot);
};

function mark(plot) {
  const { all, index, pointed } = page.moment;
  const time = (moment) => all[moment]?.[plot.dataset.time] ?? null;
  followed.get(plot).signal("shown", time(index)).signal("pointed", time(pointed)).runAsync();
  plot.dataset.shown = time(index) ?? "";
  plot.dataset.pointed = time(pointed) ?? "";
}

// What is shown, in words, above every chart over time.
function tell() {
  const { pointed } = page.moment;
  const text = pointed === null ? page.search.summary() : `pointer: ${page.search.summary(pointed)}`;
  for (const output of document.querySelectorAll(".chart .when")) output.textContent = text;
}

page.moment.subscribe(() => {
  for (const plot of followed.keys()) mark(plot);
  tell();
});

function listen(plot) {
  plot.addEventListener("pointermove", (event) => page.moment.point(momentAt(plot, event)));
  plot.addEventListener("pointerleave", () => page.moment.point(null));
  plot.addEventListener("click", (event) => {
    const one = switchAt(plot, event);
    const moment = momentAt(plot, event);
    if (one) page.openHistory(one);
    else if (moment !== null) page.moment.go(moment);
  });
}

// The switch whose name was clicked beside a row of a heat map.
function switchAt(plot, event) {
  const line = event.target.closest(".role-axis-label text")?.__data__?.datum.value;  // Vega keeps the label there
  const row = line === undefined ? null : page.data.charts[plot.dataset.chart]?.spec.data.values.find((one) => one.line === line);
  return row?.name === undefined ? null : page.search.switches.find((one) => one.name === row.name);
}

// The moment at the pointer; null outside the axes.
function momentAt(plot, event) {
  const area = plot.querySelector("svg.marks .background")?.getBoundingClientRect();
  if (!area?.width || event.clientX < area.left || event.clientX > area.right || event.target.closest(".vega-embed details")) return null;
  const time = followed.get(plot).scale("x").invert(event.clientX - area.left);
  return page.moment.nearest(plot.dataset.time, time);
}

// Charts are drawn when they scroll into view, and redrawn when the theme changes.

const { data, dark, onTheme } = window.page;

const MARGIN = 110;  // pixels for axis, title and menu of a chart

page.draw = async (element, spec, name) => {
  const theme = dark() ? data.themes.dark : data.themes.light;
  // Stacked charts cannot fill their container by themselves.
  const continuousWidth = Math.min(theme.view.continuousWidth, Math.max(MARGIN, element.clientWidth - MARGIN));
  await window.vegaEmbed(element, spec, {
    renderer: "svg",
    actions: { export: true, source: false, compiled: false, editor: false },
    config: { ...theme, view: { ...theme.view, continuousWidth } },
    tooltip: { theme: dark() ? "dark" : "light" },
    downloadFileName: name,
  });
  element.querySelector("summary").setAttribute("aria-label", "Save this chart");
};

const plots = [...document.querySelectorAll(".plot[data-chart]")];
const drawn = new Set();

async function show(plot) {
  drawn.add(plot);
  const { spec, title } = data.charts[plot.dataset.chart];
  await page.draw(plot, spec, plot.dataset.chart);
  const picture = plot.querySelector("svg.marks");
  picture.setAttribute("role", "img");
  picture.setAttribute("aria-label", title);
  plot.dataset.drawn = dark() ? "dark" : "light";
}

const watcher = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (isIntersecting && !drawn.has(target)) show(target);
  }
}, { rootMargin: "300px" });
for (const plot of plots) watcher.observe(plot);

onTheme.push(() => { for (const plot of drawn) show(plot); });
addEventListener("beforeprint", () => { for (const plot of plots) if (!drawn.has(plot)) show(plot); });

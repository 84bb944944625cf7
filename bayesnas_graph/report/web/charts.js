// Charts are drawn when they come into view, in the colours of the theme, and again when it changes.

const { data, dark, onTheme } = window.page;

const BESIDE = 110;  // pixels of a chart that its axis, its title and its menu take

page.draw = (element, spec, name) => {
  const theme = dark() ? data.themes.dark : data.themes.light;
  // Charts below one another cannot ask for the room that there is, as single ones do.
  const continuousWidth = Math.min(theme.view.continuousWidth, Math.max(BESIDE, element.clientWidth - BESIDE));
  return window.vegaEmbed(element, spec, {
    renderer: "svg",
    actions: { export: true, source: false, compiled: false, editor: false },
    config: { ...theme, view: { ...theme.view, continuousWidth } },
    tooltip: { theme: dark() ? "dark" : "light" },
    downloadFileName: name,
  });
};

const plots = [...document.querySelectorAll(".plot[data-chart]")];
const drawn = new Set();

async function show(plot) {
  drawn.add(plot);
  const { spec, title } = data.charts[plot.dataset.chart];
  await page.draw(plot, spec, plot.dataset.chart);
  plot.setAttribute("role", "img");
  plot.setAttribute("aria-label", title);
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

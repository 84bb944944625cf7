// Charts are drawn when they scroll into view, and redrawn when the theme changes.

const { data, dark, onTheme } = window.page;

const NARROWEST = 100;  // pixels
const BESIDE = 200;  // pixels beside stacked charts, at most: they must not be too wide even for a moment

// Draw a chart in an element, and return its view.
page.draw = async (element, spec, name) => {
  const theme = dark() ? data.themes.dark : data.themes.light;
  const continuousWidth = Math.max(NARROWEST, element.clientWidth - BESIDE);
  const { view } = await window.vegaEmbed(element, spec, {
    renderer: "svg",
    actions: { export: true, source: false, compiled: false, editor: false },
    config: { ...theme, view: { ...theme.view, continuousWidth } },
    tooltip: { theme: dark() ? "dark" : "light" },
    downloadFileName: name,
  });
  element.querySelector("summary").setAttribute("aria-label", "Save this chart");
  element.querySelector("svg.marks").ariaHidden = "true";  // the caption says what it shows; its marks have no names
  if (spec.vconcat) await fit(element, view);
  return view;
};

// Stacked charts do not fill their container by themselves: axes and titles take room beside the given width. They are
// measured at full width, where no legend is wider than the chart.
async function fit(element, view) {
  const drawing = element.querySelector("svg.marks");
  const room = drawing.parentElement.clientWidth;
  drawing.style.visibility = "hidden";
  await view.width(room).runAsync();
  const beside = drawing.getBoundingClientRect().width - room;
  await view.width(Math.max(NARROWEST, room - beside)).runAsync();
  drawing.style.visibility = "";
}

const plots = [...document.querySelectorAll(".plot[data-chart]")];
const drawn = new Map();  // the width of each drawn chart

async function show(plot) {
  drawn.set(plot, plot.clientWidth);
  const { spec } = data.charts[plot.dataset.chart];
  const view = await page.draw(plot, spec, plot.dataset.chart);
  if (plot.dataset.time) page.follow(plot, view);
  if (spec.vconcat) resized.observe(plot);
  plot.dataset.drawn = dark() ? "dark" : "light";
}

const resized = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.clientWidth && target.clientWidth !== drawn.get(target)) show(target);
  }
});

const watcher = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (isIntersecting && !drawn.has(target)) show(target);
  }
}, { rootMargin: "300px" });
for (const plot of plots) watcher.observe(plot);

onTheme.push(() => { for (const plot of drawn.keys()) show(plot); });
addEventListener("beforeprint", () => { for (const plot of plots) if (!drawn.has(plot) && plot.clientWidth) show(plot); });

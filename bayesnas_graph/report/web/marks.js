// The marks beside the text of the space follow the slider. The page is written with those of its last moment.

const SIGNS = { kept: () => "+", partly: (left, of) => `~ ${left}/${of}`, gone: () => "−" };
const LABELS = { kept: "all left", partly: "partly left", gone: "nothing left" };

const lines = Object.entries(page.data.marks ?? {}).flatMap(([key, changes]) => {
  const every = document.getElementById(key)?.querySelectorAll(".line") ?? [];
  return Object.entries(changes).flatMap(([number, list]) => {
    const line = every[number - 1];
    const mark = line?.querySelector(".mark");
    return mark ? [{ line, mark, changes: list, last: look(line, mark) }] : [];
  });
});

function look(line, mark) {
  return { state: line.className, sign: mark.dataset.mark, label: mark.ariaLabel ?? "", notes: mark.title };
}

function paint({ line, mark, changes, last }) {
  const { index, all } = page.moment;
  const [, state, left, of] = changes.findLast(([from]) => from <= index) ?? changes[0];
  const then = {
    state: `line ${state}`, sign: SIGNS[state](left, of), label: LABELS[state], notes: `${left} of ${of} left, ${all[index].label}`,
  };
  const shown = index === page.moment.last ? last : then;
  line.className = shown.state;
  mark.dataset.mark = shown.sign;
  mark.ariaLabel = shown.label;
  mark.title = shown.notes;
}

if (lines.length) {
  page.moment.subscribe(() => {
    lines.forEach(paint);
    const text = document.getElementById("marks-moment");
    if (text) text.textContent = `Shown: ${page.search.summary()}`;
  });
}

// Pictures of motifs: the switches behind their marks, and their look at an update.

class Panel {
  constructor(known, element) {
    Object.assign(this, known);
    this.element = element;
    this.picture = element.querySelector(".picture");
    this.select = element.querySelector("select");
    this.row = known.rows.length > 1 ? -1 : 0;  // row of uses shown; -1 for all together
    this.column = new Map(known.gates.map((gate, index) => [gate, index]));
    this.marks = [...element.querySelectorAll(".candidate, .choice")].filter(gateOf);
    this.stops = [...element.querySelectorAll(".candidate, .choice, .vertex[data-opens]")].filter(
      (mark) => gateOf(mark) || mark.dataset.opens !== undefined);  // for the keyboard
    this.pointed = null;
    for (const title of element.querySelectorAll("title")) {  // replaced by our own tooltips
      title.parentNode.dataset.hint = title.textContent;
      title.remove();
    }
  }

  // The switches behind a mark: one, or one for each use shown.
  behind(mark) {
    const index = this.column.get(gateOf(mark));
    const rows = this.row < 0 ? this.rows : this.rows.slice(this.row, this.row + 1);
    const numbers = new Set(rows.map((row) => row.switches[index] ?? -1).filter((number) => number >= 0));
    return [...numbers].map((number) => page.search.switches[number]);
  }

  // Show a row of uses, if there are several.
  choose(row) {
    if (!this.select || row < 0) return;
    this.row = row;
    this.select.value = row;
  }

  paint() {
    const { search } = page;
    const closed = new Set();  // gates that are closed in all uses
    for (const mark of this.marks) {
      const own = this.behind(mark);
      const strength = own.reduce((total, one) => total + search.strength(one), 0) / (own.length || 1);
      const isClosed = own.length > 0 && !own.some((one) => search.isOpen(one));
      if (isClosed) closed.add(gateOf(mark));
      mark.style.setProperty("--strength", own.length ? strength.toFixed(3) : 1);
      mark.classList.toggle("closed", isClosed);
    }
    const alive = this.alive(closed);
    for (const vertex of this.element.querySelectorAll(".vertex, .choice")) {
      vertex.classList.toggle("dead", !alive.has(Number(vertex.dataset.key)));
    }
    for (const wire of this.element.querySelectorAll("[data-from]")) {
      const ends = wire.dataset.to.split(" ").map(Number);
      const leadsOn = alive.has(Number(wire.dataset.from)) && ends.some((end) => alive.has(end));
      wire.classList.toggle("dead", !leadsOn);
    }
  }

  // The boxes and choices on a path from an input to an output.
  alive(closed) {
    const shut = this.choices.filter(({ gates }) => gates.every((gate) => closed.has(gate))).map(({ key }) => key);
    const wires = this.wires.filter((ends) => !ends.some((end) => shut.includes(end)));
    const ends = (kind) => Object.keys(this.ends).filter((key) => this.ends[key] === kind).map(Number);
    const forward = reached(ends("input"), wires);
    const backward = reached(ends("output"), wires.map(([from, to]) => [to, from]));
    return new Set([...forward].filter((key) => backward.has(key)));
  }

  // Highlight one mark, for keyboard users.
  point(mark) {
    this.pointed?.classList.remove("pointed");
    mark?.classList.add("pointed");
    this.pointed = mark;
  }
}

function reached(starts, wires) {
  const next = new Map();
  for (const [from, to] of wires) next.set(from, [...(next.get(from) ?? []), to]);
  const seen = new Set(starts);
  for (const key of seen) for (const other of next.get(key) ?? []) seen.add(other);  // the loop visits added keys, too
  return seen;
}

function gateOf(mark) {
  return mark.dataset.gate ?? mark.dataset.zero;
}

page.gateOf = gateOf;
page.panels = (page.data.graph?.panels ?? []).map((known, number) =>
  new Panel(known, document.querySelector(`details.panel[data-panel="${number}"]`)));

// The state of a search at an update: which switches are open, and their numbers.

const THRESHOLD = 1 / (2 * Math.PI * Math.E);  // a switch is closed when its gamma is not above this: its entropy is 0

class Search {
  constructor({ moments, switches, lines, measure, evidence, metric = "accuracy" }) {
    this.moments = moments;
    this.metric = metric;
    this.evidence = evidence;  // what the strategy measures: worth, prior, factor or strength
    this.isBayesian = measure === "gamma";  // other strategies have a strength instead, and no prior
    this.lines = lines;  // of source text, by place
    this.switches = switches;
    this.last = moments.length - 1;
    this.ended = moments[this.last].label === "derived";
    this.largest = this.isBayesian ? 2 * THRESHOLD : 0;
    const compared = switches.filter(({ name }) => this.isBayesian || !name.endsWith(".zero"));  // others' zeros sum up
    for (const one of compared) for (const gamma of one.gamma) if (gamma > this.largest) this.largest = gamma;
  }

  get moment() {
    return page.moment.index;
  }

  set moment(index) {
    page.moment.show(index);
  }

  get isDerived() {
    return this.ended && this.moment === this.last;
  }

  isOpen(one, moment = this.moment) {
    if (this.ended && moment === this.last) return one.kept !== false;
    return one.closed === null || moment < one.closed;
  }

  // From 0 for a closed switch to 1 for the largest gamma of the search.
  strength(one) {
    if (!this.isOpen(one)) return 0;
    const gamma = this.value(one, "gamma");
    if (this.isDerived || gamma === null) return 1;  // the derived network has no gates
    const part = this.isBayesian ? Math.log(gamma / THRESHOLD) / Math.log(this.largest / THRESHOLD) : gamma / this.largest;
    return Math.min(1, Math.max(0.15, part));
  }

  // A number of a switch at this update; a closed switch keeps its last one.
  value(one, key) {
    return this.moment === 0 ? null : one[key][Math.min(this.moment, one.gamma.length) - 1] ?? null;
  }

  // ---- as text

  // Facts about the switches at one place, as pairs of texts.
  facts(own) {
    const at = (key) => own.map((one) => this.value(one, key));
    const uses = sum(own.map((one) => Math.max(1, one.gates.length)));
    const open = own.filter((one) => this.isOpen(one)).length;
    const places = [...new Set(own.map((one) => one.place))].filter(Boolean);
    return [
      ["state", own.length === 1 ? this.state(own[0]) : `${open} of ${own.length} open`],
      ...(this.isBayesian ? this.prior(at) : [["strength", several(at("gamma"))], ["w", several(at("w"))]]),
      ["parameters", `${count(sum(own.map((one) => one.parameters)))}${uses > 1 ? ` in ${uses} uses` : ""}`],
      ["source", places.join(", ") || "–"],
      ["line", places.map((place) => this.lines[place]).join("\n") || "–"],
    ];
  }

  prior(at) {
    return [
      ...(this.evidence === "worth" ? [["worth", several(at("worth"))]] : []),
      ["gamma", several(at("gamma"))],
      ["s", several(at("s"))],
      ["omega", several(at("omega"))],
      ["entropy", several(at("gamma").map(entropy))],
      ["w", several(at("w"))],
      ["h", several(at("h"))],
    ];
  }

  state(one) {
    if (this.isDerived) return this.outcome(one);
    return this.isOpen(one) ? "open" : `closed at update ${one.closed}: ${one.why}`;
  }

  outcome(one) {
    if (one.kept !== null) return withReason(one.kept ? "kept" : "removed", one.reason);
    return one.closed === null ? "open so far" : `closed at update ${one.closed}: ${one.why}`;
  }

  summary(moment = this.moment) {
    const { label, parameters, flops, lambda, accuracy } = this.moments[moment];
    const open = this.switches.filter((one) => this.isOpen(one, moment)).length;
    const parts = [label, `${count(open)} of ${count(this.switches.length)} switches open`];
    if (parameters !== undefined) parts.push(`${count(parameters)} parameters`);
    if (flops !== undefined) parts.push(`${count(flops)} multiply-adds`);
    if (lambda !== undefined && this.isBayesian) parts.push(`lambda ${lambda}`);
    if (accuracy !== undefined) parts.push(`${this.isDerived ? "test" : "held-out"} ${this.metric} ${accuracy}`);
    return parts.join(" · ");
  }
}

const withReason = (state, why) => (why && why !== state ? `${state}: ${why}` : state);
const sum = (values) => values.reduce((total, value) => total + value, 0);
const count = (number) => number.toLocaleString("en");
const number = (value) => (value === 0 ? "0" : String(Number(value.toPrecision(3))));

// Entropy of the prior, a normal distribution with variance gamma.
const entropy = (gamma) => (gamma ? Math.log(gamma / THRESHOLD) / 2 : null);

function several(values) {
  const known = values.flat().filter((value) => value !== null && value !== undefined);
  if (!known.length) return "–";
  if (known.length <= 4) return known.map(number).join(", ");
  return `${number(sum(known) / known.length)} on average, ${number(Math.min(...known))} to ${number(Math.max(...known))}`;
}

if (page.data.graph) page.search = new Search(page.data.graph);
page.count = count;

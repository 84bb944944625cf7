// The moment of a search that the page shows: before its first update, after an update, or the derived network.
// Everything that depends on it subscribes. `pointed` is a moment that the pointer is on in some chart, or null.

const moments = page.data.graph?.moments ?? [];
const watchers = [];
const tell = () => { for (const watcher of watchers) watcher(); };

page.moment = {
  all: moments,
  last: moments.length - 1,
  index: moments.length - 1,
  pointed: null,

  subscribe(watcher) { watchers.push(watcher); },

  show(index) {
    this.index = index;
    tell();
  },

  point(index) {
    if (index === this.pointed) return;
    this.pointed = index;
    tell();
  },

  // As if the slider had been moved there.
  go(index) {
    const slider = document.getElementById("moment");
    if (!slider) return;
    slider.value = index;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
  },

  // The moment nearest to a time; null if none has one. `key` says what counts time: "step" or "update".
  nearest(key, time) {
    const known = moments.map((_, index) => index).filter((index) => Number.isFinite(moments[index][key]));
    const distance = (index) => Math.abs(moments[index][key] - time);
    return known.length ? known.reduce((best, index) => (distance(index) < distance(best) ? index : best)) : null;
  },
};

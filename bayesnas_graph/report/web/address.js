// Links: the address names the update and the switch shown, as in `#update=6&switch=block:h.2.entry.sep_conv`.

const { search } = page;
const PAUSE = 200;  // milliseconds: browsers limit how often an address may change
let timer = null;

// Write what is shown into the address, unless it is what everybody sees first.
page.remember = () => {
  clearTimeout(timer);
  timer = setTimeout(() => {
    const words = [];
    if (!search.isDerived) words.push(`update=${search.moments[search.moment].name}`);
    if (page.opened) words.push(`switch=${encodeURIComponent(page.opened.name).replaceAll("%3A", ":")}`);
    history.replaceState(null, "", words.length ? `#${words.join("&")}` : location.href.split("#")[0]);
  }, PAUSE);
};

function follow() {
  const words = new URLSearchParams(location.hash.slice(1));
  if (!words.has("update") && !words.has("switch")) return pin(location.hash.slice(1));
  page.pause();
  const moment = search.moments.findIndex(({ name }) => name === words.get("update"));
  page.moment.show(moment < 0 ? search.last : moment);
  const name = words.get("switch");
  const one = search.switches.find((other) => other.name === name)
    ?? search.switches.find((other) => name && other.name.endsWith(`:${name}`));  // without its cell
  if (one) page.openSwitch(one);
}

// ---- sections: charts above are drawn late and may be higher than expected, so stay at a section until the user moves

let pinned = null;

function pin(key) {
  pinned = document.getElementById(key);
  pinned?.scrollIntoView();
}

new ResizeObserver(() => pinned?.scrollIntoView()).observe(document.getElementById("content"));
for (const kind of ["pointerdown", "keydown", "wheel", "touchmove"]) {
  addEventListener(kind, () => { pinned = null; }, { capture: true, passive: true });
}
document.querySelector("nav").addEventListener("click", ({ target }) => {
  if (target.hash) setTimeout(() => pin(target.hash.slice(1)));  // also if the address is the same as before
});

addEventListener("hashchange", follow);
if (location.hash) follow();

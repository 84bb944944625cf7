// The slider over the updates: moved by hand, played, and played once when the page is opened.

const { search, panels } = page;
const slider = document.getElementById("moment");
const play = document.getElementById("play");
const STEP = 450;  // milliseconds for each update
const LONGEST = { once: 5000, again: 20000 };  // milliseconds for a whole search

let frame = null;  // of the animation that is playing
let isOnce = false;  // whether it has started by itself
let shown = null;

page.moment.subscribe(() => {
  if (!slider || page.moment.index === shown) return;
  shown = page.moment.index;
  slider.value = shown;
  document.getElementById("moment-text").textContent = search.summary();
  slider.setAttribute("aria-valuetext", search.moments[shown].label);
  page.hideTip();
  for (const panel of panels) panel.paint();
});

// End what is playing, if anything is.
page.pause = () => {
  if (frame === null) return;
  cancelAnimationFrame(frame);
  frame = null;
  isOnce = false;
  play.textContent = "▶";
  play.setAttribute("aria-label", "Play the search from its start");
};

function start(from, longest) {
  const steps = search.last - from;
  const duration = Math.min(longest, STEP * steps);
  let begun = null;
  play.textContent = "❚❚";
  play.setAttribute("aria-label", "Pause");
  page.moment.show(from);
  frame = requestAnimationFrame(function next(now) {  // the browser waits with this while the page is hidden
    begun ??= now;
    const moment = from + Math.min(steps, Math.floor(steps * (now - begun) / duration));
    if (moment !== search.moment) page.moment.show(moment);
    if (moment < search.last) frame = requestAnimationFrame(next);
    else page.pause();
  });
}

function playOnce() {
  start(0, LONGEST.once);
  isOnce = true;
  const settle = ({ target }) => {
    if (!isOnce || target === play) return;  // a click on the button pauses
    page.pause();
    page.moment.show(search.last);
  };
  for (const kind of ["pointerdown", "keydown", "wheel", "touchstart", "beforeprint", "hashchange"]) {
    addEventListener(kind, settle, { capture: true, passive: true });
  }
  for (const { picture } of panels) {
    picture.addEventListener("pointermove", (event) => { if (event.movementX || event.movementY) settle(event); });
  }
}

if (slider) {  // missing for a network without switches
  slider.addEventListener("input", () => {
    page.pause();
    page.moment.show(Number(slider.value));
    page.remember();
  });
  play.addEventListener("click", () => {
    if (frame === null) return start(search.moment === search.last ? 0 : search.moment, LONGEST.again);
    page.pause();
    page.remember();
  });
  page.moment.show(search.last);
  if (search.last > 0 && !location.hash && !matchMedia("(prefers-reduced-motion: reduce)").matches) playOnce();
}

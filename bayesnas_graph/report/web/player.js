// The slider over the updates: moved by hand, played, and played once when the page is opened.

const { search, panels } = page;
const slider = document.getElementById("moment");
const play = document.getElementById("play");
const STEP = 450;  // milliseconds for each update
const LONGEST = { once: 5000, again: 20000 };  // milliseconds for a whole search

let frame = null;  // of the animation that is playing
let isOnce = false;  // whether it has started by itself

// Show an update: 0 is before the search, the last one what was derived.
page.show = (moment) => {
  search.moment = moment;
  slider.value = moment;
  document.getElementById("moment-text").textContent = search.summary();
  slider.setAttribute("aria-valuetext", search.moments[moment].label);
  page.hideTip();
  for (const panel of panels) panel.paint();
  for (const change of page.onMoment) change();
};

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
  page.show(from);
  frame = requestAnimationFrame(function next(now) {  // the browser waits with this while the page is hidden
    begun ??= now;
    const moment = from + Math.min(steps, Math.floor(steps * (now - begun) / duration));
    if (moment !== search.moment) page.show(moment);
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
    page.show(search.last);
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
    page.show(Number(slider.value));
    page.remember();
  });
  play.addEventListener("click", () => {
    if (frame === null) return start(search.moment === search.last ? 0 : search.moment, LONGEST.again);
    page.pause();
    page.remember();
  });
  page.show(search.last);
  if (search.last > 0 && !location.hash && !matchMedia("(prefers-reduced-motion: reduce)").matches) playOnce();
}

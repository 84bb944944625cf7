// Runs before anything is drawn, so that a dark page never flashes white.
{
  const saved = (() => { try { return localStorage.getItem("bayesnas-graph-theme"); } catch { return null; } })();
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = saved === "dark" || saved === "light" ? saved : dark ? "dark" : "light";
}

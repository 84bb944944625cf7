// Before anything is drawn, so that a dark page never flashes white.
{
  const kept = (() => { try { return localStorage.getItem("bayesnas-graph-theme"); } catch { return null; } })();
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = kept === "dark" || kept === "light" ? kept : dark ? "dark" : "light";
}

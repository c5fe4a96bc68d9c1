// Runs before the page is painted, so that a chosen theme does not flash. A classic script: modules run too late.
try {
  const chosen = localStorage.getItem("evenhand-theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // Storage may be switched off; the system's theme is then kept.
}

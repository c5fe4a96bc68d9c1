// Sets the theme before the first paint. A classic script: modules run too late.
try {
  const chosen = localStorage.getItem("evenhand-theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // Storage is disabled: the system's theme stays.
}

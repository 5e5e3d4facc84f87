// Shows a project's colour while it is being chosen; its contrast is told by the server.
const bar = document.getElementById("hue");

if (bar) {
  const show = () => {
    document.getElementById("hue-number").textContent = bar.value;
    for (const place of [bar, ...document.querySelectorAll(".swatch")])
      place.style.setProperty("--accent-h", bar.value);
  };
  bar.addEventListener("input", show);
  show(); // the browser may have kept what was chosen before a reload
}

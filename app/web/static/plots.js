// Draws what the server has decided: one figure, two templates, fewer ticks on a narrow screen. Every text arrives finished.
"use strict";
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const narrow = matchMedia("(max-width: 640px)");
  let library = null;

  const setup = () => JSON.parse(document.getElementById("plot-setup").textContent);
  const theme = () => document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light");
  // A page saved as a file has the library in it.
  const load = ({ src, styles }) => (library ??= window.Plotly ? Promise.resolve() : new Promise((resolve, reject) => {
    // plotly.js adds no style element where one of that id stands; the policy of the page forbids inline style.
    styles.forEach((id) => document.head.append(Object.assign(document.createElement("template"), { id })));
    const script = document.createElement("script");
    script.src = src;
    script.onload = resolve;
    script.onerror = reject;
    document.head.append(script);
  }));
  const merge = (into, over) => {
    const out = { ...into };
    for (const [key, value] of Object.entries(over)) {
      const both = [out[key], value].every((item) => item && typeof item === "object" && !Array.isArray(item));
      out[key] = both ? merge(out[key], value) : value;
    }
    return out;
  };
  const layout = (plot, name) => ({ ...merge(plot.layout, narrow.matches ? plot.narrow : {}), template: setup().templates[name] });
  const read = (canvas) => JSON.parse(document.getElementById(canvas.dataset.figure).textContent);
  const options = { responsive: true, displaylogo: false, displayModeBar: false };

  const paint = (canvas, name) => {
    const plot = read(canvas);
    return Plotly.react(canvas, plot.data, layout(plot, name), options).then(() => {
      canvas.dataset.drawn = name;
      canvas.closest("figure")?.querySelector("[data-svg]")?.removeAttribute("hidden");
    });
  };
  const all = () => [...document.querySelectorAll(".canvas[data-figure]")];
  const repaint = (name = theme()) => { if (window.Plotly) all().forEach((canvas) => paint(canvas, name)); };
  const start = () => {
    const fresh = all().filter((canvas) => !canvas.dataset.drawn);
    if (fresh.length === 0 || !document.getElementById("plot-setup")) return;
    load(setup()).then(() => document.fonts.ready).then(() => fresh.forEach((canvas) => paint(canvas, theme())));
  };

  // A picture is saved on white paper, as large as it is seen.
  const save = (button) => {
    const canvas = button.closest("figure").querySelector(".canvas[data-figure]");
    const plot = read(canvas);
    const { width, height } = canvas.getBoundingClientRect();
    const paper = { ...layout(plot, "light"), paper_bgcolor: "#ffffff", width, height };
    Plotly.downloadImage({ data: plot.data, layout: paper }, { format: "svg", filename: `bezmen-${button.dataset.svg}`, width, height });
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("[data-svg]");
    if (button) save(button);
  });
  document.addEventListener("DOMContentLoaded", start);
  document.addEventListener("htmx:load", start);
  dark.addEventListener("change", () => repaint());
  narrow.addEventListener("change", () => repaint());
  addEventListener("beforeprint", () => repaint("light"));
  addEventListener("afterprint", () => repaint());
})();

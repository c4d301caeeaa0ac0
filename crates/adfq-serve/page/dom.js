// Small helpers: elements, numbers, and the theme. No page of its own.

/** An element with attributes, listeners (`onclick`) and children. Texts are never parsed as HTML. */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same for SVG. */
export function s(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "disabled") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** A number for people: four digits that count. */
export function short(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e7)) return value.toExponential(2).replace("-", "−");
  const digits = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 1 ? 2 : 4;
  const text = value.toLocaleString("en", { maximumFractionDigits: digits });
  return text.replace("-", "−");
}

/** A count for people: 12,345. */
export function count(value) {
  return value.toLocaleString("en");
}

/** A count in few characters: 12.3k. */
export function brief(value) {
  for (const [size, letter] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (Math.abs(value) >= size) return `${Number((value / size).toPrecision(3))}${letter}`;
  }
  return `${Number(value.toPrecision(3))}`;
}

/** Offers a file for download. */
export function download(name, type, content) {
  const blob = content instanceof Blob ? content : new Blob([content], { type });
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Okabe and Ito's colours, which stay apart for colour-blind eyes; lighter on dark. */
const LIGHT = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#1a1a1a", "#b3a100"];
const DARK = ["#4aa8e0", "#f0803c", "#2fc79a", "#e09cc4", "#f2b632", "#8fd0f5", "#e6e6e6", "#e0d040"];

export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

export function color(index) {
  const palette = isDark() ? DARK : LIGHT;
  return palette[index % palette.length];
}

/** A colour of the style sheet. */
export function themed(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** A labelled control. */
export function field(label, control) {
  return h("label", { class: "field" }, h("span", {}, label), control);
}

/** A select whose options are [value, text]. */
export function select(options, value, onchange, attributes = {}) {
  const element = h("select", { ...attributes, onchange: () => onchange(element.value) },
    options.map(([key, text]) => h("option", { value: key }, text)));
  element.value = value;
  return element;
}

/** Calls `work` at most once a frame. */
export function eachFrame(work) {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      work();
    });
  };
}

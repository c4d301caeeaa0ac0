// The ADFQ update by hand. The server computes it with the crate `adfq`; nothing is computed here but the pictures.

import { get, post } from "./api.js";
import { color, field, h, s, select, themed } from "./dom.js";
import { note, place } from "./store.js";

const MOST = 18;
const [LEFT, TOP] = [8, 16];

export function explorerView(main) {
  const start = { prior: { mean: 0, var: 1 }, reward: 0, discount: 0.9, noise: 0,
    next: [{ mean: -2, var: 2 }, { mean: -2, var: 0.5 }, { mean: 4.5, var: 0.5 }], terminal_var: 1e-3, count: 1, expected_noise: 1 };
  let question = read() ?? start;
  let answer = null;
  let frame = null;
  let [busy, again] = [false, false];
  let drag = null;
  let width = 860;
  let over = false;

  const controls = h("div", { class: "card controls" });
  const picture = s("svg", { role: "img", "aria-label": "Densities of prior, targets and posteriors" });
  const key = h("div", { class: "legend" });
  const results = h("div", { class: "card scroll results" });
  const said = h("p", { class: "bad", role: "status" });
  const log = h("input", { type: "checkbox", onchange: draw });
  main.append(h("h1", {}, "Explorer"),
    h("p", { class: "quiet" }, "One update of the belief over Q(s,a). Drag a curve to move a belief, a square to widen it."),
    h("div", { class: "explorer" }, controls,
      h("div", {}, h("div", { class: "card figure" }, picture, key, h("label", { class: "field inline" }, log, "logarithmic density")), said, results)));

  /** The question in the address: numbers in their order, next beliefs last. */
  function write() {
    const { prior, reward, discount, noise, next, terminal_var, count, expected_noise } = question;
    note({ u: [prior.mean, prior.var, reward, discount, noise, terminal_var, count, expected_noise,
      ...next.flatMap(({ mean, var: v }) => [mean, v])].map((value) => Number(value.toPrecision(12))).join(",") });
  }
  function read() {
    const numbers = (place().query.get("u") ?? "").split(",").map(Number);
    if (numbers.length < 8 || numbers.length % 2 || numbers.length > 8 + 2 * MOST || !numbers.every(Number.isFinite)) return null;
    const [mean, v, reward, discount, noise, terminal_var, count, expected_noise, ...rest] = numbers;
    const next = Array.from({ length: rest.length / 2 }, (_, i) => ({ mean: rest[2 * i], var: rest[2 * i + 1] }));
    return { prior: { mean, var: v }, reward, discount, noise, next, terminal_var, count, expected_noise };
  }

  function changed(rebuild = false) {
    write();
    if (rebuild) build();
    ask();
  }

  /** Asks the server; while it answers, only the newest question waits. */
  async function ask() {
    if (busy) {
      again = true;
      return;
    }
    busy = true;
    try {
      answer = await post("/api/update", question);
      said.textContent = "";
      if (!over) {
        draw();
        tell();
      }
    } catch (error) {
      said.textContent = error.message;
    }
    busy = false;
    if (again && !over) {
      again = false;
      ask();
    }
  }

  // Controls.

  const written = [];
  /** A slider with a box for the exact number. */
  function slider(label, read, write, { min, max, step, log: isLog }) {
    const [to, from] = isLog ? [Math.log10, (x) => 10 ** x] : [(x) => x, (x) => x];
    const bar = h("input", { type: "range", min: to(min), max: to(max), step: isLog ? 0.01 : step, "aria-label": label, oninput: () => {
      write(Number(from(Number(bar.value)).toPrecision(6)));
      box.value = read();
      changed();
    } });
    const box = h("input", { type: "number", step: "any", "aria-label": `${label}, exactly`, onchange: () => {
      const value = Number(box.value);
      if (box.value !== "" && Number.isFinite(value)) write(value);
      bar.value = to(Math.max(read(), isLog ? min : -Infinity));
      changed();
    } });
    const show = () => {
      box.value = read();
      bar.value = to(isLog ? Math.max(read(), min) : read());
    };
    show();
    written.push(show);
    return h("div", { class: "slider" }, h("span", {}, label), bar, box);
  }

  const means = { min: -10, max: 10, step: 0.05 };
  const variances = { min: 1e-4, max: 1e3, log: true };
  const moments = (belief) => [
    slider("mean", () => belief.mean, (value) => { belief.mean = value; }, means),
    slider("variance", () => belief.var, (value) => { belief.var = value; }, variances),
  ];

  let presets = [];
  function build() {
    written.length = 0;
    const remove = (i) => h("button", { type: "button", "aria-label": `Remove next action ${i + 1}`, onclick: () => {
      question.next.splice(i, 1);
      changed(true);
    } }, "×");
    const swatch = (i) => {
      const mark = h("i", { "aria-hidden": "true" });
      mark.style.color = targetColor(i);
      mark.style.cssText += "width:10px;height:10px;border-radius:3px;background:currentColor;display:inline-block";
      return mark;
    };
    const add = h("button", { type: "button", disabled: question.next.length >= MOST, onclick: () => {
      question.next.push({ mean: 0, var: 1 });
      changed(true);
    } }, "Add a next action");
    const ended = h("p", { class: "quiet small" }, "Without next actions the episode has ended: the target is the reward.");
    controls.replaceChildren(
      field("Preset", select([["", "the paper's figures …"], ...presets.map(({ name }, i) => [`${i}`, name])], "", (value) => {
        if (value === "") return;
        question = structuredClone(presets[Number(value)].question);
        changed(true);
      }, { "aria-label": "Preset" })),
      h("fieldset", {}, h("legend", {}, "Prior over Q(s,a)"), moments(question.prior)),
      h("fieldset", {}, h("legend", {}, "Transition"),
        slider("reward", () => question.reward, (value) => { question.reward = value; }, means),
        slider("discount", () => question.discount, (value) => { question.discount = value; }, { min: 0, max: 1, step: 0.01 }),
        slider("noise var", () => question.noise, (value) => { question.noise = value; }, { min: 0, max: 5, step: 0.01 })),
      ...question.next.map((belief, i) =>
        h("fieldset", {}, h("legend", {}, swatch(i), `Q(s′, b${i + 1})`, remove(i)), moments(belief))),
      ...(question.next.length ? [] : [ended]),
      h("fieldset", {}, add),
      h("fieldset", {}, h("legend", {}, "Split ADFQ"),
        slider("visits", () => question.count, (value) => { question.count = value; }, { min: 1, max: 100, step: 1 }),
        slider("noise w̄", () => question.expected_noise, (value) => { question.expected_noise = value; }, { min: 0, max: 10, step: 0.1 })));
  }

  // The picture.

  function targetColor(i) {
    return color([4, 5, 3, 7][i % 4]);
  }

  function curvesOf() {
    const targets = answer.targets.map((target, i) => ({ name: question.next.length ? `target ${i + 1}` : "target",
      y: target.density, color: targetColor(i), width: 1.3 }));
    return [
      { name: "prior", y: answer.prior, color: color(2), width: 1.8 },
      ...targets,
      { name: "exact posterior", y: answer.exact.density, color: color(0), width: 2.2, fill: true },
      { name: "ADFQ (paper)", y: answer.analytic.density, color: color(1), width: 2, dash: "7 4" },
      { name: "Split ADFQ", y: answer.split.density, color: color(6), width: 1.6, dash: "2 3" },
    ];
  }

  function draw() {
    if (!answer) return;
    const curves = curvesOf();
    // While a curve is dragged the frame stays, so that it moves and not the axis.
    if (!drag || !frame) {
      const heights = curves.map((curve) => Math.max(...curve.y)).sort((a, b) => a - b);
      // One needle should not press everything else flat.
      const top = Math.min(heights.at(-1), Math.max(8 * heights[Math.floor(heights.length / 2)], 1e-12));
      frame = { low: answer.q[0], high: answer.q.at(-1), top: top * 1.06 };
    }
    const { low, high, top } = frame;
    // A unit of the picture is a pixel, so that texts have their size on every screen.
    width = Math.max(picture.parentElement.clientWidth - 34, 280);
    const height = Math.min(430, Math.max(280, width * 0.55));
    const BASE = height - 36;
    picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const x = (q) => LEFT + ((q - low) / (high - low)) * (width - 2 * LEFT);
    const floor = top * 1e-8;
    const y = log.checked
      ? (p) => BASE - (Math.log(Math.max(p, floor) / floor) / Math.log(top / floor)) * (BASE - TOP)
      : (p) => BASE - Math.min(p / top, 1.02) * (BASE - TOP);
    const parts = [];
    for (const at of ticks(low, high, width / 100)) {
      parts.push(s("line", { x1: x(at), x2: x(at), y1: TOP, y2: BASE, stroke: "var(--grid)" }),
        s("text", { x: x(at), y: BASE + 18, "text-anchor": "middle" }, `${Number(at.toPrecision(6))}`.replace("-", "−")));
    }
    parts.push(s("line", { x1: 0, x2: width, y1: BASE, y2: BASE, stroke: "var(--line)" }),
      s("text", { x: width - 10, y: height - 3, "text-anchor": "end" }, "value of Q(s,a)"));
    for (const curve of curves) {
      const d = curve.y.map((p, i) => `${i ? "L" : "M"}${x(answer.q[i]).toFixed(1)},${y(p).toFixed(1)}`).join("");
      if (curve.fill) parts.push(s("path", { d: `${d}L${x(answer.q.at(-1))},${BASE}L${x(answer.q[0])},${BASE}Z`, fill: curve.color, "fill-opacity": 0.15 }));
      parts.push(s("path", { d, fill: "none", stroke: curve.color, "stroke-width": curve.width, "stroke-dasharray": curve.dash }));
    }
    parts.push(...handles(x, y));
    picture.replaceChildren(...parts);
    key.replaceChildren(...curves.map((curve) => {
      const mark = h("i", { "aria-hidden": "true" });
      mark.style.color = curve.color;
      return h("button", { type: "button", disabled: false, tabindex: -1 }, mark, curve.name);
    }));
  }

  /** Where a pointer is on the axis of Q(s,a). */
  function valueAt(event) {
    const box = picture.getBoundingClientRect();
    const share = ((event.clientX - box.left) / box.width) * width;
    return frame.low + ((share - LEFT) / (width - 2 * LEFT)) * (frame.high - frame.low);
  }

  /** A curve moves its belief, and so does the dot at its peak; a square at one standard deviation widens it. */
  function handles(x, y) {
    const { reward, discount } = question;
    const owners = [{ belief: question.prior, of: (q) => q, scale: 1, color: color(2), name: "prior" },
      ...question.next.map((belief, i) => ({ belief, of: (q) => reward + discount * q, scale: discount, color: targetColor(i), name: `target ${i + 1}` }))];
    const made = owners.filter(({ scale }) => scale > 1e-3).map((owner) => {
      const [mean, sd] = [owner.of(owner.belief.mean), owner.scale * Math.sqrt(owner.belief.var)];
      const peak = 1 / (sd * Math.sqrt(2 * Math.PI));
      const grab = (kind) => (event) => {
        event.preventDefault();
        picture.setPointerCapture(event.pointerId);
        // What is grabbed stays under the pointer.
        drag = { owner, kind, off: valueAt(event) - (kind === "mean" ? mean : mean + sd) };
      };
      const places = Array.from({ length: 61 }, (_, i) => (i - 30) / 10);
      const d = places.map((z, i) => `${i ? "L" : "M"}${x(mean + z * sd).toFixed(1)},${y(peak * Math.exp(-0.5 * z * z)).toFixed(1)}`).join("");
      const curve = s("path", { d, fill: "none", stroke: "transparent", "stroke-width": 14, class: "handle", onpointerdown: grab("mean") },
        s("title", {}, `Drag to move ${owner.name}`));
      const dot = s("circle", { cx: x(mean), cy: y(peak), r: 7, fill: owner.color, stroke: themed("--card"), "stroke-width": 2, class: "handle",
        "data-handle": owner.name, onpointerdown: grab("mean") }, s("title", {}, `Drag to move ${owner.name}`));
      const square = s("rect", { x: x(mean + sd) - 5, y: y(peak * Math.exp(-0.5)) - 5, width: 10, height: 10, rx: 2, fill: owner.color,
        stroke: themed("--card"), "stroke-width": 2, class: "handle", onpointerdown: grab("var") }, s("title", {}, `Drag to widen ${owner.name}`));
      return [curve, dot, square];
    });
    // No curve lies over a dot.
    return [...made.map(([curve]) => curve), ...made.flatMap(([, ...grips]) => grips)];
  }

  picture.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const q = valueAt(event) - drag.off;
    const { belief, scale, of } = drag.owner;
    if (drag.kind === "mean") belief.mean = Number(((q - of(0)) / scale).toPrecision(6));
    else belief.var = Number(Math.max(((q - of(belief.mean)) / scale) ** 2, 1e-6).toPrecision(6));
    written.forEach((show) => show());
    changed();
  });
  const drop = () => {
    if (!drag) return;
    drag = null;
    frame = null;
    draw();
  };
  picture.addEventListener("pointerup", drop);
  picture.addEventListener("pointercancel", drop);

  // The numbers.

  function tell() {
    const digits = (value) => `${Number(value.toPrecision(12))}`.replace("-", "−");
    const row = (name, { mean, var: v }, more = "") =>
      h("tr", { "data-rule": name }, h("th", { scope: "row" }, name), h("td", { "data-value": mean }, digits(mean)), h("td", { "data-value": v }, digits(v)),
        h("td", { class: "extra" }, digits(Math.sqrt(v))), h("td", { class: "quiet small extra" }, more));
    const percent = (share) => `${(100 * share).toFixed(2)} %`;
    const parts = answer.exact.components.map((exact, b) => {
      const paper = answer.analytic.components[b] ?? exact;
      return h("tr", {}, h("th", { scope: "row" }, question.next.length ? `b${b + 1}` : "end"), h("td", {}, `${short6(exact.mean)} ± ${short6(Math.sqrt(exact.var))}`),
        h("td", { class: "percent" }, percent(exact.weight)), h("td", {}, `${short6(paper.mean)} ± ${short6(Math.sqrt(paper.var))}`), h("td", { class: "percent" }, percent(paper.weight)));
    });
    const head = (...names) => h("thead", {}, h("tr", {}, names.map((name) => h("th", { scope: "col", class: name === "σ" || name === " " ? "extra" : null }, name))));
    results.replaceChildren(
      h("table", {}, head("", "Mean", "Variance", "σ", " "), h("tbody", {},
        row("Prior", question.prior), row("Exact", answer.exact, "true moments"), row("ADFQ", answer.analytic, "the paper's closed form"),
        row("Split", answer.split, `own ${short6(answer.split.own)}, inherited ${short6(answer.split.inherited)}`))),
      h("p", {}, `ADFQ's mean is ${short6(Math.abs(answer.error.mean_in_sd))} exact σ ${answer.error.mean_in_sd < 0 ? "too low" : "too high"}, its σ is ` +
        `${short6(answer.error.sd_ratio)} of the exact one, and ${percent(answer.error.total_variation)} of the probability lies elsewhere (total variation).`),
      h("h2", {}, "Components"),
      h("table", {}, head("", "Exact term", "mass", "ADFQ: μ* ± σ*", "w*"), h("tbody", {}, parts)));
  }

  build();
  ask();
  get("/api/presets").then((list) => {
    presets = list;
    if (!over) build();
  }).catch(() => {});
  addEventListener("resize", draw);
  return () => {
    over = true;
    removeEventListener("resize", draw);
  };
}

function short6(value) {
  return `${Number(value.toPrecision(6))}`.replace("-", "−");
}

/** Some round numbers in a range. */
function ticks(low, high, number) {
  const rough = (high - low) / number;
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * size).find((candidate) => candidate >= rough);
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, i) => (first + i) * step);
}

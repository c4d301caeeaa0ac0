// Curves of the ticked runs: single runs, or groups of seeds as bands.

import { post } from "./api.js";
import { align, chart, smooth } from "./chart.js";
import { color, field, h, select } from "./dom.js";
import { listen, note, place, table, ticked } from "./store.js";

/** What the columns of metrics are called; others have their own name. */
const NAMES = {
  evaluation: "Evaluation return", train_return: "Training return", train_clipped_return: "Clipped training return", loss: "Loss",
  mean_q: "Mean Q", mean_sigma: "Mean σ", epsilon: "ε", mean_own_sd: "Own σ", mean_inherited_sd: "Inherited σ",
  speed: "Steps/s", gradient_norm: "Gradient norm", episode_length: "Episode length", episodes: "Episodes", updates: "Updates",
};
const FIRST = Object.keys(NAMES);

export function quantityName(key) {
  return NAMES[key] ?? key;
}

export function curvesView(main) {
  const { query } = place();
  const asked = {
    y: (query.get("y") ?? "evaluation|train_return").split("|").filter(Boolean),
    x: query.get("x") ?? "steps",
    as: query.get("as") ?? "runs",
    smooth: Number(query.get("smooth") ?? 0),
    logX: query.get("logx") === "1",
    logY: query.get("logy") === "1",
    hidden: new Set((query.get("hide") ?? "").split("|").filter(Boolean)),
    zoom: query.get("zoom") ? query.get("zoom").split(",").map(Number) : null,
  };
  const loaded = new Map();
  let charts = [];
  let over = false;
  const chips = h("div", { class: "chips", role: "group", "aria-label": "Quantities" });
  const place_of_charts = h("div", { class: "charts" });
  const said = h("p", { class: "quiet", role: "status" });
  const range = h("input", { type: "range", min: 0, max: 0.99, step: 0.01, value: asked.smooth, oninput: () => {
    asked.smooth = Number(range.value);
    note({ smooth: asked.smooth || null });
    draw();
  } });
  const tick = (label, key, name) => {
    const box = h("input", { type: "checkbox", checked: asked[key], onchange: () => {
      asked[key] = box.checked;
      note({ [name]: box.checked });
      draw();
    } });
    return h("label", { class: "field inline" }, box, label);
  };
  const as = select([["runs", "Each run"], ["bands", "Seeds as IQM with interval"]], asked.as, (value) => {
    asked.as = value;
    note({ as: value === "runs" ? null : value });
    x.disabled = value === "bands";
    reload();
  });
  const x = select([["steps", "Steps"], ["hours", "Hours"]], asked.x, (value) => {
    asked.x = value;
    asked.zoom = null;
    note({ x: value === "steps" ? null : value, zoom: null });
    reload();
  });
  x.disabled = asked.as === "bands";
  const reset = h("button", { type: "button", onclick: () => zoom(null) }, "Whole range");
  main.append(h("h1", {}, "Curves"), h("div", { class: "bar" }, chips),
    h("div", { class: "bar" }, field("Show", as), field("Over", x), field("Smoothing", range),
      tick("log x", "logX", "logx"), tick("log y", "logY", "logy"), reset),
    said, place_of_charts);

  function draw_chips() {
    const known = [...new Set(["evaluation", "speed", ...table.quantities])].filter((key) => key !== "step" && key !== "");
    const rank = (key) => (FIRST.includes(key) ? FIRST.indexOf(key) : FIRST.length);
    known.sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
    chips.replaceChildren(...known.map((key) => h("button", { type: "button", "aria-pressed": `${asked.y.includes(key)}`, onclick: () => {
      asked.y = asked.y.includes(key) ? asked.y.filter((other) => other !== key) : [...asked.y, key];
      note({ y: asked.y.join("|") });
      draw_chips();
      load(asked.y.filter((name) => !loaded.has(name)));
    } }, quantityName(key))));
  }

  async function load(quantities) {
    const runs = ticked();
    said.textContent = runs.length ? "" : "No run is ticked. Tick some on the page Runs.";
    if (!runs.length) {
      loaded.clear();
      return draw();
    }
    const points = runs.length > 200 ? 250 : 2000;
    await Promise.all(quantities.map(async (y) => {
      try {
        const path = asked.as === "bands" ? "/api/bands" : "/api/curves";
        loaded.set(y, await post(path, { runs, y, x: asked.as === "bands" ? "steps" : asked.x, points }));
      } catch (error) {
        loaded.set(y, { failure: error.message });
      }
    }));
    if (!over) draw();
  }

  function reload() {
    loaded.clear();
    load(asked.y);
  }

  /** Lines to draw of an answer. Few runs have a colour each; of many, each label has one. */
  function linesOf(answer) {
    const gaps = (values) => values.map((value) => (value === null || !Number.isFinite(value) ? null : value));
    if (answer.bands) {
      const envs = new Set(answer.bands.map((band) => band.env));
      return answer.bands.map((band, i) => ({
        name: `${envs.size > 1 ? `${band.env}: ` : ""}${band.label} (${band.seeds} ${band.seeds === 1 ? "seed" : "seeds"})`,
        color: color(i), x: band.steps, y: smooth(gaps(band.iqm), asked.smooth), width: 2,
        low: band.seeds > 1 ? smooth(gaps(band.low), asked.smooth) : undefined,
        high: band.seeds > 1 ? smooth(gaps(band.high), asked.smooth) : undefined,
      }));
    }
    const labels = [...new Set(answer.lines.map((line) => `${line.env} ${line.label}`))];
    const byRun = answer.lines.length <= 8;
    return answer.lines.map((line, i) => ({
      name: line.run, color: color(byRun ? i : labels.indexOf(`${line.env} ${line.label}`)),
      x: answer.grids[line.grid], y: smooth(gaps(line.y), asked.smooth), title: line.label,
    }));
  }

  function draw() {
    charts.forEach((one) => one.destroy());
    charts = [];
    place_of_charts.replaceChildren();
    for (const y of asked.y) {
      const answer = loaded.get(y);
      if (!answer) continue;
      const card = h("section", { class: "card", "aria-label": quantityName(y) });
      place_of_charts.append(card);
      if (answer.failure) {
        card.append(h("h2", {}, quantityName(y)), h("p", { class: "bad" }, answer.failure));
        continue;
      }
      const lines = linesOf(answer);
      const head = h("div", { class: "chart-head" }, h("h2", {}, quantityName(y)));
      card.append(head);
      if (!lines.length) {
        card.append(h("p", { class: "quiet" }, "None of these runs has it."));
        continue;
      }
      draw_one(card, head, y, lines);
      const missing = Object.keys(answer.missing).length;
      if (missing) card.append(h("p", { class: "quiet small" }, `${missing} of the ticked runs ${missing === 1 ? "has" : "have"} no ${quantityName(y).toLowerCase()}.`));
    }
  }

  function draw_one(card, head, y, lines) {
    // Bands are drawn on the list of x of all of them.
    const sides = lines.flatMap((line) => [line.y, ...(line.low ? [line.low, line.high] : [])].map((values) => ({ x: line.x, y: values })));
    const { x: shared, ys } = align(sides);
    let at = 0;
    const series = lines.map((line) => {
      const made = { ...line, y: ys[at], hidden: asked.hidden.has(line.name) };
      at += 1;
      if (line.low) {
        [made.low, made.high] = [ys[at], ys[at + 1]];
        at += 2;
      }
      return made;
    });
    const one = chart(card, { x: shared, series, xName: asked.x === "hours" && asked.as !== "bands" ? "hours" : "steps", yName: quantityName(y),
      logX: asked.logX, logY: asked.logY, onZoom: zoom, height: asked.y.length > 1 ? 280 : 420 });
    if (asked.zoom) one.plot.setScale("x", { min: asked.zoom[0], max: asked.zoom[1] });
    charts.push(one);
    const title = quantityName(y);
    for (const kind of ["svg", "png", "csv"]) {
      head.append(h("button", { type: "button", title: `Download as ${kind.toUpperCase()}`, onclick: () => one[kind](title) }, kind.toUpperCase()));
    }
    card.append(h("div", { class: "legend", role: "group", "aria-label": "Lines" }, series.map((line) => {
      const mark = h("i", { "aria-hidden": "true" });
      mark.style.color = line.color;
      const button = h("button", { type: "button", title: line.title, "aria-pressed": `${!line.hidden}`, onclick: () => {
        const visible = asked.hidden.has(line.name);
        visible ? asked.hidden.delete(line.name) : asked.hidden.add(line.name);
        note({ hide: [...asked.hidden].join("|") });
        charts.forEach((each) => each.show(line.name, visible));
        main.querySelectorAll(".legend button").forEach((other) => {
          if (other.textContent === line.name) other.setAttribute("aria-pressed", `${visible}`);
        });
      } }, mark, line.name);
      return button;
    })));
  }

  /** All charts have the same range of x. */
  function zoom(to) {
    asked.zoom = to;
    // The address follows once the wheel rests.
    clearTimeout(noting);
    noting = setTimeout(() => note({ zoom: to ? to.map((value) => Number(value.toPrecision(8))).join(",") : null }), 200);
    for (const one of charts) {
      const all = one.plot.data[0];
      const [min, max] = to ?? [all[0], all.at(-1)];
      if (one.plot.scales.x.min !== min || one.plot.scales.x.max !== max) one.plot.setScale("x", { min, max });
    }
  }

  // A run that grows is asked for again, no more than once in a while.
  let waiting = null;
  let noting = null;
  const stop = listen((ids) => {
    draw_chips();
    const mine = new Set(ticked());
    if (ids !== null && !ids.some((id) => mine.has(id))) return;
    waiting ??= setTimeout(() => {
      waiting = null;
      load(asked.y);
    }, 1000);
  });
  draw_chips();
  load(asked.y);
  return () => {
    over = true;
    stop();
    clearTimeout(waiting);
    clearTimeout(noting);
    charts.forEach((one) => one.destroy());
  };
}

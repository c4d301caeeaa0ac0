// An agent plays an episode, and one sees what it believes; or, of a tabular run, how the beliefs grew.

import { get } from "./api.js";
import { chart } from "./chart.js";
import { color, field, h, s, select, short } from "./dom.js";
import { drawMoment, rangeOf } from "./map.js";
import { listen, note, place, table } from "./store.js";

export function watchView(main) {
  const { query } = place();
  let run = query.get("run") ?? "";
  let leave = () => {};
  const inner = h("div");
  const choose = h("select", { onchange: () => {
    run = choose.value;
    note({ run, checkpoint: null, seed: null, at: null, layer: null });
    open();
  } });
  main.append(h("h1", {}, "Watch"), h("div", { class: "bar" }, field("Run", choose)), inner);

  function draw_choices() {
    const ids = [...table.runs.values()].filter((row) => row.state !== "malformed").map((row) => row.id);
    const recordings = table.recordings.map((row) => row.id);
    if (!run) run = ids[0] ?? recordings[0] ?? "";
    const group = (label, list) => (list.length ? h("optgroup", { label }, list.map((id) => h("option", { value: id }, id))) : null);
    choose.replaceChildren(...[group("Runs", ids), group("Tables (adfq learn --out)", recordings)].filter(Boolean));
    choose.value = run;
  }

  function open() {
    leave();
    inner.replaceChildren();
    if (!run) {
      inner.append(h("p", { class: "quiet" }, "There is nothing to watch yet."));
      leave = () => {};
    } else if (table.recordings.some((row) => row.id === run)) leave = recordingView(inner, run);
    else leave = episodeView(inner, run);
  }

  draw_choices();
  open();
  let known = choose.textContent;
  const stop = listen(() => {
    draw_choices();
    if (known === "" && choose.textContent) open();
    known = choose.textContent;
  });
  return () => {
    stop();
    leave();
  };
}

/** Buttons and a slider over moments: `count()` of them, `show(i)` shows one. */
function timeline(count, show, initial) {
  let at = initial ?? 0;
  let timer = null;
  let rate = 15;
  const here = () => go(Number(slider.value), true);
  // A key stops the play also where it does not move the slider: Home at the beginning, for one.
  const slider = h("input", { type: "range", min: 0, max: 0, value: 0, "aria-label": "Moment", oninput: here, onpointerdown: here,
    onkeydown: (event) => event.key !== "Tab" && here() });
  const play = h("button", { type: "button", "aria-label": "Play or pause", onclick: () => (timer ? pause() : start()) }, "▶");
  const element = h("div", { class: "timeline" },
    h("button", { type: "button", "aria-label": "One step back", onclick: () => go(at - 1, true) }, "‹"), play,
    h("button", { type: "button", "aria-label": "One step on", onclick: () => go(at + 1, true) }, "›"), slider,
    select([["5", "5/s"], ["15", "15/s"], ["30", "30/s"], ["60", "60/s"]], "15", (value) => {
      rate = Number(value);
      if (timer) start();
    }, { "aria-label": "Moments a second" }));
  function go(to, stops) {
    if (stops) pause();
    at = Math.max(0, Math.min(to, count() - 1));
    slider.value = at;
    if (count()) show(at, timer !== null);
  }
  function pause() {
    clearInterval(timer);
    timer = null;
    play.textContent = "▶";
  }
  function start() {
    pause();
    if (at >= count() - 1) at = -1;
    play.textContent = "❚❚";
    timer = setInterval(() => {
      if (at < count() - 1) go(at + 1);
      else if (element.dataset.over) pause();
    }, 1000 / rate);
  }
  return { element, go, start, pause, grown: () => {
    slider.max = Math.max(0, count() - 1);
  }, at: () => at };
}

// Episodes.

function episodeView(inner, run) {
  const { query } = place();
  let checkpoint = query.get("checkpoint") ?? "last";
  let seed = Number(query.get("seed") ?? 0);
  let wanted = query.get("at") === null ? null : Number(query.get("at"));
  let source = null;
  let start = null;
  let moments = [];
  let values = null;
  let drawnUpTo = 0;

  const which = h("select", { onchange: () => {
    checkpoint = which.value;
    note({ checkpoint: checkpoint === "last" ? null : checkpoint, at: null });
    begin();
  } }, h("option", { value: "last" }, "newest"));
  const seeds = h("input", { type: "number", min: 0, value: seed, onchange: () => {
    seed = Math.max(0, Math.floor(Number(seeds.value) || 0));
    note({ seed: seed || null, at: null });
    begin();
  } });
  const again = h("button", { type: "button", class: "main", onclick: () => {
    seed += 1;
    seeds.value = seed;
    note({ seed, at: null });
    begin();
  } }, "Another episode");
  const said = h("p", { class: "quiet", role: "status" });
  const facts = h("div", { class: "facts" });
  const image = h("img", { alt: "" });
  const screen = h("div", { class: "screen" }, image);
  const densities = h("div", { class: "densities" });
  const actions = h("div");
  const over_time = h("div");
  const line = timeline(() => moments.length, show);
  inner.append(h("div", { class: "bar" }, field("Checkpoint", which), field("Seed", seeds), again), said,
    h("div", { class: "watch" },
      h("section", { class: "card", "aria-label": "Environment" }, facts, screen, line.element),
      h("section", { class: "card", "aria-label": "Beliefs" }, h("h2", {}, "What it believes of each action"), densities, actions),
      h("section", { class: "card wide", "aria-label": "Q over time" }, h("h2", {}, "Q over the episode, ± 2σ"), over_time)));

  get(`/api/checkpoints?${new URLSearchParams({ run })}`).then(({ steps }) => {
    which.replaceChildren(h("option", { value: "last" }, "newest"), h("option", { value: "best" }, "best evaluation"),
      ...steps.toReversed().map((step) => h("option", { value: `${step}` }, `step ${step.toLocaleString("en")}`)));
    which.value = checkpoint;
  }).catch(() => {});

  function begin() {
    source?.close();
    [start, moments, drawnUpTo] = [null, [], 0];
    values?.destroy();
    values = null;
    delete line.element.dataset.over;
    said.textContent = "Loading the agent…";
    facts.replaceChildren();
    actions.replaceChildren();
    densities.replaceChildren();
    source = new EventSource(`/api/episode?${new URLSearchParams({ run, checkpoint, seed })}`);
    source.addEventListener("start", (event) => {
      start = JSON.parse(event.data);
      said.textContent = start.warnings.join(" ");
      image.alt = start.env;
    });
    source.addEventListener("step", (event) => {
      moments.push(JSON.parse(event.data));
      line.grown();
      if (moments.length === 1) wanted === null ? line.start() : line.go(0, true);
      if (wanted !== null && moments.length === wanted + 1) {
        line.go(wanted, true);
        wanted = null;
      }
    });
    source.addEventListener("end", (event) => {
      const end = JSON.parse(event.data);
      source.close();
      line.element.dataset.over = "1";
      said.textContent = `${start?.agent ?? ""}, checkpoint of step ${(start?.step ?? 0).toLocaleString("en")}: ` +
        `return ${short(end.total)} in ${end.length} steps${end.cut ? ", and more that are not shown" : ""}.`;
      draw_values();
    });
    source.addEventListener("failure", (event) => {
      source.close();
      said.textContent = JSON.parse(event.data).error;
    });
    source.addEventListener("error", () => {
      if (!start) said.textContent = "The episode cannot be played. Either four others are being played, or the server is away.";
      source.close();
      line.element.dataset.over = "1";
    });
  }

  function show(i, playing) {
    const moment = moments[i];
    if (moment.picture) {
      image.src = `data:image/png;base64,${moment.picture}`;
      image.hidden = false;
    } else {
      image.hidden = true;
      if (!screen.querySelector("p")) screen.append(h("p", { class: "quiet" }, "This environment has no picture."));
    }
    facts.replaceChildren(
      ...[["Step", `${moment.step}`], ["Return so far", short(moment.total)], ["Action", start.actions[moment.action]]]
        .map(([name, value]) => h("span", {}, h("span", { class: "quiet" }, `${name} `), h("b", {}, value))));
    densities.replaceChildren(...(moment.sd ? [density(moment, start.actions, densities.clientWidth)] : []));
    actions.replaceChildren(table_of(moment, start.actions));
    if (moments.length - drawnUpTo > 25 || (values === null && moments.length > 1)) draw_values();
    // The line at this step, without the values: they are in the table.
    values?.plot.setCursor({ left: values.plot.valToPos(moment.step, "x"), top: -10 }, false);
    if (!playing && line.element.dataset.over) note({ at: i });
  }

  /** Q of every action over the steps so far. */
  function draw_values() {
    if (moments.length < 2) return;
    drawnUpTo = moments.length;
    values?.destroy();
    const x = moments.map((moment) => moment.step);
    const column = (of) => moments.map(of);
    const series = start.actions.map((name, a) => ({
      name, color: color(a), y: column((moment) => moment.mean[a]),
      low: moments[0].sd ? column((moment) => moment.mean[a] - 2 * moment.sd[a]) : undefined,
      high: moments[0].sd ? column((moment) => moment.mean[a] + 2 * moment.sd[a]) : undefined,
    }));
    values = chart(over_time, { x, series, xName: "step", yName: "Q(s,a)", height: 240, points: false });
    values.plot.over.addEventListener("click", (event) => {
      const step = values.plot.posToVal(event.offsetX, "x");
      line.go(x.findIndex((at) => at >= step), true);
    });
  }

  begin();
  return () => {
    source?.close();
    line.pause();
    values?.destroy();
  };
}

/** The belief of every action as a density. */
function density({ mean, sd, action }, names, room) {
  const width = Math.max(room, 280);
  const [height, base] = [220, 196];
  const [low, high] = [Math.min(...mean.map((m, a) => m - 3.5 * sd[a])), Math.max(...mean.map((m, a) => m + 3.5 * sd[a]))];
  const peak = Math.max(...sd.map((d) => 1 / d));
  const at = (q) => 8 + ((q - low) / (high - low || 1)) * (width - 16);
  const picture = s("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Density of the belief over Q of each action" });
  mean.forEach((m, a) => {
    const points = Array.from({ length: 81 }, (_, i) => {
      const z = -3.5 + (7 * i) / 80;
      return [at(m + z * sd[a]), base - (Math.exp(-0.5 * z * z) / sd[a] / peak) * (base - 16)];
    });
    const d = `M${at(m - 3.5 * sd[a])},${base}${points.map(([x, y]) => `L${x.toFixed(1)},${y.toFixed(1)}`).join("")}L${at(m + 3.5 * sd[a])},${base}Z`;
    const chosen = a === action;
    picture.append(s("path", { d, fill: color(a), "fill-opacity": chosen ? 0.34 : 0.14, stroke: color(a), "stroke-width": chosen ? 2.5 : 1.4 }),
      s("line", { x1: at(m), x2: at(m), y1: base, y2: base + 6, stroke: color(a), "stroke-width": 2 }));
    picture.lastChild.append(s("title", {}, names[a]));
  });
  const ticks = [low + (high - low) * 0.05, (low + high) / 2, high - (high - low) * 0.05];
  picture.append(s("line", { x1: 0, x2: width, y1: base, y2: base, stroke: "var(--line)" }),
    ...ticks.map((q) => s("text", { x: at(q), y: height - 4, "text-anchor": "middle" }, q.toPrecision(5))));
  return picture;
}

function table_of({ mean, sd, p_best: best, action }, names) {
  const heads = sd ? ["Action", "μ", "± 2σ", "P(best)"] : ["Action", "Q"];
  return h("table", { class: "actions" }, h("thead", {}, h("tr", {}, heads.map((head, i) => h("th", { scope: "col", class: i ? "number" : null }, head)))),
    h("tbody", {}, mean.map((m, a) => {
      const mark = h("i", { "aria-hidden": "true" });
      mark.style.color = color(a);
      const meter = h("span", { class: "meter" }, h("span"));
      if (best) meter.firstChild.style.width = `${100 * best[a]}%`;
      return h("tr", { class: a === action ? "chosen" : null }, h("td", {}, mark, names[a], a === action ? " ◀" : ""),
        h("td", { class: "number" }, m.toPrecision(5)),
        sd ? h("td", { class: "number" }, short(2 * sd[a])) : null,
        best ? h("td", { class: "number" }, meter, `${(100 * best[a]).toFixed(1)} %`) : null);
    })));
}

// Tabular runs.

function recordingView(inner, run) {
  const said = h("p", { class: "quiet", role: "status" }, "Loading the recording…");
  inner.append(said);
  let line = null;
  let gone = false;
  get(`/api/recording?${new URLSearchParams({ run })}`).then((recording) => {
    if (gone) return;
    const { query } = place();
    let layer = Number(query.get("layer") ?? 0);
    const range = rangeOf(recording);
    const facts = h("div", { class: "facts" });
    const map = h("div", { class: "map figure" });
    line = timeline(() => recording.moments.length, show);
    function show(i, playing) {
      const moment = recording.moments[i];
      const told = [["Step", moment.step.toLocaleString("en")], ["of", recording.steps.toLocaleString("en")],
        ["Agent", `${recording.agent}, ${recording.policy}`], ["Seed", `${recording.seed}`]];
      facts.replaceChildren(...told.map(([name, value]) => h("span", {}, h("span", { class: "quiet" }, `${name} `), h("b", {}, value))));
      map.replaceChildren(drawMoment(recording, moment, layer, range));
      if (!playing) note({ at: i === recording.moments.length - 1 ? null : i });
    }
    const layers = recording.layers.length > 1 ? field("Map", select(recording.layers.map(({ title }, i) => [`${i}`, title || `map ${i + 1}`]),
      `${layer}`, (value) => {
        layer = Number(value);
        note({ layer: layer || null });
        show(line.at());
      })) : null;
    said.textContent = recording.map.length
      ? "Each cell: the greedy action, its mean and ± σ. The ring grows with σ; a red arrow is not optimal; the stronger the blue of a cell, the larger its value." : "";
    inner.append(...(layers ? [h("div", { class: "bar" }, layers)] : []),
      h("section", { class: "card", "aria-label": recording.domain }, facts, map, line.element));
    line.element.dataset.over = "1";
    line.grown();
    line.go(query.get("at") === null ? recording.moments.length - 1 : Number(query.get("at")), true);
  }).catch((error) => {
    said.textContent = error.message;
  });
  return () => {
    gone = true;
    line?.pause();
  };
}

// Line charts on uPlot: zoom by dragging and by the wheel, values where the pointer is, bands, and downloads. What is drawn is
// the caller's.

import uPlot from "./vendor/uplot/uPlot.esm.js";
import { brief, download, h, s, short, themed } from "./dom.js";

/** More lines than this are not dimmed when one is pointed at: redrawing all of them would be slow. */
const FEW = 12;
/** With so many lines each is one pixel wide. */
const MANY = 24;

/**
 * Lines with lists of x of their own, on one list: the same one if all share it, else that of all steps, and where those are
 * too many, evenly spaced ones with values in between.
 */
export function align(lines, most = 2000) {
  const first = lines[0]?.x ?? [];
  if (lines.every((line) => line.x === first)) return { x: first, ys: lines.map((line) => line.y) };
  const union = [...new Set(lines.flatMap((line) => line.x))].sort((a, b) => a - b);
  let x = union;
  if (union.length > most) {
    const [low, high] = [union[0], union.at(-1)];
    x = Array.from({ length: most }, (_, i) => low + ((high - low) * i) / (most - 1));
  }
  return { x, ys: lines.map((line) => resample(line, x)) };
}

/** Values of a line at these places, straight between its points; null outside. */
function resample({ x, y }, places) {
  let at = 0;
  return places.map((place) => {
    while (at < x.length && x[at] < place) at += 1;
    if (at === x.length) return null;
    if (x[at] === place) return y[at];
    if (at === 0 || y[at] === null || y[at - 1] === null) return null;
    return y[at - 1] + ((y[at] - y[at - 1]) * (place - x[at - 1])) / (x[at] - x[at - 1]);
  });
}

/** The running mean of TensorBoard, without its pull towards 0 at the start. Gaps stay. */
export function smooth(values, weight) {
  if (weight <= 0) return values;
  let [mean, share] = [0, 0];
  return values.map((value) => {
    if (value === null) return null;
    mean = mean * weight + (1 - weight) * value;
    share = share * weight + (1 - weight);
    return mean / share;
  });
}

/**
 * A chart in `place`. `series` has {name, color, y, low, high, width, dash, hidden}; low and high make a band.
 * Returns {redraw, svg, png, csv, destroy, plot}.
 */
export function chart(place, { x, series, xName, yName, logX, logY, height = 300, range, onZoom, cursor, points }) {
  const box = h("div", { class: "plot" });
  const tip = h("div", { class: "tip", hidden: true });
  place.append(box);
  const [ink, grid] = [themed("--quiet"), themed("--grid")];
  const data = [x];
  const options = [{}];
  const bands = [];
  const owners = [null];
  const thin = series.length > MANY;
  for (const line of series) {
    const shared = { show: !line.hidden, spanGaps: false };
    const width = (line.width ?? 1.6) * (thin ? 0.6 : 1);
    options.push({ ...shared, label: line.name, stroke: line.color, width, dash: line.dash,
      points: { show: points ?? (x.length <= 40 && !thin) } });
    data.push(line.y);
    owners.push(line);
    if (line.low) {
      const edge = { ...shared, stroke: "transparent", width: 0, points: { show: false } };
      bands.push({ series: [data.length + 1, data.length], fill: `${line.color}33` });
      options.push(edge, edge);
      data.push(line.low, line.high);
      owners.push(null, null);
    }
  }
  const positive = (name) => (values) => (name ? values.map((value) => (value > 0 ? value : null)) : values);
  const drawn = data.map((values, i) => positive(i === 0 ? logX : logY)(values));
  const axis = (label) => ({ label, stroke: ink, font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif",
    labelSize: 18, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1, size: 5 } });
  const plot = new uPlot({
    width: Math.max(box.clientWidth, 200),
    height,
    legend: { show: false },
    cursor: { drag: { x: true, y: false, uni: 20 }, focus: { prox: 24 }, points: { size: 7, show: !thin }, ...cursor },
    focus: { alpha: series.length > FEW ? 1 : 0.35 },
    scales: {
      x: { time: false, distr: logX ? 3 : 1, range: range ? () => range : undefined },
      y: { distr: logY ? 3 : 1 },
    },
    axes: [
      { ...axis(xName), size: 34, values: (_, splits) => splits.map((v) => (v === null ? "" : brief(v))) },
      { ...axis(yName), size: 58, values: (_, splits) => splits.map((v) => (v === null ? "" : axisText(v))) },
    ],
    series: options,
    bands,
    hooks: {
      setCursor: [(u) => point(u, tip, owners, xName)],
      setSelect: [(u) => {
        if (u.select.width > 4) onZoom?.([u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x")]);
      }],
    },
  }, drawn, box);
  box.append(tip);
  const whole = () => [x[0], x.at(-1)];
  const zoom = (to) => {
    plot.setScale("x", { min: to[0], max: to[1] });
    onZoom?.(to);
  };
  plot.over.addEventListener("wheel", (event) => {
    event.preventDefault();
    const { min, max } = plot.scales.x;
    const [low, high] = whole();
    const middle = plot.posToVal(event.offsetX, "x");
    const factor = event.deltaY < 0 ? 0.8 : 1.25;
    const next = logX
      ? [middle * (min / middle) ** factor, middle * (max / middle) ** factor]
      : [middle - (middle - min) * factor, middle + (max - middle) * factor];
    zoom([Math.max(next[0], low), Math.min(next[1], high)]);
  }, { passive: false });
  plot.over.addEventListener("dblclick", () => {
    range = null;
    onZoom?.(null);
  });
  const observer = new ResizeObserver(() => {
    if (box.clientWidth > 0 && box.clientWidth !== plot.width) plot.setSize({ width: box.clientWidth, height });
  });
  observer.observe(box);
  return {
    plot,
    show: (name, visible) => owners.forEach((line, i) => {
      if (line?.name === name) plot.setSeries(i, { show: visible });
      if (line?.name === name && line.low) [1, 2].forEach((next) => plot.setSeries(i + next, { show: visible }));
    }),
    svg: (title) => download(`${title}.svg`, "image/svg+xml", svgOf(plot, owners, data, { title, xName, yName })),
    png: (title) => pngOf(plot, title),
    csv: (title) => download(`${title}.csv`, "text/csv", csvOf(x, series, xName)),
    destroy: () => {
      observer.disconnect();
      plot.destroy();
      box.remove();
    },
  };
}

function axisText(value) {
  return Math.abs(value) >= 10_000 ? brief(value) : short(value);
}

/** The values where the pointer is: that of the line next to it first. */
function point(u, tip, owners, xName) {
  const { idx, left, top } = u.cursor;
  if (idx === null || idx === undefined || left < 0) {
    tip.hidden = true;
    return;
  }
  const found = [];
  owners.forEach((line, i) => {
    const value = line && u.series[i].show ? u.data[i][idx] : null;
    if (value === null || value === undefined) return;
    found.push({ line, value, low: line.low?.[idx], high: line.high?.[idx], away: Math.abs(u.valToPos(value, "y") - top) });
  });
  if (!found.length) {
    tip.hidden = true;
    return;
  }
  found.sort((a, b) => a.away - b.away);
  const rows = found.slice(0, 8).map(({ line, value, low, high }) => {
    const mark = h("i");
    mark.style.color = line.color;
    const interval = low !== undefined && low !== null ? ` [${short(low)}, ${short(high)}]` : "";
    return h("div", {}, mark, h("span", {}, line.name), h("b", {}, short(value) + interval));
  });
  const more = found.length > 8 ? h("div", { class: "quiet" }, `and ${found.length - 8} more`) : null;
  tip.replaceChildren(h("div", { class: "quiet" }, `${xName} ${brief(u.data[0][idx])}`), ...rows, ...(more ? [more] : []));
  tip.hidden = false;
  const [width, room] = [tip.offsetWidth, u.over.clientWidth];
  const at = left + 16 + width > room ? left - width - 12 : left + 16;
  tip.style.left = `${Math.max(at, -u.over.offsetLeft) + u.over.offsetLeft}px`;
  tip.style.top = `${Math.max(0, Math.min(top, u.over.clientHeight - tip.offsetHeight)) + u.over.offsetTop}px`;
}

function csvOf(x, series, xName) {
  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const columns = series.filter((line) => !line.hidden)
    .flatMap((line) => [[line.name, line.y], ...(line.low ? [[`${line.name} low`, line.low], [`${line.name} high`, line.high]] : [])]);
  const head = [xName, ...columns.map(([name]) => name)].map(quoted).join(",");
  const rows = x.map((value, i) => [value, ...columns.map(([, values]) => values[i] ?? "")].join(","));
  return `${[head, ...rows].join("\n")}\n`;
}

async function pngOf(plot, title) {
  const canvas = document.createElement("canvas");
  const from = plot.ctx.canvas;
  const scale = devicePixelRatio;
  const head = 30 * scale;
  [canvas.width, canvas.height] = [from.width, from.height + head];
  const context = canvas.getContext("2d");
  context.fillStyle = themed("--card");
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = themed("--ink");
  context.font = `${15 * scale}px system-ui, sans-serif`;
  context.fillText(title, 12 * scale, 20 * scale);
  context.drawImage(from, 0, head);
  download(`${title}.png`, "image/png", await new Promise((done) => canvas.toBlob(done, "image/png")));
}

/** The chart as it is zoomed, as a picture of its own. */
function svgOf(plot, owners, data, { title, xName, yName }) {
  const ratio = devicePixelRatio;
  const area = Object.fromEntries(Object.entries(plot.bbox).map(([key, value]) => [key, value / ratio]));
  const head = 28;
  const names = owners.filter((line, i) => line && plot.series[i].show);
  const few = names.slice(0, 40);
  const height = plot.height + head + few.length * 18 + 8;
  const xAt = (value) => plot.valToPos(value, "x") + area.left;
  const yAt = (value) => plot.valToPos(value, "y") + area.top + head;
  const picture = s("svg", { xmlns: "http://www.w3.org/2000/svg", width: plot.width, height,
    viewBox: `0 0 ${plot.width} ${height}`, "font-family": "system-ui, sans-serif", "font-size": 12 });
  picture.append(s("rect", { width: "100%", height: "100%", fill: themed("--card") }),
    s("text", { x: 12, y: 19, "font-size": 15, fill: themed("--ink") }, title));
  const clip = s("clipPath", { id: "area" }, s("rect", { x: area.left, y: area.top + head, width: area.width, height: area.height }));
  picture.append(s("defs", {}, clip));
  const ink = themed("--quiet");
  const ticks = (index) => plot.axes[index]._splits.map((at, i) => [at, plot.axes[index]._values[i]]);
  for (const [at, text] of ticks(0)) {
    picture.append(s("line", { x1: xAt(at), x2: xAt(at), y1: area.top + head, y2: area.top + head + area.height, stroke: ink, "stroke-opacity": 0.2 }));
    if (text) picture.append(s("text", { x: xAt(at), y: area.top + head + area.height + 18, "text-anchor": "middle", fill: ink }, text));
  }
  for (const [at, text] of ticks(1)) {
    picture.append(s("line", { x1: area.left, x2: area.left + area.width, y1: yAt(at), y2: yAt(at), stroke: ink, "stroke-opacity": 0.2 }));
    if (text) picture.append(s("text", { x: area.left - 8, y: yAt(at) + 4, "text-anchor": "end", fill: ink }, text));
  }
  picture.append(
    s("text", { x: area.left + area.width / 2, y: head + plot.height - 6, "text-anchor": "middle", fill: ink }, xName),
    s("text", { transform: `translate(13 ${area.top + head + area.height / 2}) rotate(-90)`, "text-anchor": "middle", fill: ink }, yName));
  const lines = s("g", { "clip-path": "url(#area)", fill: "none" });
  owners.forEach((line, i) => {
    if (!line || !plot.series[i].show) return;
    const at = (values) => values.map((value, k) => (value === null || value === undefined ? null : [xAt(data[0][k]), yAt(value)]));
    if (line.low) {
      const [low, high] = [at(line.low), at(line.high)].map((side) => side.filter(Boolean));
      lines.append(s("polygon", { points: [...high, ...low.reverse()].map(pair).join(" "), fill: line.color, "fill-opacity": 0.2 }));
    }
    lines.append(s("path", { d: path(at(line.y)), stroke: line.color, "stroke-width": 1.6 }));
  });
  picture.append(lines);
  few.forEach((line, i) => {
    const y = plot.height + head + i * 18 + 4;
    picture.append(s("rect", { x: area.left, y: y - 9, width: 10, height: 10, rx: 2, fill: line.color }),
      s("text", { x: area.left + 16, y, fill: themed("--ink") }, line.name));
  });
  return new XMLSerializer().serializeToString(picture);
}

const pair = ([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`;

function path(points) {
  let pen = "M";
  return points.map((point) => {
    if (!point || !Number.isFinite(point[1])) {
      pen = "M";
      return "";
    }
    const text = `${pen}${pair(point)}`;
    pen = "L";
    return text;
  }).join("");
}

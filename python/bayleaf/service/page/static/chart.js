// Small charts as SVG: values from 0 to 1 upwards, in the colors of the page.
const NS = "http://www.w3.org/2000/svg";
const W = 360, H = 190, LEFT = 40, BOTTOM = 160, TOP = 8;

function s(tag, attributes, ...children) {
  const made = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

const points = (list) => list.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");

function frame(title, low, high, xs, xTicks) {
  const y = (value) => BOTTOM - ((value - low) / (high - low)) * (BOTTOM - TOP);
  const svg = s("svg", { viewBox: `0 0 ${W} ${H}`, class: "chart", role: "img", "aria-label": title });
  for (let n = 0; n <= 4; n++) {
    const value = low + ((high - low) * n) / 4;
    svg.append(s("path", { d: `M${LEFT} ${y(value)}H${W - 8}`, class: "grid" }));
    svg.append(s("text", { x: LEFT - 5, y: y(value) + 4, "text-anchor": "end" }, `${Math.round(100 * value)}`));
  }
  for (const [value, label] of xTicks)
    svg.append(s("text", { x: xs(value), y: BOTTOM + 16, "text-anchor": "middle" }, label));
  return [svg, y];
}

export function curve(title, rows) {
  const low = Math.max(0, Math.floor(10 * Math.min(...rows.map((row) => row.low ?? row.accuracy))) / 10);
  const ends = rows.map((row) => Math.log(row.labels));
  const span = ends.at(-1) - ends[0] || 1;
  const x = (labels) => LEFT + 12 + ((Math.log(labels) - ends[0]) / span) * (W - LEFT - 32);
  const shown = rows.length > 6 ? rows.filter((_, n) => n === 0 || n === rows.length - 1) : rows;
  const [svg, y] = frame(title, low === 1 ? 0.9 : low, 1, x, shown.map((row) => [row.labels, row.labels]));
  if (rows[0].low !== undefined) {
    const band = [...rows.map((row) => [x(row.labels), y(row.high)]), ...rows.toReversed().map((row) => [x(row.labels), y(row.low)])];
    svg.append(s("polygon", { points: points(band), class: "band" }));
  }
  svg.append(s("polyline", { points: points(rows.map((row) => [x(row.labels), y(row.accuracy)])), class: "line" }));
  for (const row of rows)
    svg.append(s("circle", { cx: x(row.labels), cy: y(row.accuracy), r: 3, class: "dot" },
      s("title", {}, `${row.labels}: ${(100 * row.accuracy).toFixed(1)} %`)));
  return svg;
}

export function calibration(title, bins) {
  const x = (value) => LEFT + value * (W - LEFT - 20);
  const [svg, y] = frame(title, 0, 1, x, [[0, "0"], [0.5, "50"], [1, "100 % sure"]].map(([v, t]) => [v === 1 ? 0.92 : v, t]));
  svg.append(s("path", { d: `M${x(0)} ${y(0)}L${x(1)} ${y(1)}`, class: "ideal" }));
  for (const bin of bins)
    svg.append(s("circle", { cx: x(bin.sure), cy: y(bin.right), r: 4 + Math.min(bin.documents / 50, 6), class: "dot" },
      s("title", {}, `${bin.documents} answers, ${(100 * bin.sure).toFixed(0)} % sure: ${(100 * bin.right).toFixed(0)} % right`)));
  return svg;
}

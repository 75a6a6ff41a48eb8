// Watch: is it learning? Numbers are refreshed in place while the view is open.
import { post } from "./api.js";
import { calibration, curve } from "./chart.js";
import { $, h, midnight, number, percent, printable, say } from "./dom.js";

const EVERY = 5000;

export async function show(root) {
  root.append(h("h1", {}, "Watch"), h("div", { id: "facts", class: "facts" }), h("p", { id: "advice" }),
    h("div", { class: "plots" }, ["curve", "progressive", "calibration"].map((id) => h("figure", { id }))),
    h("h2", {}, "Shares of the classes"), h("div", { id: "shares", class: "wide" }),
    h("h2", {}, "Today"), h("div", { id: "today", class: "wide" }),
    h("h2", {}, "Most surprising lately"), h("ul", { id: "surprising", class: "cards" }));
  await refresh(true);
  const timer = setInterval(() => document.hidden || refresh(false), EVERY);
  return () => clearInterval(timer);
}

const figure = (id, caption, drawing) => $(id).replaceChildren(...(drawing ? [h("figcaption", {}, caption), drawing] : []));
let seen = -1;

async function refresh(first) {
  try {
    const [state, progress, watched] = [await post("state"), await post("progress"), await post("watch", { midnight: midnight() })];
    if (!$("facts")) return;
    drawFacts(state.model, progress.hold_out, watched);
    if (first || state.model.version !== seen) await drawRest(state.model, progress.hold_out, watched);
    seen = state.model.version;
  } catch (error) {
    say(error.message, true);
  }
}

function drawFacts(model, found, watched) {
  const learned = Object.values(model.documents).reduce((a, b) => a + b, 0);
  const rows = [["Learned", number(learned)], ["Version", number(model.version)],
    ["Right before told", model.progressive.accuracy === null ? "–" : `${percent(model.progressive.accuracy)} of ${number(model.progressive.asked)}`],
    ["Hold-out accuracy", found ? `${percent(found.accuracy)} (${percent(found.low, 0)} – ${percent(found.high, 0)})` : "–"],
    ["Log loss", found ? found.log_loss.toFixed(3) : "–"], ["Drift of the answers", percent(model.drift, 0)],
    ["Weights", model.tuned ? (model.stale ? "a little old" : "fresh") : "none yet"]];
  $("facts").replaceChildren(...rows.map(([name, value]) => h("div", {}, name, h("b", {}, value))));
  void watched;
}

async function drawRest(model, found, watched) {
  const learning = await post("curve");
  if (!$("advice")) return;
  $("advice").textContent = learning.advice;
  figure("curve", "Learning curve: accuracy on the hold-out if learned anew", learning.points.length > 1 && curve("Accuracy on the hold-out by number of labels", learning.points));
  figure("progressive", "Right before told, over time", watched.progressive.length > 1 && curve("Share of right answers given before the label", watched.progressive));
  figure("calibration", "Calibration: how often answers are right", found && calibration("How sure the answers are, and how often right", found.calibration));
  const total = Object.values(model.documents).reduce((a, b) => a + b, 0) || 1;
  $("shares").replaceChildren(table("Classes", ["Class", "Learned", "Share", "Of the last answers"], Object.entries(model.documents).map(([name, count]) =>
    [name, number(count), percent(count / total, 0), name in model.shares ? percent(model.shares[name], 0) : "–"])));
  $("today").replaceChildren(watched.today.length ? table("Changes of today", ["Person", "What", "Times"], watched.today.map((row) => [row.by || "the service", row.operation, number(row.count)])) : h("p", {}, "Nothing has changed today."));
  $("surprising").replaceChildren(...watched.surprising.map((each) => h("li", {}, h("div", { class: "text", dir: "auto" }, printable(each.text)),
    h("p", { class: "small" }, `${each.label}, by ${each.by}; the model had said ${each.answer} and gave ${percent(each.asked, 1)} to the label.`))));
}

const table = (name, heads, rows) => h("table", { "aria-label": name }, h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col" }, head)))),
  h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell, n) => h("td", { class: n ? "number" : null }, cell))))));

// Teach: one document, one key, the next document. What is on the screen changes only when someone acts.
import { answered, pending, post } from "./api.js";
import { curve } from "./chart.js";
import { $, h, midnight, newKey, number, openDialog, percent, printable, say } from "./dom.js";
import { isFree, keyOf, placeOf } from "./keys.js";
import { colored, wordDialog } from "./why.js";

const ORDERS = {
  ask: "Most instructive first", random: "At random", newest: "Newest first", suspect: "Most suspect labels",
  second: "Second opinions", search: "Search",
};
const HOW = {
  ask: "Asked for: the model is unsure.", "hold-out": "At random, held out: measured, not learned.", random: "At random.",
  newest: "The newest.", search: "Found by search.", suspect: "Suspect: the other labels contradict this one.",
  second: "Second opinion on another person's label.",
};

let state, current, busy, why;
const settings = () => JSON.parse(localStorage.getItem("bayleaf:teach") ?? "{}");
const keep = (changed) => localStorage.setItem("bayleaf:teach", JSON.stringify({ ...settings(), ...changed }));
const chosen = () => ({ order: settings().order ?? "ask", search: settings().search ?? "" });

export async function show(root) {
  state = await post("state");
  current = null;
  busy = why = false;
  root.append(h("h1", {}, "Teach"), toolbar(), h("div", { class: "desk" }, desk(), aside()));
  document.addEventListener("keydown", pressed);
  const waiting = pending();
  present(waiting ? await answered(waiting) : await post("next", chosen()));
  measure();
  return () => document.removeEventListener("keydown", pressed);
}

function toolbar() {
  const { order, search } = chosen();
  const select = h("select", { id: "order", onchange: (event) => reorder({ order: event.target.value }) },
    Object.entries(ORDERS).map(([value, name]) => h("option", { value, selected: value === order }, name)));
  const searching = h("input", { id: "search", type: "search", value: search, size: 16,
    onchange: (event) => reorder({ order: "search", search: event.target.value }) });
  const hide = h("input", { type: "checkbox", id: "hide", checked: Boolean(settings().hide),
    onchange: (event) => { keep({ hide: event.target.checked }); drawClasses(); drawSaid(); } });
  return h("div", { class: "row" },
    h("label", { for: "order" }, "Order "), select, h("label", { for: "search" }, "Search "), searching,
    h("label", {}, hide, " Hide suggestions until I answer"));
}

function desk() {
  const button = (id, key, name, act) =>
    h("button", { type: "button", id, "aria-keyshortcuts": key, onclick: act }, h("kbd", {}, key), ` ${name}`);
  const typed = h("input", { id: "typed", list: "known", autocomplete: "off", maxlength: 200, size: 14 });
  return h("div", {},
    h("p", { id: "how", class: "small" }),
    h("div", { id: "document", tabindex: 0, role: "region", "aria-label": "The document", "aria-live": "polite", dir: "auto" }),
    h("p", { id: "said", class: "said small" }),
    h("div", { class: "classes", id: "classes", role: "group", "aria-label": "Classes" }),
    h("form", { class: "row", onsubmit: (event) => { event.preventDefault(); typedClass(typed); } },
      h("label", { for: "typed" }, h("kbd", {}, "n"), " Another class "), typed, h("datalist", { id: "known" }),
      h("button", {}, "Label")),
    h("div", { class: "row" },
      button("undo", "z", "Undo", undo), button("skip", "s", "Skip", () => answer(null)),
      button("why", "w", "Why?", toggleWhy), button("effect", "e", "What would change?", effect),
      button("help", "h", "Keys and more", help)),
    h("div", { id: "reasons" }));
}

const aside = () => h("aside", { "aria-label": "How good is it?" },
  h("h2", {}, "Hold-out"), h("div", { id: "measure", class: "facts" }),
  h("p", { id: "advice", class: "small" }), h("div", { id: "curve" }),
  h("p", {}, h("button", { type: "button", onclick: drawCurve }, "Learning curve")),
  h("h2", {}, "Corpus"), h("p", { id: "corpus", class: "small" }));

// Showing

function present(reply) {
  current = reply.next;
  state.classes = reply.classes ?? state.classes;
  const place = $("document");
  place.removeAttribute("aria-busy");
  place.scrollTop = 0;
  $("reasons").replaceChildren();
  why = false;
  if (!current) {
    place.textContent = "There is nothing left to label in this order. Choose another order, or take your labels away.";
    $("how").textContent = "";
  } else {
    place.replaceChildren(printable(current.text), ...more());
    $("how").textContent = HOW[current.how] ?? "";
  }
  drawClasses();
  drawSaid();
}

function more() {
  if (current.text.length >= current.length) return [];
  return [h("p", {}, h("em", {}, `… ${number(current.length - current.text.length)} more characters are not shown.`))];
}

function drawSaid() {
  const said = $("said");
  if (!current?.suggestion || settings().hide) said.textContent = current?.label ? `Labeled as ${current.label}.` : "";
  else {
    const share = current.probabilities[String(current.suggestion)];
    said.textContent = `The model says ${current.suggestion}, ${percent(share, share > 0.999 ? 2 : 0)} sure (Enter accepts).` +
      (current.label ? ` Labeled as ${current.label}.` : "");
  }
}

function drawClasses() {
  const hidden = settings().hide;
  $("classes").replaceChildren(...state.classes.map((name, place) => {
    const share = hidden ? null : current?.probabilities?.[String(name)];
    const bar = h("span", { class: "bar" });
    bar.style.width = `${100 * (share ?? 0)}%`;
    const key = keyOf(place);
    return h("button", { type: "button", "aria-keyshortcuts": key || null, onclick: () => answer(name) },
      key ? h("kbd", {}, key) : null, ` ${name} `,
      share === null || share === undefined ? null : h("span", { class: "share" }, percent(share, 0)), bar);
  }));
  $("known").replaceChildren(...state.classes.map((name) => h("option", { value: name })));
}

// Acting

async function act(work) {
  if (busy) return;
  busy = true;
  $("document").setAttribute("aria-busy", "true");
  try {
    present(await work());
    measure();
  } catch (error) {
    say(error.message, true);
  } finally {
    busy = false;
    $("document")?.removeAttribute("aria-busy");
  }
}

function answer(label) {
  if (!current) return;
  const { item, how, suggestion } = current;
  act(async () => {
    const reply = await answered({ ...chosen(), item, how, label, key: newKey() });
    const differs = label !== null && suggestion !== null && suggestion !== undefined && suggestion !== label;
    say(label === null ? "Skipped." : `Labeled ${label}.${differs ? ` The model had said ${suggestion}.` : ""}`);
    return reply;
  });
}

function typedClass(input) {
  const label = input.value.trim();
  if (!label) return;
  input.value = "";
  input.blur();
  answer(label);
}

function undo() {
  act(async () => {
    const reply = await post("undo", chosen());
    say(reply.undone ? `Undone${reply.label === null ? "" : `: ${reply.label}`}.` : "There is nothing left to undo.");
    return reply;
  });
}

export async function undoMany(what, of = "") {
  act(async () => {
    const reply = await post("undo", { ...chosen(), what, of, midnight: midnight() });
    say(`${number(reply.undone)} actions are undone.`);
    return reply;
  });
}

function reorder(changed) {
  keep(changed);
  $("order").value = chosen().order;
  if (chosen().order === "search" && !chosen().search) return $("search").focus();
  act(() => post("next", chosen()));
}

function pressed(event) {
  if (!isFree(event)) return;
  const act = { z: undo, s: () => answer(null), w: toggleWhy, e: effect, h: help, "?": help }[event.key];
  const onButton = event.target.closest("button, a");
  if (act) act();
  else if (event.key === "n") $("typed").focus();
  else if (event.key === "/") $("search").focus();
  else if (event.key === "Enter" && !onButton && current?.suggestion && !settings().hide) answer(current.suggestion);
  else if (placeOf(event.key) >= 0 && placeOf(event.key) < state.classes.length) answer(state.classes[placeOf(event.key)]);
  else return;
  event.preventDefault();
}

// Asking the model

async function toggleWhy() {
  if (!current) return;
  why = !why;
  if (!why) {
    $("document").replaceChildren(printable(current.text), ...more());
    return $("reasons").replaceChildren();
  }
  await drawWhy();
}

async function drawWhy() {
  try {
    const found = await post("why", { item: current.item });
    if (!why) return;
    const look = async (word) => {
      await wordDialog(word, state.classes);
      if (why) drawWhy();
    };
    const { text, reasons } = colored(found, look);
    $("document").replaceChildren(text, ...more());
    $("reasons").replaceChildren(reasons);
  } catch (error) {
    why = false;
    say(error.message, true);
  }
}

async function effect() {
  if (!current) return;
  try {
    const { changes, documents } = await post("effect", { item: current.item });
    const told = Object.entries(changes).map(([name, count]) => `${name} changes ${number(count)}`);
    say(told.length ? `Of ${number(documents)} answers for documents without a label: ${told.join(", ")}.`
      : "The model has learned nothing yet, so nothing changes.");
  } catch (error) {
    say(error.message, true);
  }
}

async function measure() {
  try {
    const { hold_out: found, documents, pool } = await post("progress");
    state.pool = pool;
    if (!$("measure")) return;
    const facts = [["Learned", number(documents)]];
    if (found) facts.push(["Held out", number(found.documents)], ["Accuracy", percent(found.accuracy)],
      ["95 % interval", `${percent(found.low, 0)} – ${percent(found.high, 0)}`], ["Log loss", found.log_loss.toFixed(3)]);
    $("measure").replaceChildren(...facts.map(([name, value]) => h("div", {}, name, h("b", {}, value))));
    $("corpus").textContent = corpusLine();
  } catch { /* the next answer tries again */ }
}

function corpusLine() {
  const { documents, sources } = state.pool;
  const reading = sources.find((source) => !source.done && !source.problem);
  const wrong = sources.find((source) => source.problem);
  const read = reading?.total ? ` (${percent(reading.read / reading.total, 0)} read)` : "";
  return `${number(documents)} documents${read}${wrong ? `. ${wrong.problem}` : ""}`;
}

async function drawCurve() {
  try {
    const { points, advice } = await post("curve");
    $("advice").textContent = advice;
    $("curve").replaceChildren(...(points.length > 1 ? [
      curve("Accuracy on the hold-out by number of labels", points),
      h("p", { class: "small" }, "Each point is a model learned and weighed anew from so many labels."),
    ] : []));
  } catch (error) {
    say(error.message, true);
  }
}

async function help() {
  state.people = await post("state").then((found) => found.people, () => state.people);
  const rows = [["1 … 9, 0, letters", "the class with this key"], ["Enter", "accept the suggestion"], ["z", "undo, without limit"],
    ["s", "skip"], ["n", "type a class, also a new one"], ["w", "why: color the words"], ["e", "what would each label change?"],
    ["/", "search"], ["h", "this help"]];
  const of = h("select", { id: "undo-of" }, state.people.map((each) => h("option", { value: each.name }, `${each.name} (${each.actions})`)));
  const many = (name, work) => h("button", { type: "button", onclick: () => { $("dialog").close(); work(); } }, name);
  openDialog("Keys and more",
    h("table", { "aria-label": "Keys" }, rows.map(([key, said]) => h("tr", {}, h("th", { scope: "row" }, h("kbd", {}, key)), h("td", {}, said)))),
    h("p", { class: "row" }, many("Undo everything I did today", () => undoMany("today")),
      state.people.length ? [h("label", { for: "undo-of" }, "Everything of "), of, many("Undo", () => undoMany("all", of.value))] : null),
    h("p", { class: "small" }, "A class keeps its key. One that has no documents can be taken back: ",
      state.classes.map((name) => many(`Remove ${name}`, async () => {
        try {
          state.classes = (await post("classes", { remove: name })).classes;
          drawClasses();
        } catch (error) {
          say(error.message, true);
        }
      }))));
}

// Why: words colored by what they say, and what stands behind a word.
import { post } from "./api.js";
import { h, newKey, openDialog, printable, say } from "./dom.js";

const WORD = /^\p{L}|^\p{N}/u;

function tint(element, odds, unit) {
  const strength = Math.min(Math.abs(odds) / unit, 1) * 0.5;
  element.style.backgroundColor = `rgba(var(--${odds > 0 ? "for" : "against"}), ${strength.toFixed(3)})`;
  return element;
}

export function colored(found, look) {
  const unit = Math.max(...found.pieces.map(([, odds]) => Math.abs(odds)), 0.01);
  const text = h("span", {}, found.pieces.map(([piece, odds]) =>
    WORD.test(piece)
      ? tint(h("span", { class: "word", title: `${odds > 0 ? "+" : ""}${odds.toFixed(2)}`, onclick: () => look(piece) }, printable(piece)), odds, unit)
      : printable(piece)));
  const words = new Map();
  for (const [piece, odds] of found.pieces) if (WORD.test(piece)) words.set(piece.toLowerCase(), (words.get(piece.toLowerCase()) ?? 0) + odds);
  const strongest = [...words].sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).slice(0, 12);
  const against = found.against === null ? "" : ` against ${found.against}`;
  const reasons = h("div", {},
    h("p", { class: "legend small" }, `Log odds for ${found.label}${against}: `,
      tint(h("span", {}, `for ${found.label}`), 1, 1), " ",
      found.against === null ? null : tint(h("span", {}, `for ${found.against}`), -1, 1),
      ` The prior says ${found.prior.toFixed(2)}.`, found.cut ? " The text is long: its beginning is explained." : ""),
    h("p", { class: "row" }, strongest.map(([word, odds]) =>
      tint(h("button", { type: "button", onclick: () => look(word) }, `${printable(word)} ${odds > 0 ? "+" : ""}${odds.toFixed(2)}`), odds, unit))));
  return { text, reasons };
}

export async function wordDialog(word, classes) {
  let found;
  try {
    found = await post("word", { word });
  } catch (error) {
    return say(error.message, true);
  }
  await new Promise((resolve) => {
    const change = async (body, told) => {
      try {
        await post("word", { word, key: newKey(), ...body });
        say(`${told} z undoes it.`);
      } catch (error) {
        say(error.message, true);
      }
      dialog.close();
    };
    const out = found.left_out.includes(word.toLowerCase());
    const dialog = openDialog(`“${printable(word)}”`,
      h("table", { "aria-label": "Counts of the word" }, h("thead", {}, h("tr", {}, ["Class", "Documents with it", "Of", "Times"].map((head) => h("th", { scope: "col" }, head)))),
        h("tbody", {}, found.counts.map((row) => h("tr", {}, h("th", { scope: "row" }, row.label),
          [row.with, row.documents, row.occurrences].map((value) => h("td", { class: "number" }, value)))))),
      h("p", { class: "row" }, "Teach it by itself: ",
        classes.map((name) => h("button", { type: "button", onclick: () => change({ label: name }, `“${word}” is taught as ${name}.`) }, String(name)))),
      h("p", {}, out ? "It is left out of the words; pieces of it may still count as letters."
        : h("button", { type: "button", onclick: () => change({ leave_out: true }, `“${word}” is left out.`) }, "Leave it out")),
      h("h3", {}, "Documents behind it"),
      h("ul", { class: "cards" }, found.documents.map((each) => h("li", {}, h("b", {}, String(each.label)), h("div", { class: "text", dir: "auto" }, printable(each.text))))));
    dialog.addEventListener("close", resolve, { once: true });
  });
}

// One key for each class: digits, then the letters that mean nothing else.
const KEYS = "1234567890abcdfgijkmopqrtuvxy";

export const keyOf = (place) => KEYS[place] ?? "";
export const placeOf = (key) => (key.length === 1 ? KEYS.indexOf(key.toLowerCase()) : -1);

// A key is for the page unless someone is typing, or holds it down.
export const isFree = (event) =>
  !event.ctrlKey && !event.metaKey && !event.altKey && !event.repeat &&
  !event.target.closest("input, select, textarea, dialog");

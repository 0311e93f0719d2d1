// Making elements and wording. Texts of models and data sets only ever become text nodes.

// make("p.note", "text", child, …): an element with classes, and its children; null ones are left out.
function make(what, ...children) {
  const [tag, ...classes] = what.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

function titleOf(name) {
  const spaced = String(name).replaceAll("_", " ").replace(/ [a-z]$/, (letter) => letter.toUpperCase());
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}

const count = new Intl.NumberFormat("en");

function plural(number, one, many) {
  return `${count.format(number)} ${number === 1 ? one : many}`;
}

function money(value) {
  if (value === 0) return "$0";
  if (value >= 1) return `$${value.toFixed(2)}`;
  return `$${Number(value.toPrecision(2)).toFixed(12).replace(/0+$/, "")}`;
}

function seconds(value) {
  return `${value.toFixed(value < 10 ? 2 : 1)} s`;
}

const STATES = {
  right: { mark: "✓", word: "right", style: "state-right" },
  wrong: { mark: "✗", word: "wrong", style: "state-wrong" },
  "not scored": { mark: "○", word: "not scored", style: "state-other" },
};

function stateOf(state) {
  return STATES[state] || { mark: "!", word: `no answer: ${state}`, style: "state-other" };
}

const EVENT_NAMES = {
  corrected: "wrong → right",
  misled: "right → wrong",
  kept: "kept its answer",
  changed: "changed otherwise",
  failed: "failed",
};
const EVENTS = ["spoke", "corrected", "misled", "kept", "changed", "failed"];

// `whole`: also what is not known is said.
function costLine(usage, whole) {
  if (!usage.calls && !usage.cache_hits) return "No calls.";
  const parts = [plural(usage.calls || 0, "call", "calls")];
  if (usage.cache_hits) parts.push(`${count.format(usage.cache_hits)} from cache`);
  if (usage.prompt_tokens !== undefined && usage.completion_tokens !== undefined) {
    parts.push(`${count.format(usage.prompt_tokens)} + ${count.format(usage.completion_tokens)} tokens`);
  } else if (whole) {
    parts.push("tokens not reported");
  }
  if (usage.cost_usd !== undefined) parts.push(money(usage.cost_usd));
  else if (whole) parts.push("cost not known");
  parts.push(seconds(usage.latency_s || 0));
  return parts.join(" · ");
}

// A value of any kind as an element: texts as they are, objects as a list of terms, arrays in order.
function valueOf(value) {
  if (Array.isArray(value)) {
    if (value.every((item) => item === null || typeof item !== "object")) return document.createTextNode(value.join(", ") || "–");
    if (value.every(isPassage)) return make("div", value.map(passageOf));
    if (value.length === 1) return valueOf(value[0]);
    return make("ol", value.map((item) => make("li", valueOf(item))));
  }
  if (isPassage(value)) return passageOf(value);
  if (value !== null && typeof value === "object") return fieldsOf(value);
  return document.createTextNode(value === null || value === "" ? "–" : String(value));
}

function fieldsOf(fields) {
  const entries = Object.entries(fields);
  if (!entries.length) return document.createTextNode("–");
  const nested = entries.some(([, value]) => value !== null && typeof value === "object");
  return make(nested ? "dl.fields.nested" : "dl.fields", entries.map(([name, value]) => [make("dt", titleOf(name)), make("dd", valueOf(value))]));
}

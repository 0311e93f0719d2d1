// The cases of the page: which are listed, which is open, and the address that says so.

const source = meta.served ? new ServerSource() : new FileSource();
const at = (id) => document.getElementById(id);
const state = { run: 0, number: null, rows: [], roles: [], filters: {}, text: "", found: null, listed: [] };
const list = new CaseList(at("list"), (number) => guard(() => openCase(number, { push: true, read: true })));
const wide = matchMedia("(min-width: 861px)");
let loading = 0;

// Filters: name, words, the values that the rows have, and whether a row has a value.
const SIMPLE = [
  ["state", "Result", (row) => [row.state]],
  ["outcome", "Ending", (row) => [row.outcome, row.contested && "contested"].filter(Boolean)],
  ["cause", "Blamed cause", (row) => (row.cause ? [row.cause] : [])],
];

function tagFilters() {
  const names = [...new Set(state.rows.flatMap((row) => Object.keys(row.tags || {})))].sort();
  return names.map((name) => [`tag.${name}`, titleOf(name), (row) => (row.tags && name in row.tags ? [row.tags[name]] : [])]);
}

// Three filters that speak of one turn: some turn in that round, of that role, in which that happened.
const OF_A_TURN = [
  ["event", "What happened", (event) => EVENTS[event[2]], (name) => EVENT_NAMES[name], (name) => name !== "spoke"],
  ["role", "Who", (event) => state.roles[event[1]], titleOf, () => true],
  ["round", "Round", (event) => String(event[0]), (round) => `Round ${round}`, () => true],
];

function passes(row, number) {
  const set = state.filters;
  if (state.found && !state.found.has(number)) return false;
  for (const [name, , values] of [...SIMPLE, ...state.tagFilters]) {
    if (set[name] && !values(row).includes(set[name])) return false;
  }
  const asked = OF_A_TURN.filter(([name]) => set[name]);
  return !asked.length || (row.events || []).some((event) => asked.every(([name, , value]) => value(event) === set[name]));
}

function refresh() {
  state.listed = [];
  state.rows.forEach((row, number) => { if (passes(row, number)) state.listed.push(number); });
  const all = meta.runs[state.run].cases;
  const partly = state.rows.length < all ? ` (${count.format(state.rows.length)} read so far)` : "";
  const active = Object.values(state.filters).filter(Boolean).length;
  at("status").textContent = active || state.text
    ? `${count.format(state.listed.length)} of ${plural(all, "case", "cases")}${partly}` : plural(all, "case", "cases") + partly;
  at("clear").hidden = !(active || state.text);
  at("filter-count").textContent = active ? ` (${active})` : "";
  list.show(state.rows, state.listed, "No case is like that. Clear the filters to see all.");
}

function buildFilters() {
  state.tagFilters = tagFilters();
  const simple = [...SIMPLE, ...state.tagFilters].map(([name, words, values]) => {
    const counts = new Map();
    for (const row of state.rows) for (const value of values(row)) counts.set(value, (counts.get(value) || 0) + 1);
    const options = [...counts].sort((a, b) => b[1] - a[1]).map(([value]) => [value, titleOf(value)]);
    return options.length > 1 ? select(name, words, options) : null;
  });
  const events = state.rows.flatMap((row) => row.events || []);
  const turns = OF_A_TURN.map(([name, words, value, wording, offered]) => {
    const values = [...new Set(events.map(value))].filter(offered);
    values.sort(name === "event" ? (a, b) => EVENTS.indexOf(a) - EVENTS.indexOf(b) : (a, b) => a.localeCompare(b, "en", { numeric: true }));
    return values.length ? select(name, words, values.map((value) => [value, wording(value)])) : null;
  });
  const ofATurn = make("fieldset", make("legend", "With a turn in which"), turns);
  at("selects").replaceChildren(...simple.filter(Boolean), ofATurn);
}

function select(name, words, options) {
  const box = make("select", make("option", "Any"), options.map(([value, word]) => {
    const option = make("option", word);
    option.value = value;
    return option;
  }));
  box.options[0].value = "";
  box.name = name;
  box.value = state.filters[name] || "";
  box.classList.toggle("set", Boolean(box.value));
  box.addEventListener("change", () => {
    state.filters[name] = box.value;
    box.classList.toggle("set", Boolean(box.value));
    refresh();
    remember();
  });
  return make(name === "event" ? "label.wide" : "label", words, box);
}

// The address: #run=1&case=…&event=corrected&text=…
function address() {
  const parts = new URLSearchParams();
  if (state.run) parts.set("run", state.run);
  if (state.text) parts.set("text", state.text);
  for (const [name, value] of Object.entries(state.filters)) if (value) parts.set(name, value);
  if (state.shown) parts.set("case", state.rows[state.number].id);
  return `#${parts}`;
}

function remember({ push = false } = {}) {
  if (address() === (location.hash || "#")) return;
  history[push ? "pushState" : "replaceState"](null, "", address());
}

async function follow() {
  const parts = new URLSearchParams(location.hash.slice(1));
  // Links to sections (#plots) say nothing about cases.
  if (location.hash.length > 1 && !location.hash.includes("=")) return;
  const run = Number(parts.get("run") || 0);
  const changed = run !== state.run || !state.rows.length;
  state.run = meta.runs[run] ? run : 0;
  state.filters = {};
  for (const [name, value] of parts) if (!["run", "case", "text"].includes(name)) state.filters[name] = value;
  at("search").value = parts.get("text") || "";
  if (changed) await load();
  buildFilters();
  await findText();
  const id = parts.get("case");
  const number = id === null ? -1 : state.rows.findIndex((row) => row.id === id);
  if (number >= 0) {
    await openCase(number, { read: true });
    at("workbench").scrollIntoView({ block: "start", behavior: "instant" });
  } else if (id !== null) {
    closeCase();
    say(`There is no case ${id} in this run.`);
  } else {
    closeCase();
    if (wide.matches && state.listed.length) await openCase(state.listed[0], {});
  }
}

async function load() {
  const mine = ++loading;
  state.rows = [];
  state.number = null;
  at("run").value = String(state.run);
  await source.rows(state.run, (rows, roles) => {
    if (mine !== loading) return;
    for (const row of rows) state.rows.push(row);
    state.roles = roles;
    state.tagFilters = tagFilters();
    refresh();
  });
}

async function findText() {
  state.text = at("search").value.trim();
  const text = state.text;
  const found = text ? await source.matches(state.run, text.toLowerCase()) : null;
  if (text !== state.text) return;
  state.found = found;
  refresh();
}

// `read`: the reader asked for this case, so the address names it and on a phone it covers the list.
async function openCase(number, { push = false, read = false, focus = false } = {}) {
  state.number = number;
  const run = state.run;
  list.choose(number);
  const debate = await source.debate(run, number);
  if (state.number !== number || state.run !== run) return;
  if (read) {
    state.shown = true;
    remember({ push: push && !document.body.classList.contains("reading") });
    document.body.classList.add("reading");
  }
  const pane = at("case");
  pane.replaceChildren(renderCase(debate, source.pictureOf(debate), barOf(debate, number), othersOf(debate)));
  pane.scrollTop = 0;
  if (focus || (read && !wide.matches)) pane.focus({ preventScroll: true });
}

function closeCase() {
  state.shown = false;
  document.body.classList.remove("reading");
}

function back() {
  closeCase();
  remember();
  at("list").focus({ preventScroll: true });
}

function say(words) {
  at("case").replaceChildren(make("p.empty", words));
}

function step(by) {
  if (!state.listed.length) return;
  const place = state.listed.indexOf(state.number);
  const next = place < 0 ? 0 : Math.min(state.listed.length - 1, Math.max(0, place + by));
  guard(() => openCase(state.listed[next], { read: true }));
}

function barOf(debate, number) {
  const place = state.listed.indexOf(number);
  const button = (words, style, action, off) => {
    const made = make(`button.${style}`, words);
    made.type = "button";
    made.disabled = Boolean(off);
    made.addEventListener("click", action);
    return made;
  };
  return make("div.case-bar",
    button("← Cases", "back", back),
    make("span.mono", debate.case_id),
    make("span", place < 0 ? "" : `${count.format(place + 1)} of ${count.format(state.listed.length)}`),
    button("Previous", "previous", () => step(-1), place <= 0),
    button("Next", "next", () => step(1), place < 0 || place === state.listed.length - 1));
}

// Links to the same case in the other runs.
function othersOf(debate) {
  return meta.runs.map((run, number) => {
    if (number === state.run) return null;
    const link = make("a", run.label);
    link.href = `#${new URLSearchParams({ run: number, case: debate.case_id })}`;
    return make("p", link);
  }).filter(Boolean);
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.closest("input, select, textarea");
  if (event.key === "Escape" && document.body.classList.contains("reading")) return back();
  if (typing) return;
  const inCases = event.target.closest("#workbench") && !event.target.closest("summary, button, .tools");
  const by = { j: 1, k: -1 }[event.key] ?? (inCases ? { ArrowDown: 1, ArrowUp: -1, ArrowRight: 1, ArrowLeft: -1 }[event.key] : undefined);
  // In an open case the arrows up and down scroll it.
  if (by !== undefined && !(event.target.closest("#case") && /Up|Down/.test(event.key))) {
    event.preventDefault();
    step(by);
  } else if (event.key === "/") {
    event.preventDefault();
    at("search").focus();
  } else if (event.key === "Enter" && event.target === at("list") && state.number !== null) {
    guard(() => openCase(state.number, { read: true, focus: true }));
  }
});

let typed;
at("search").addEventListener("input", () => {
  clearTimeout(typed);
  typed = setTimeout(() => guard(async () => { await findText(); remember(); }), 180);
});
at("clear").addEventListener("click", () => guard(async () => {
  state.filters = {};
  at("search").value = "";
  await findText();
  buildFilters();
  remember();
}));
at("run").addEventListener("change", () => { location.hash = new URLSearchParams({ run: at("run").value }); });
addEventListener("popstate", () => guard(follow));

// What goes wrong while reading (a server that was stopped) is said where the reader looks.
async function guard(action) {
  try {
    await action();
  } catch (error) {
    say(`This could not be read: ${error.message}`);
    console.error(error);
  }
}

at("run").append(...meta.runs.map((run, number) => {
  const option = make("option", run.label);
  option.value = String(number);
  return option;
}));
at("workbench").hidden = false;
at("filters").open = wide.matches;
wide.addEventListener("change", () => { at("filters").open = wide.matches; });
guard(async () => {
  await follow();
  if (!state.rows.length) { await load(); buildFilters(); if (wide.matches) await openCase(state.listed[0], {}); }
});

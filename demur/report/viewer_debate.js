// One case, read as a conversation beside its picture.

function renderCase(debate, picture, bar, others) {
  const { mark, word, style } = stateOf(debate.state);
  const label = debate.label === undefined ? null : `the truth is ${[].concat(debate.label).join(" or ")}`;
  const said = debate.answer === undefined
    ? [make(`b.${style}`, `${mark} No answer: ${debate.state}`)]
    : ["Answered ", make("b", debate.answer), " ", make(`b.${style}`, `${mark} ${word}`)];
  const tags = [debate.outcome, debate.contested && "judge contradicted itself",
    ...Object.entries(debate.tags || {}).map(([name, value]) => `${name}: ${value}`)].filter(Boolean);
  const article = make("div.case", bar,
    make("h3.question", debate.question),
    make("p.result", said, label ? make("span.soft", ` · ${label}`) : null),
    tags.length ? make("div.tags", tags.map((tag) => make("span.tag", tag))) : null,
    debate.failure ? make("p.result.state-other", debate.failure) : null,
    debate.raw && !(debate.turns || []).some((turn) => turn.failure) ? make("pre", debate.raw) : null,
    make("div.body",
      make("div.aside",
        debate.image || picture.src ? pictureOf(debate, picture) : null,
        documentsOf(debate),
        interpretationOf(debate),
        costOf(debate),
        others.length ? make("section.panel", make("h3", "The same case in other runs"), others) : null),
      conversationOf(debate)));
  if (debate.question.length > 140) article.classList.add("long");
  return article;
}

function pictureOf(debate, { src, missing }) {
  if (!src) return make("p.no-picture", missing || "The picture is not here.");
  const image = make("img");
  image.alt = `Picture ${debate.image || ""} that the question is about`;
  image.src = src;
  const frame = make("div.picture", image);
  const legend = make("p.legend");
  const claim = (debate.interpretation || {}).hallucinated ? ["blamed", "Blamed region"] : ["blamed.described", "Described region"];
  for (const [kind, words] of [claim, ["true", "True region"]]) {
    const found = (debate.boxes || {})[kind.split(".")[0]];
    if (!found) continue;
    const [left, top, right, bottom] = found.box;
    const box = make(`div.box.${kind}`);
    Object.assign(box.style, {
      left: `${100 * left}%`, top: `${100 * top}%`, width: `${100 * (right - left)}%`, height: `${100 * (bottom - top)}%`,
    });
    box.dataset.region = found.region;
    frame.append(box);
    if (legend.childNodes.length) legend.append(make("br"));
    legend.append(make(`i.${kind}`), `${words}: ${found.region}`);
  }
  return make("figure", frame, legend.childNodes.length ? legend : null);
}

function interpretationOf(debate) {
  const found = debate.interpretation;
  const truth = Object.fromEntries(Object.entries(debate.truth || {}).filter(([, value]) => value !== null));
  if (!found && !Object.keys(truth).length) return null;
  const fields = {};
  if (found) {
    fields.hallucinated = found.hallucinated ? "yes" : "no, the object is there";
    fields["claimed by"] = (found.claimed_by || []).map(titleOf).join(", ");
    if (found.cause) fields.cause = found.cause;
    if (found.region) fields.region = found.region;
    if (found.actual_object) fields["really there"] = found.actual_object;
    if (found.reason) fields.why = found.reason;
  }
  return make("section.panel",
    found ? [make("h3", "Interpretation"), fieldsOf(fields)] : null,
    Object.keys(truth).length ? [make("h3", "Known truth"), fieldsOf(truth)] : null);
}

function costOf(debate) {
  const panel = make("section.panel", make("h3", "Cost"), make("p", costLine(debate.usage || {}, true)));
  if (debate.confidence !== undefined) {
    const source = debate.confidence_source ? ` (${debate.confidence_source})` : "";
    panel.append(make("p", `Confidence ${(100 * debate.confidence).toFixed(1)} %${source}`));
  }
  return panel;
}

function conversationOf({ turns = [], documents = [], left = [] }) {
  const box = make("div.conversation");
  const sides = [...new Set(turns.map(sideOf).filter((side) => !isJudge(side)))].sort();
  const cardsOf = (turn) => {
    const style = isJudge(turn.role) ? "judge" : `s${sides.indexOf(sideOf(turn)) % 4}`;
    return [...(turn.again || []).map((earlier) => turnOf(earlier, `${style}.earlier`, true)), turnOf(turn, style, false)];
  };
  const told = new Set();
  let round = null;
  for (const turn of turns) {
    const about = documentOf(turn);
    if (about !== null) {
      if (told.has(about)) continue;
      if (!told.size) box.append(make("p.round-title", "About each document"));
      told.add(about);
      round = null;
      const use = documents.find((one) => one.id === about);
      box.append(documentBlock(about, use, turns.filter((other) => documentOf(other) === about).flatMap(cardsOf)));
      continue;
    }
    if (turn.round !== round) {
      round = turn.round;
      box.append(make("p.round-title", `Round ${round}`));
    }
    box.append(...cardsOf(turn));
  }
  if (left.length) {
    box.append(folded(`${plural(left.length, "turn", "turns")} of an earlier try, which the debate did not come to again`,
      left.map((turn) => turnOf(turn, "judge.earlier", true))));
  }
  if (!turns.length) box.append(make("p.empty", "Nobody spoke in this case, or its turns are not in the run folder."));
  return box;
}

function sideOf(turn) {
  return turn.branch && documentOf(turn) === null ? `${turn.role} ${turn.branch}` : turn.role;
}

function stageLine(turn) {
  return (documentOf(turn) === null ? [turn.stage, turn.branch] : [turn.stage, `round ${turn.round}`]).filter(Boolean).join(", ");
}

function isJudge(role) {
  return role.split(" ")[0].split("_").pop() === "judge";
}

function turnOf(turn, style, superseded) {
  const { argument, reason = argument, answer, ...rest } = turn.output || {};
  const state = turn.state && !turn.failure ? stateOf(turn.state) : null;
  const card = make(`section.turn.${style}`,
    make("header",
      make("span.who", titleOf(turn.role)),
      make("span.stage", stageLine(turn)),
      answer === undefined ? null : make("span.says", `${answer} `, state ? make(`span.${state.style}`, `${state.mark} ${state.word}`) : null)),
    reason ? make("blockquote", String(reason)) : null,
    Object.keys(rest).length ? fieldsOf(rest) : null,
    turn.event === "corrected" || turn.event === "misled" || turn.event === "changed"
      ? make("p.changed", "Changed its answer: ", make(`b.${stateOf(turn.state).style}`, `${turn.before} → ${turn.state}`)) : null);
  if (turn.failure) {
    const asked = superseded ? ", and was asked again" : "";
    card.append(make("p.failed", `Failed (${turn.failure.kind})${asked}: ${turn.failure.reason}`));
    if (turn.failure.raw) card.append(make("pre", turn.failure.raw));
  }
  if (turn.told) card.append(folded("What it was told", fieldsOf(turn.told)));
  const attempts = turn.attempts || [];
  if (attempts.length > 1 || attempts.some((attempt) => attempt.error || attempt.reasoning)) {
    card.append(folded(plural(attempts.length, "attempt", "attempts"), make("ol", attempts.map(attemptOf))));
  }
  const meta = [turn.model, attempts.length ? costLine(turn.usage || {}) : null, turn.replayed && "replayed"].filter(Boolean);
  if (meta.length) card.append(make("p.meta", meta.join(" · ")));
  return card;
}

function attemptOf(attempt) {
  const facts = [seconds(attempt.latency_s), attempt.from_cache && "from cache", attempt.finish_reason].filter(Boolean);
  return make("li", facts.join(" · "),
    attempt.error ? make("p.failed", attempt.error) : null,
    attempt.reasoning ? [make("p.soft", "Reasoning:"), make("pre", attempt.reasoning)] : null,
    attempt.text ? make("pre", attempt.text) : null);
}

function folded(title, content) {
  return make("details", make("summary", title), content);
}

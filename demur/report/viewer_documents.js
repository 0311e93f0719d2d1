// Documents: passages that were retrieved, folded, and the debates about single documents, each together.

function isPassage(value) {
  return value !== null && typeof value === "object" && typeof value.title === "string" && typeof value.text === "string";
}

function passageOf(passage) {
  const facts = [passage.id, typeof passage.score === "number" && `score ${passage.score.toPrecision(3)}`];
  return make("details.passage",
    make("summary", passage.title || passage.id || "Without a title", make("span.soft", ` ${facts.filter(Boolean).join(" · ")}`)),
    make("p", passage.text));
}

// What a turn is about, if it is a document: the id in its branch.
function documentOf(turn) {
  const part = (turn.branch || "").split(",").find((part) => part.startsWith("document="));
  return part === undefined ? null : part.slice("document=".length);
}

function verdictOf(use) {
  return use.kept ? make("b.state-right", "✓ kept") : make("b.state-wrong", "✗ dropped");
}

// The documents that were found, and what became of each.
function documentsOf(debate) {
  const uses = debate.documents || [];
  if (!uses.length) return debate.no_documents ? make("section.panel", make("h3", "Documents"), make("p", "None was found.")) : null;
  return make("section.panel", make("h3", "Documents"),
    make("ul.documents", uses.map((use) => make(use.kept ? "li" : "li.dropped",
      make("span", use.title || use.id), " ", verdictOf(use),
      use.corruption ? make("span.tag", `planted error: ${use.corruption}`) : null))));
}

// All turns about one document in one foldable block.
function documentBlock(id, use, cards) {
  const title = use ? use.title || use.id : `Document ${id}`;
  return make(use && !use.kept ? "details.document.dropped" : "details.document",
    make("summary", title, " ", use ? verdictOf(use) : null, make("span.soft", ` ${plural(cards.length, "turn", "turns")}`)),
    cards);
}

"use strict";
// Where the page's cases come from: the blocks of data in this file, or the local server.
//
// Both give rows(run, onPage), debate(run, number), matches(run, text) and pictureOf(debate). A number is the place
// of a case in its run. `meta` says: served, chunk (debates in a block), runs ({label, cases}).

const meta = readBlock("meta");

function readBlock(id) {
  return JSON.parse(document.getElementById(id).textContent);
}

class FileSource {
  constructor() {
    this.blocks = new Map();
    this.texts = new Map();
  }

  async rows(run, onPage) {
    const block = readBlock(`rows-${run}`);
    onPage(block.rows, block.roles);
  }

  async debate(run, number) {
    const id = `debates-${run}-${Math.floor(number / meta.chunk)}`;
    if (!this.blocks.has(id)) {
      if (this.blocks.size > 20) this.blocks.delete(this.blocks.keys().next().value);
      this.blocks.set(id, readBlock(id));
    }
    return this.blocks.get(id)[number % meta.chunk];
  }

  async matches(run, text) {
    if (!this.texts.has(run)) {
      const texts = [];
      for (let start = 0; start < meta.runs[run].cases; start += meta.chunk) {
        const debates = readBlock(`debates-${run}-${Math.floor(start / meta.chunk)}`);
        for (const debate of debates) texts.push(textsOf(debate).join("\n").toLowerCase());
      }
      this.texts.set(run, texts);
    }
    const found = new Set();
    this.texts.get(run).forEach((all, number) => { if (all.includes(text)) found.add(number); });
    return found;
  }

  pictureOf(debate) {
    const { block, missing } = debate.picture;
    return { src: block ? readBlock(block) : null, missing };
  }
}

class ServerSource {
  async rows(run, onPage) {
    for (let from = 0; from < meta.runs[run].cases;) {
      const page = await this.ask(`api/rows?run=${run}&from=${from}`);
      onPage(page.rows, page.roles);
      from += page.rows.length;
      if (!page.rows.length) break;
    }
  }

  debate(run, number) {
    return this.ask(`api/debate?run=${run}&number=${number}`);
  }

  async matches(run, text) {
    return new Set((await this.ask(`api/search?run=${run}&text=${encodeURIComponent(text)}`)).numbers);
  }

  pictureOf(debate) {
    return { src: debate.picture.src || null, missing: debate.picture.missing };
  }

  async ask(path) {
    const response = await fetch(path);
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.error || `the server answered ${response.status}`);
    return answer;
  }
}

// Every text of a case but what the roles were told; `search_text` in cases.py is the same rule.
function textsOf(value) {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(textsOf);
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([name, inner]) => (UNSEARCHED.has(name) ? [] : textsOf(inner)));
}

const UNSEARCHED = new Set(["told", "model", "picture"]);

// The list of cases. Only the rows in sight are in the page, so that its length does not matter.

class CaseList {
  constructor(element, onOpen) {
    this.element = element;
    this.onOpen = onOpen;
    this.rows = [];
    this.numbers = [];
    this.chosen = null;
    this.space = make("div");
    this.space.setAttribute("role", "presentation");
    this.drawn = "";
    element.append(this.space);
    element.addEventListener("scroll", () => this.draw(), { passive: true });
    element.addEventListener("click", (event) => {
      const row = event.target.closest(".entry");
      if (row) onOpen(Number(row.dataset.number));
    });
    new ResizeObserver(() => this.draw()).observe(element);
  }

  // `numbers`: the places in `rows` that are listed, in order.
  show(rows, numbers, nothing) {
    this.rows = rows;
    this.numbers = numbers;
    this.nothing = nothing;
    this.drawn = "";
    this.draw();
  }

  choose(number) {
    this.chosen = number;
    const place = this.numbers.indexOf(number);
    if (place >= 0) {
      const top = place * CaseList.HEIGHT;
      const box = this.element;
      if (top < box.scrollTop) box.scrollTop = top;
      else if (top + CaseList.HEIGHT > box.scrollTop + box.clientHeight) {
        box.scrollTop = top + CaseList.HEIGHT - box.clientHeight;
      }
    }
    this.drawn = "";
    this.draw();
  }

  draw() {
    const first = Math.max(0, Math.floor(this.element.scrollTop / CaseList.HEIGHT) - 6);
    const last = Math.min(this.numbers.length, first + Math.ceil(this.element.clientHeight / CaseList.HEIGHT) + 12);
    const drawn = `${first}-${last}`;
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    this.space.style.height = `${this.numbers.length * CaseList.HEIGHT}px`;
    const shown = [];
    for (let place = first; place < last; place++) shown.push(this.row(place));
    if (!this.numbers.length) shown.push(make("p.empty", this.nothing));
    this.space.replaceChildren(...shown);
    const active = document.getElementById(`row-${this.chosen}`);
    if (active) this.element.setAttribute("aria-activedescendant", active.id);
    else this.element.removeAttribute("aria-activedescendant");
  }

  row(place) {
    const number = this.numbers[place];
    const { question, answer, state, outcome, contested } = this.rows[number];
    const { mark, word, style } = stateOf(state);
    const said = answer === undefined ? word : `${answer}, ${word}`;
    const ending = [outcome, contested && "contested"].filter(Boolean).join(", ");
    const row = make("div.entry",
      make("div", question),
      make("div.sub", make(`b.${style}`, `${mark} ${said}`), ending ? ` · ${ending}` : null));
    row.id = `row-${number}`;
    row.dataset.number = number;
    row.style.top = `${place * CaseList.HEIGHT}px`;
    row.setAttribute("role", "option");
    row.setAttribute("aria-selected", String(number === this.chosen));
    row.setAttribute("aria-posinset", place + 1);
    row.setAttribute("aria-setsize", this.numbers.length);
    return row;
  }
}
CaseList.HEIGHT = 62;

// Mode annotate: people mark what differs, tag it and note it. The export is what a data set is built from.

const FORMAT = "diffspot-hf/annotations";
const blank = (row) => ({
  completed: false,
  annotations: row.annotations.map((issue) => ({ ...issue, box_a: readBox(issue.box_a), box_b: readBox(issue.box_b) })),
});

const mode = {
  views: ["side", "swipe", "blink"],
  current: null,

  start(viewer) {
    this.viewer = viewer;
    this.editor = new BoxEditor(viewer, {
      boxes: () => this.boxes(),
      select: (number) => this.select(number),
      create: (side, box) => this.create(side, box),
      change: (side, number, box, done) => this.change(side, number, box, done),
    });
  },
  enter() {
    this.current = null;
  },
  entry(row = app.row) {
    return store.entry(row.id) || blank(row);
  },
  issues() {
    return this.entry().annotations;
  },
  boxes() {
    return this.issues().flatMap((issue, number) =>
      SIDES.map((side) => ({ number, side, box: issue[`box_${side}`], current: number === this.current })),
    );
  },

  // Every change goes through here, each a step that can be undone.
  edit(change, group) {
    const entry = structuredClone(this.entry());
    change(entry);
    steps.take([[app.row.id, entry]], group);
  },
  add(boxes) {
    this.edit((entry) => entry.annotations.push({ labels: [], note: "", box_a: null, box_b: null, ...boxes }));
    this.current = this.issues().length - 1;
    app.refresh();
  },
  select(number) {
    if (number === this.current) return;
    this.current = number;
    app.refresh();
  },
  create(side, box) {
    const image = this.viewer.panes[SIDES.indexOf(side)].image;
    const key = `box_${side}`;
    if (this.current === null || this.issues()[this.current][key]) return this.add({ [key]: snapped(box, image) });
    this.edit((entry) => (entry.annotations[this.current][key] = snapped(box, image)));
    app.refresh();
  },
  change(side, number, box, done) {
    const image = this.viewer.panes[SIDES.indexOf(side)].image;
    if (!done) return;
    this.edit((entry) => (entry.annotations[number][`box_${side}`] = snapped(box, image)));
    app.refresh();
  },
  addByKey() {
    const box = snapped({ x: 0.4, y: 0.45, w: 0.2, h: 0.1 }, this.viewer.panes[0].image);
    this.add({ box_a: box, box_b: { ...box } });
    this.focusBox("a");
  },
  copy(to) {
    const from = to === "a" ? "b" : "a";
    if (this.current === null || !this.issues()[this.current][`box_${from}`]) return;
    this.edit((entry) => (entry.annotations[this.current][`box_${to}`] = { ...entry.annotations[this.current][`box_${from}`] }));
    app.refresh();
  },
  focusBox(side) {
    this.viewer.panes[SIDES.indexOf(side)].layer.querySelector(`[data-key="${side}${this.current}"]`)?.focus();
  },
  dropBox(side) {
    if (this.current === null) return;
    this.edit((entry) => (entry.annotations[this.current][`box_${side}`] = null));
    app.refresh();
  },
  remove() {
    if (this.current === null) return;
    this.edit((entry) => entry.annotations.splice(this.current, 1));
    this.current = null;
    app.refresh();
  },
  toggleTag(tag) {
    if (this.current === null || !tag) return;
    this.edit((entry) => {
      const issue = entry.annotations[this.current];
      issue.labels = issue.labels.includes(tag) ? issue.labels.filter((other) => other !== tag) : [...issue.labels, tag];
    });
    app.refresh();
  },
  complete() {
    const done = !this.entry().completed;
    this.edit((entry) => (entry.completed = done));
    app.refresh();
    if (done) app.nextOpen();
  },

  draw() {
    this.editor.draw();
  },
  panel() {
    const entry = this.entry();
    const list = entry.annotations.map((issue, number) => this.card(issue, number));
    return [
      make("div", { class: "row" },
        make("button", { type: "button", class: "strong", onclick: () => this.addByKey() }, "New issue", keyCap("N"))),
      list.length ? make("ol", { class: "cards" }, list)
        : make("p", { class: "hint" }, "Drag on a picture to mark a difference, or press N. A completed screen without an issue is a control."),
      make("label", { class: "check big" },
        make("input", { type: "checkbox", checked: entry.completed, onchange: () => this.complete() }),
        "This screen is completed", keyCap("D")),
    ];
  },
  card(issue, number) {
    const current = number === this.current;
    const head = make("button", { type: "button", class: "cardhead", "aria-expanded": String(current), onclick: () => this.select(current ? null : number) },
      make("b", {}, String(number + 1)), " ", issue.labels.length ? issue.labels.join(", ") : "no tag yet");
    const problems = [issue.labels.length ? null : "needs a tag", isBox(issue.box_a) || isBox(issue.box_b) ? null : "needs a box"].filter(Boolean);
    if (!current)
      return make("li", { class: "card" }, head, issue.note ? make("p", { class: "note" }, issue.note) : null, problems.length ? make("p", { class: "warn" }, problems.join(", ")) : null);
    const tags = [...data.tags, ...issue.labels.filter((label) => !data.tags.includes(label))];
    return make("li", { class: "card current" }, head,
      make("div", { class: "tags", role: "group", "aria-label": "Tags" }, tags.map((tag, i) =>
        make("button", { type: "button", class: "tag", "data-tag": tag, "aria-pressed": String(issue.labels.includes(tag)), onclick: () => this.toggleTag(tag) }, tag, i < 9 ? keyCap(String(i + 1)) : null))),
      noteField("What is wrong? One sentence.", issue.note, (text, group) => this.edit((entry) => (entry.annotations[number].note = text), group), { id: "note" }),
      make("div", { class: "row" }, SIDES.map((side) => {
        const has = isBox(issue[`box_${side}`]);
        return make("span", { class: "pairctl" }, `Box ${side.toUpperCase()}`,
          make("button", { type: "button", onclick: () => (has ? this.focusBox(side) : this.copy(side)) }, has ? "edit" : "copy", keyCap(side.toUpperCase())),
          has ? make("button", { type: "button", "aria-label": `Remove the box on side ${side.toUpperCase()}`, onclick: () => this.dropBox(side) }, "×") : null);
      })),
      problems.length ? make("p", { class: "warn" }, problems.join(", ")) : null,
      make("button", { type: "button", class: "danger", onclick: () => this.remove() }, "Delete issue", keyCap("Del")));
  },
  key(pressed) {
    const tag = /^[1-9]$/.test(pressed) && data.tags[Number(pressed) - 1];
    if (tag) return this.toggleTag(tag), true;
    if (SIDES.includes(pressed)) {
      if (this.current === null) return false;
      if (!isBox(this.issues()[this.current][`box_${pressed}`])) this.copy(pressed);
      return this.focusBox(pressed), true;
    }
    const act = {
      n: () => this.addByKey(), d: () => this.complete(), Delete: () => this.remove(), Backspace: () => this.remove(),
      Escape: () => this.select(null), t: () => document.getElementById("note")?.focus(),
    }[pressed];
    if (pressed === "]" || pressed === "[") {
      const count = this.issues().length;
      if (!count) return false;
      const step = pressed === "]" ? 1 : -1;
      return this.select(this.current === null ? (step > 0 ? 0 : count - 1) : (this.current + step + count) % count), true;
    }
    return act ? (act(), true) : false;
  },
  help: [
    ["N", "new issue"], ["A, B", "edit the box on side A or B, or copy it from the other side"], ["arrows", "move the focused box by one pixel, with Shift by ten"],
    ["Alt + arrows", "resize it"], ["1 … 9", "tags"], ["T", "note; Esc leaves it"], ["[ ]", "previous, next issue"], ["Del", "delete issue"], ["D", "completed, and on; again: not completed"],
  ],

  status(row) {
    const entry = store.entry(row.id);
    return entry?.completed ? "done" : entry?.annotations.length ? "partly" : "";
  },
  progress() {
    return [data.rows.filter((row) => this.status(row) === "done").length, data.rows.length, "screens"];
  },
  exported() {
    const screen = (row) => {
      const { completed, annotations } = this.entry(row);
      return { id: row.id, image_a: row.names[0], image_b: row.names[1], completed, annotations };
    };
    const text = () => JSON.stringify({ format: FORMAT, version: 1, screens: data.rows.map(screen) }, null, 1);
    return [["annotations.json", "Export JSON", text]];
  },
  imported(given) {
    const screens = checkedExport(given, "screens", FORMAT);
    const changes = new Map();
    let [used, cut, lost, replaced] = [0, 0, 0, 0];
    const read = (box) => {
      const found = readBox(box);
      if (!found && box !== null && box !== undefined) lost += 1;
      if (found && Object.keys(found).some((k) => found[k] !== box[k])) cut += 1;
      return found;
    };
    for (const screen of screens) {
      const row = data.rows.find((other) => other.id === screen?.id);
      if (!row) continue;
      used += 1;
      const annotations = (Array.isArray(screen.annotations) ? screen.annotations : []).map((issue) => ({
        labels: (Array.isArray(issue?.labels) ? issue.labels : []).filter((label) => typeof label === "string"),
        note: typeof issue?.note === "string" ? issue.note : "",
        box_a: read(issue?.box_a),
        box_b: read(issue?.box_b),
      }));
      changes.set(row.id, { completed: screen.completed === true, annotations });
    }
    for (const row of data.rows) {
      const [here, there] = [this.entry(row), changes.get(row.id)];
      if (same(here, there)) changes.delete(row.id);
      else if (there && !same(here, blank(row))) replaced += 1;
    }
    const boxes = [lost && `boxes left out: ${lost} (outside the picture or no box)`, cut && `boxes cut to the picture: ${cut}`].filter(Boolean);
    return { changes, replaced, says: [`${used} of ${screens.length} screens read`, ...boxes].join(", ") };
  },
};

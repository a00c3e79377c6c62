// Mode annotate: people mark what differs, tag it and note it. The export is what a data set is built from.

const FORMAT = "diffspot-hf/annotations";
const blank = (row) => ({ completed: false, annotations: row.annotations.map((issue) => ({ ...issue, labels: [...issue.labels] })) });

const mode = {
  views: ["side", "swipe", "blink"],
  current: null,
  past: [],

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
    this.past = [];
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

  // Every change goes through here: the row before it can be had back with undo.
  edit(change, remember = true) {
    const entry = structuredClone(this.entry());
    if (remember) this.past.push(JSON.stringify(this.entry()));
    if (this.past.length > 100) this.past.shift();
    change(entry);
    store.put(app.row.id, entry);
  },
  undo() {
    const before = this.past.pop();
    if (!before) return;
    store.put(app.row.id, JSON.parse(before));
    this.current = null;
    app.refresh();
  },
  select(number) {
    if (number === this.current) return;
    this.current = number;
    app.refresh();
  },
  create(side, box) {
    const image = this.viewer.panes[SIDES.indexOf(side)].image;
    const there = this.current !== null && this.issues()[this.current][`box_${side}`];
    if (this.current === null || there) {
      this.edit((entry) => entry.annotations.push({ labels: [], note: "", box_a: null, box_b: null }));
      this.current = this.issues().length - 1;
      this.edit((entry) => (entry.annotations[this.current][`box_${side}`] = snapped(box, image)), false);
    } else this.edit((entry) => (entry.annotations[this.current][`box_${side}`] = snapped(box, image)));
    app.refresh();
  },
  change(side, number, box, done) {
    const image = this.viewer.panes[SIDES.indexOf(side)].image;
    if (!done) return;
    this.edit((entry) => (entry.annotations[number][`box_${side}`] = snapped(box, image)));
    app.refresh();
  },
  addByKey() {
    this.current = null;
    this.create("a", { x: 0.4, y: 0.45, w: 0.2, h: 0.1 });
    this.copy("b");
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
        make("button", { type: "button", class: "strong", onclick: () => this.addByKey() }, "New issue", keyCap("N")),
        make("button", { type: "button", onclick: () => this.undo(), disabled: !this.past.length }, "Undo", keyCap("U"))),
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
      noteField("What is wrong? One sentence.", issue.note, (text) => this.edit((entry) => (entry.annotations[number].note = text), false), { id: "note" }),
      make("div", { class: "row" }, SIDES.map((side) => {
        const has = isBox(issue[`box_${side}`]);
        return make("span", { class: "pairctl" }, `Box ${side.toUpperCase()}`,
          make("button", { type: "button", onclick: () => (has ? this.focusBox(side) : this.copy(side)) }, has ? "edit" : "copy", keyCap(side.toUpperCase())),
          has ? make("button", { type: "button", "aria-label": `Remove the box on side ${side.toUpperCase()}`, onclick: () => this.dropBox(side) }, "×") : null);
      })),
      problems.length ? make("p", { class: "warn" }, problems.join(", ")) : null,
      make("button", { type: "button", class: "danger", onclick: () => this.remove() }, "Delete issue", keyCap("Del")));
  },
  key(event) {
    const tag = /^[1-9]$/.test(event.key) && data.tags[Number(event.key) - 1];
    if (tag) return this.toggleTag(tag), true;
    const side = event.key.toLowerCase();
    if (side === "a" || side === "b") {
      if (this.current === null) return false;
      if (!isBox(this.issues()[this.current][`box_${side}`])) this.copy(side);
      return this.focusBox(side), true;
    }
    const act = {
      n: () => this.addByKey(), u: () => this.undo(), d: () => this.complete(), Delete: () => this.remove(), Backspace: () => this.remove(),
      Escape: () => this.select(null), t: () => document.getElementById("note")?.focus(),
    }[event.key];
    if (event.key === "]" || event.key === "[") {
      const count = this.issues().length;
      if (!count) return false;
      const step = event.key === "]" ? 1 : -1;
      return this.select(this.current === null ? (step > 0 ? 0 : count - 1) : (this.current + step + count) % count), true;
    }
    return act ? (act(), true) : false;
  },
  help: [
    ["N", "new issue"], ["A, B", "edit the box on side A or B, or copy it from the other side"], ["arrows", "move the focused box by one pixel, with Shift by ten"],
    ["Alt + arrows", "resize it"], ["1 … 9", "tags"], ["T", "note; Esc leaves it"], ["[ ]", "previous, next issue"], ["Del", "delete issue"], ["U", "undo"], ["D", "completed, and on"],
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
    if (given.format !== FORMAT || !Array.isArray(given.screens)) throw new Error(`its format is not ${FORMAT}`);
    let used = 0;
    for (const screen of given.screens) {
      if (!data.rows.some((row) => row.id === screen?.id)) continue;
      const annotations = (Array.isArray(screen.annotations) ? screen.annotations : []).map((issue) => ({
        labels: (Array.isArray(issue?.labels) ? issue.labels : []).filter((label) => typeof label === "string"),
        note: typeof issue?.note === "string" ? issue.note : "",
        box_a: isBox(issue?.box_a) ? issue.box_a : null,
        box_b: isBox(issue?.box_b) ? issue.box_b : null,
      }));
      store.put(screen.id, { completed: screen.completed === true, annotations });
      used += 1;
    }
    this.enter();
    return `${used} of ${given.screens.length} screens read`;
  },
};

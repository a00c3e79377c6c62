// Mode answer: a person sits the test. One item after the other, against the clock or without, no way back; the page
// holds no key. A reload goes on where it was, with the time that was left.

const FORMAT = "diffspot-hf/answers";
const LETTERS = "ABCDEFGHIJ";
const TICK = 100; // milliseconds

const mode = {
  views: ["side"],
  linear: true,
  chosen: null,
  timer: 0,

  start(viewer) {
    this.viewer = viewer;
    this.session = store.state.session;
    this.timer = setInterval(() => this.tick(), TICK);
  },
  get running() {
    return Boolean(this.session.started) && !this.finished;
  },
  get finished() {
    return data.rows.every((row) => store.entry(row.id));
  },
  begin(name, limit) {
    Object.assign(this.session, { started: true, name: name.trim() || "human", limit, spent: 0 });
    store.touch();
    app.goTo(data.rows.findIndex((row) => !store.entry(row.id)));
  },
  enter() {
    this.chosen = this.session.chosen || null;
  },
  tick() {
    if (!this.running || store.entry(app.row.id) || !this.viewer.ready || document.hidden) return;
    this.session.spent = (this.session.spent || 0) + TICK / 1000;
    if (Math.round(this.session.spent * 10) % 10 === 0) store.touch();
    if (this.session.limit && this.session.spent >= this.session.limit) return this.submit(true);
    this.showClock();
  },
  showClock() {
    const clock = document.getElementById("clock");
    if (!clock) return;
    const { limit, spent } = this.session;
    clock.textContent = limit ? `${Math.max(0, Math.ceil(limit - spent))} s left` : `${Math.floor(spent)} s`;
    clock.classList.toggle("late", Boolean(limit) && limit - spent <= 10);
  },
  pick(letter) {
    this.chosen = this.session.chosen = letter;
    store.touch();
    app.refresh();
  },
  // What is chosen when the time is up counts; nothing chosen is an empty prediction.
  submit(late = false) {
    if (!this.running || (!this.chosen && !late)) return;
    const seconds = Math.round((this.session.spent || 0) * 10) / 10;
    store.put(app.row.id, { prediction: this.chosen || "", seconds, timed_out: late });
    Object.assign(this.session, { spent: 0, chosen: null });
    this.chosen = null;
    store.save();
    const next = data.rows.findIndex((row) => !store.entry(row.id));
    if (next >= 0) app.goTo(next);
    else app.refresh();
  },

  draw() {
    this.viewer.element.classList.toggle("veiled", !this.running);
    this.viewer.mark([]);
  },
  panel() {
    if (this.finished) return [make("p", { class: "question" }, "All items are answered. Thank you."), make("p", {}, "Export the predictions now: they lie in this browser only.")];
    if (!this.running) return this.welcome();
    const row = app.row;
    return [
      make("p", { id: "clock", class: "clock", role: "timer" }),
      make("p", { class: "question" }, row.question),
      make("div", { class: "choices tall", role: "radiogroup", "aria-label": "Options" }, row.options.map((option, i) =>
        make("button", { type: "button", class: "choice option", role: "radio", "data-value": LETTERS[i], "aria-checked": String(this.chosen === LETTERS[i]), onclick: () => this.pick(LETTERS[i]) },
          keyCap(LETTERS[i]), make("span", {}, option)))),
      make("button", { type: "button", class: "strong", disabled: !this.chosen, onclick: () => this.submit() }, "Submit", keyCap("Enter")),
    ];
  },
  welcome() {
    const name = make("input", { type: "text", id: "name", maxlength: "80", placeholder: "a name for the export", value: this.session.name || "" });
    const limits = data.options.limits.map((limit) => [String(limit), limit ? `${limit} s an item` : "No limit"]);
    let limit = limits[0][0];
    const group = make("div", { class: "choices tall" }, limits.map(([value, label]) =>
      make("label", { class: "check" }, make("input", { type: "radio", name: "limit", value, checked: value === limit, onchange: () => (limit = value) }), label)));
    return [
      make("p", { class: "question" }, `${data.rows.length} items: two pictures, one question each.`),
      make("p", { class: "hint" }, "Choose with the keys A to E, send with Enter. There is no way back. The clock runs while the pictures are shown; an item whose time is up is closed with what is chosen."),
      make("label", { class: "field" }, "Name", name), group,
      make("button", { type: "button", class: "strong", onclick: () => this.begin(name.value, limit === "null" ? null : Number(limit)) }, "Start"),
    ];
  },
  key(pressed) {
    if (!this.running) return false;
    const letter = pressed.toUpperCase();
    const place = LETTERS.indexOf(letter);
    if (letter.length === 1 && place >= 0 && place < app.row.options.length) return this.pick(letter), true;
    if (pressed === "Enter") return this.submit(), true;
    return false;
  },
  help: [["A … E", "choose"], ["Enter", "send and go on"]],

  status(row) {
    return store.entry(row.id) ? "done" : "";
  },
  progress() {
    return [data.rows.filter((row) => store.entry(row.id)).length, data.rows.length, "items"];
  },
  exported() {
    const { name, limit } = this.session;
    const answers = () => data.rows.filter((row) => store.entry(row.id)).map((row) => ({ id: row.id, ...store.entry(row.id) }));
    const lines = () => answers().map((entry) => `${JSON.stringify({ ...entry, model: name || "human", time_limit: limit ?? null })}\n`).join("");
    const session = () => JSON.stringify({ format: FORMAT, version: 1, name: name || "human", time_limit: limit ?? null, answers: answers() }, null, 1);
    return [["predictions.jsonl", "Export predictions", lines], ["session.json", "Save session", session]];
  },
  imported(given) {
    const answers = checkedExport(given, "answers", FORMAT);
    const session = { name: String(given.name || "human"), limit: Number(given.time_limit) || null };
    // A session is of one person and one limit: answers that were given here under others do not stay beside it.
    const other = session.name !== this.session.name || session.limit !== (this.session.limit ?? null);
    const changes = new Map();
    let used = 0;
    for (const entry of answers) {
      const row = data.rows.find((one) => one.id === entry?.id);
      const letters = row ? ["", ...LETTERS.slice(0, row.options.length)] : [];
      if (!letters.includes(entry?.prediction)) continue;
      changes.set(row.id, { prediction: entry.prediction, seconds: Number(entry.seconds) || 0, timed_out: entry.timed_out === true });
      used += 1;
    }
    const here = data.rows.filter((row) => store.entry(row.id));
    if (other) for (const row of here) if (!changes.has(row.id)) changes.set(row.id, undefined);
    const replaced = here.filter(({ id }) => changes.has(id) && (other || !same(store.entry(id), changes.get(id)))).length;
    const then = () => {
      Object.assign(this.session, { started: true, ...session, spent: 0, chosen: null });
      const next = data.rows.findIndex((row) => !store.entry(row.id));
      if (next >= 0) app.goTo(next);
    };
    return { changes, replaced, says: `${used} of ${answers.length} answers read`, then };
  },
};

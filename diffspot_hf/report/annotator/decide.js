// One decision and a note for each row: mode controls (is a pair without an annotation really clean?) and, with checks,
// mode verify (is a multiple-choice item fit to be asked?).

const FORMAT = "diffspot-hf/decisions";
const CONTROLS = [["clean", "Clean", "1"], ["defect", "There is a defect", "2"], ["unsure", "Unsure", "3"]];
const CHECKS = [
  ["text_fidelity", "Text fidelity", "The right option says what the pictures show."],
  ["naturalness", "Naturalness", "The edit or the scene looks real: no seams, ghosts or blur."],
  ["exclusivity", "Exclusivity", "No other option is true as well."],
  ["scale", "Scale", "The cue is small, yet a careful person can see it."],
];
const DEDUCIBILITY = ["deducibility", "Deducibility", "The common point follows from the pictures alone."];

const verify = data.mode === "verify";
const mode = {
  views: ["side", "swipe", "blink"],
  current: 0,

  start(viewer) {
    this.viewer = viewer;
  },
  enter() {
    const { checks } = this.entry();
    this.current = verify ? Math.max(0, this.checks(app.row).findIndex(([name]) => !checks[name])) : 0;
  },
  checks(row) {
    return row.track === "commonality" ? [...CHECKS, DEDUCIBILITY] : CHECKS;
  },
  entry(row = app.row) {
    return store.entry(row.id) || { decision: null, checks: {}, note: "" };
  },
  put(change, group) {
    steps.take([[app.row.id, { ...this.entry(), ...change }]], group);
  },
  // An item is accepted when all checks passed and rejected as soon as one failed.
  verdict(row, checks) {
    const values = this.checks(row).map(([name]) => checks[name]);
    if (values.includes("fail")) return "reject";
    return values.every((value) => value === "pass") ? "accept" : null;
  },
  choose(value) {
    const taken = this.entry().decision === value;
    this.put({ decision: taken ? null : value });
    if (taken) app.refresh();
    else app.nextOpen();
  },
  check(name, value) {
    const checks = { ...this.entry().checks };
    if (checks[name] === value) delete checks[name];
    else checks[name] = value;
    this.put({ checks, decision: this.verdict(app.row, checks) });
    const all = this.checks(app.row);
    this.current = clamp(all.findIndex(([other]) => other === name) + 1, 0, all.length - 1);
    app.refresh();
  },

  draw() {
    const cues = verify ? SIDES.map((side, i) => ({ box: pixelBox(app.row.boxes[i], this.viewer.panes[i].image), side, kind: "known" })) : [];
    this.viewer.mark(this.hidden ? [] : cues);
  },
  panel() {
    const entry = this.entry();
    const note = noteField("Your note (optional)", entry.note, (text, group) => this.put({ note: text }, group), { id: "note" });
    if (!verify)
      return [make("p", { class: "hint" }, "Nothing is annotated on this pair. Is the implementation really without a defect?"),
        choices("Decision", CONTROLS, entry.decision, (value) => this.choose(value)), note];
    const row = app.row;
    return [
      make("p", { class: "question" }, row.question),
      make("ol", { class: "options", type: "A" }, row.options.map((option, i) =>
        make("li", { class: "ABCDEFGHIJ"[i] === row.answer ? "right" : "" }, option, "ABCDEFGHIJ"[i] === row.answer ? make("b", {}, " ✓ answer") : null))),
      row.instruction ? make("p", { class: "note" }, `Edit asked for: ${row.instruction}`) : null,
      make("div", { class: "checks" }, this.checks(row).map(([name, label, meaning], i) =>
        make("div", { class: i === this.current ? "checkrow current" : "checkrow", "data-check": name },
          make("div", {}, make("b", {}, label), make("small", {}, meaning)),
          choices(label, [["pass", "Pass"], ["fail", "Fail"]], entry.checks[name], (value) => this.check(name, value))))),
      make("p", { class: "verdict" }, "Verdict: ", make("b", { class: `pill ${entry.decision || ""}` }, { accept: "accepted", reject: "rejected, to the fallback queue" }[entry.decision] || "open")),
      note,
    ];
  },
  key(pressed) {
    if (pressed === "t") return document.getElementById("note")?.focus(), true;
    if (!verify) {
      const option = CONTROLS[Number(pressed) - 1];
      return option ? (this.choose(option[0]), true) : false;
    }
    const all = this.checks(app.row);
    if (pressed === "p" || pressed === "f") return this.check(all[this.current][0], pressed === "p" ? "pass" : "fail"), true;
    if (pressed === "[" || pressed === "]") {
      this.current = (this.current + (pressed === "]" ? 1 : -1) + all.length) % all.length;
      return app.refresh(), true;
    }
    if (pressed === "h") return (this.hidden = !this.hidden), app.refresh(), true;
    return false;
  },
  help: verify
    ? [["P, F", "the marked check passes, fails"], ["[ ]", "previous, next check"], ["H", "hide or show the place of the cue"], ["T", "note; Esc leaves it"]]
    : [["1, 2, 3", "clean, defect, unsure"], ["T", "note; Esc leaves it"]],

  status(row) {
    const entry = store.entry(row.id);
    return entry?.decision ? "done" : Object.keys(entry?.checks || {}).length ? "partly" : "";
  },
  progress() {
    return [data.rows.filter((row) => this.status(row) === "done").length, data.rows.length, verify ? "items" : "pairs"];
  },
  exported() {
    const one = (row) => {
      const { decision, checks, note } = this.entry(row);
      return verify ? { row_id: row.id, decision, checks, note } : { row_id: row.id, decision, note };
    };
    const text = () => {
      const decisions = data.rows.filter((row) => this.entry(row).decision).map(one);
      const rejected = decisions.filter((entry) => entry.decision === "reject").map((entry) => entry.row_id);
      return JSON.stringify({ format: FORMAT, version: 1, mode: data.mode, decisions, ...(verify && { fallback: rejected }) }, null, 1);
    };
    return [[`${data.mode}-decisions.json`, "Export JSON", text]];
  },
  imported(given) {
    const list = checkedExport(given, "decisions", FORMAT, data.mode);
    const changes = new Map();
    let [used, replaced] = [0, 0];
    for (const entry of list) {
      const row = data.rows.find((other) => other.id === entry?.row_id);
      if (!row) continue;
      const checks = {};
      for (const [name] of this.checks(row)) if (["pass", "fail"].includes(entry.checks?.[name])) checks[name] = entry.checks[name];
      const decision = verify ? this.verdict(row, checks) : CONTROLS.some(([value]) => value === entry.decision) ? entry.decision : null;
      if (!decision) continue;
      const here = this.entry(row);
      const there = { decision, checks, note: typeof entry.note === "string" ? entry.note : "" };
      changes.set(row.id, there);
      used += 1;
      if ((this.status(row) || here.note) && !same(here, there)) replaced += 1;
    }
    return { changes, replaced, says: `${used} of ${list.length} decisions read` };
  },
};

function pixelBox(box, image) {
  if (!isBox(box) || !image.naturalWidth) return null;
  return { x: box.x / image.naturalWidth, y: box.y / image.naturalHeight, w: box.w / image.naturalWidth, h: box.h / image.naturalHeight };
}

// What every mode shares: making elements (texts only ever become text), state that saves itself, files in and out.

const data = JSON.parse(document.getElementById("data").textContent);
const mac = /Mac|iP(hone|ad)/.test(navigator.platform);

// An element with properties, listeners (`onclick: f`) and children; strings among the children become text nodes.
function make(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "class") element.className = value;
    else if (key in element && typeof value !== "string") element[key] = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
const isBox = (box) =>
  box !== null && typeof box === "object" && ["x", "y", "w", "h"].every((k) => Number.isFinite(box[k])) && box.w > 0 && box.h > 0;
const same = (a, b) =>
  a === b ||
  (Boolean(a && b) && typeof a === "object" && typeof b === "object" && Object.keys({ ...a, ...b }).every((k) => same(a[k], b[k])));

// Entries by row id, saved in the browser at every change. `store.safe` is false where the browser keeps nothing.
const store = {
  key: `diffspot-hf/${data.mode}/${data.page}`,
  safe: true,
  dirty: false,
  state: { entries: {}, index: 0, session: {} },
  timer: 0,

  load() {
    try {
      const text = localStorage.getItem(this.key);
      if (text) Object.assign(this.state, JSON.parse(text));
      localStorage.setItem(this.key, JSON.stringify(this.state));
    } catch {
      this.safe = false;
    }
  },
  entry(id) {
    const own = Object.prototype.hasOwnProperty.call(this.state.entries, id);
    return own ? this.state.entries[id] : undefined;
  },
  put(id, entry) {
    Object.defineProperty(this.state.entries, id, { value: entry, enumerable: true, configurable: true, writable: true });
    this.touch();
  },
  touch() {
    this.dirty = true;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.save(), 150);
  },
  save() {
    clearTimeout(this.timer);
    try {
      localStorage.setItem(this.key, JSON.stringify(this.state));
      this.safe = true;
    } catch {
      this.safe = false;
    }
    app.showSaved();
  },
};

// What people changed, step by step and over all rows. Entries are never changed in place, so a step holds them as they are.
const DEEPEST = 300; // steps that can be undone, our choice
const steps = {
  past: [],
  future: [],

  // `changes` are [id, entry]; what has the same `group` as the step before is one step with it, as the letters of a note.
  take(changes, group = null) {
    const all = changes.map(([id, after]) => ({ id, before: store.entry(id), after }));
    const made = all.filter(({ before, after }) => !same(before, after));
    if (!made.length) return;
    const last = this.past.at(-1);
    if (group && last?.group === group) last.made[0].after = made[0].after;
    else this.past.push({ made, group, row: app.index, current: mode.current });
    if (this.past.length > DEEPEST) this.past.shift();
    this.future = [];
    for (const { id, after } of made) store.put(id, after);
    app.showSteps();
  },
  undo() {
    const step = this.past.pop();
    if (!step) return;
    this.future.push(step);
    for (const { id, before } of step.made) store.put(id, before);
    app.goTo(step.row, true);
    mode.current = step.current; // what was selected before
    app.refresh();
  },
  redo() {
    const step = this.future.pop();
    if (!step) return;
    this.past.push({ ...step, group: null });
    for (const { id, after } of step.made) store.put(id, after);
    app.goTo(step.row, true);
  },
};

addEventListener("pagehide", () => store.dirty && store.save());
addEventListener("visibilitychange", () => document.hidden && store.dirty && store.save());
addEventListener("beforeunload", (event) => {
  if (store.dirty && !store.safe) event.preventDefault();
});

function download(name, text, type = "application/json") {
  const link = make("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  store.dirty = false;
}

// The entries of an export that this page can read back; others are refused in words.
const VERSION = 1;
function checkedExport(given, entries, format, wanted = undefined) {
  if (given.format !== format || (wanted && given.mode !== wanted) || !Array.isArray(given[entries]))
    throw new Error(`it is no export of this page (format ${format}${wanted ? `, mode ${wanted}` : ""})`);
  const version = given.version === undefined ? "no version" : `version ${JSON.stringify(given.version).slice(0, 20)}`;
  if (given.version !== VERSION) throw new Error(`it has ${version}, this page reads version ${VERSION} only`);
  return given[entries];
}

function pickFile(use) {
  const input = make("input", { type: "file", accept: ".json,application/json", class: "offscreen", tabindex: "-1" });
  input.addEventListener("change", async () => {
    const file = input.files[0];
    input.remove();
    if (!file) return;
    try {
      const given = JSON.parse((await file.text()).replace(/^\uFEFF/, ""));
      if (given === null || typeof given !== "object") throw new Error("it holds no JSON object");
      app.say(await use(given));
    } catch (error) {
      app.say(`${file.name} was not read: ${error.message}`, true);
    }
    app.refresh();
  });
  document.body.append(input);
  input.click();
}

// A note field that saves as it is typed and never hands its keys to the page. What is typed in one go is one step.
function noteField(label, value, change, props = {}) {
  const area = make("textarea", { rows: "2", "aria-label": label, placeholder: label, ...props });
  area.value = value || "";
  let group = {};
  area.addEventListener("focus", () => (group = {}));
  area.addEventListener("input", () => change(area.value, group));
  area.addEventListener("keydown", (event) => {
    if (event.key === "Escape") area.blur();
  });
  return area;
}

function keyCap(key) {
  return make("kbd", {}, key);
}

// A row of buttons of which one can be pressed: [[value, label, key], …].
function choices(name, options, chosen, choose) {
  return make(
    "div",
    { class: "choices", role: "group", "aria-label": name },
    options.map(([value, label, key]) =>
      make(
        "button",
        { type: "button", class: `choice ${value}`, "data-value": value, "aria-pressed": String(chosen === value), onclick: () => choose(value) },
        label,
        key ? keyCap(key) : null,
      ),
    ),
  );
}

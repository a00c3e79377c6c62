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

function pickFile(use) {
  const input = make("input", { type: "file", accept: ".json,application/json", class: "offscreen", tabindex: "-1" });
  input.addEventListener("change", async () => {
    const file = input.files[0];
    input.remove();
    if (!file) return;
    try {
      const given = JSON.parse((await file.text()).replace(/^\uFEFF/, ""));
      if (given === null || typeof given !== "object") throw new Error("it holds no JSON object");
      app.say(use(given));
    } catch (error) {
      app.say(`${file.name} was not read: ${error.message}`, true);
    }
    app.refresh();
  });
  document.body.append(input);
  input.click();
}

// A note field that saves as it is typed and never hands its keys to the page.
function noteField(label, value, change, props = {}) {
  const area = make("textarea", { rows: "2", "aria-label": label, placeholder: label, ...props });
  area.value = value || "";
  area.addEventListener("input", () => change(area.value));
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

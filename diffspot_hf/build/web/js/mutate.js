// One change at a time: tried on the layout alone, applied for the camera, and taken back without a trace.
(() => {
  const D = globalThis.__diffspot;
  const EXACT = 0.02; // px; below this a rectangle has not moved

  // Painted extent of an element itself: border box and what its own shadow, outline and filter add. Chromium paints
  // a blur out to three standard deviations, which is one and a half times the radius that CSS gives a shadow.
  D.extent = (el) => {
    const r = el.getBoundingClientRect(), cs = D.style(el);
    const out = { left: 0, top: 0, right: 0, bottom: 0 };
    const grow = (x, y, by) => {
      out.left = Math.max(out.left, by - x);
      out.right = Math.max(out.right, by + x);
      out.top = Math.max(out.top, by - y);
      out.bottom = Math.max(out.bottom, by + y);
    };
    if (cs.boxShadow !== "none")
      for (const shadow of cs.boxShadow.split(/,(?![^(]*\))/)) {
        if (/\binset\b/.test(shadow)) continue;
        const [x, y, blur, spread] = shadow.replace(/\w+\([^)]*\)/g, "").match(/-?[\d.]+px/g).map(parseFloat);
        grow(x, y, 1.5 * blur + spread);
      }
    if (cs.outlineStyle !== "none") grow(0, 0, Math.max(0, parseFloat(cs.outlineWidth) + parseFloat(cs.outlineOffset)));
    for (const [, radius] of cs.filter.matchAll(/blur\(([\d.]+)px\)/g)) grow(0, 0, 3 * parseFloat(radius));
    for (const [, drop] of cs.filter.matchAll(/drop-shadow\(((?:[^()]|\([^()]*\))*)\)/g)) {
      const [x, y, blur = 0] = drop.replace(/\w+\([^)]*\)/g, "").match(/-?[\d.]+px/g).map(parseFloat);
      grow(x, y, 1.5 * blur);
    }
    return { left: r.left - out.left, top: r.top - out.top, right: r.right + out.right, bottom: r.bottom + out.bottom };
  };
  // The looser preset: the nearest positioned or block ancestor.
  const holderOf = (el, rules) => {
    if (!rules.container) return el;
    for (let at = el.parentElement; at && at !== document.body; at = at.parentElement) {
      const cs = D.style(at);
      if (cs.position !== "static" || /^(block|flow-root|list-item|flex|grid|table)/.test(cs.display)) return at;
    }
    return document.body;
  };
  // Whole CSS pixels, inside the viewport: [x, y, width, height].
  D.boxOf = (a, b) => {
    const u = D.join(a, b);
    const x = Math.max(0, Math.floor(u.left)), y = Math.max(0, Math.floor(u.top));
    return [x, y, Math.max(0, Math.min(D.width, Math.ceil(u.right)) - x), Math.max(0, Math.min(D.height, Math.ceil(u.bottom)) - y)];
  };

  // Everything that paints on the screen, with its rectangle and what is seen of it, taken once while nothing is changed.
  D.snapshot = () => {
    D.painted = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode;
      if (node.nodeType === 3 ? !node.data.trim() : node.matches("br,script,style,noscript,template,svg *")) continue;
      const rect = D.rectOf(node);
      // What stands just below the fold may come up.
      if (!(rect.width > 0 && rect.height > 0 && rect.top < D.height + 400)) continue;
      const cs = D.style(node.nodeType === 3 ? node.parentElement : node);
      if (cs.visibility !== "visible" || (node.nodeType === 1 && !D.paintsBox(node, cs))) continue;
      const clippers = D.clippers(node);
      D.painted.push({ node, rect, clippers, seen: D.visibleRect(node, clippers) });
    }
    D.sizes = [document.documentElement.scrollWidth, document.documentElement.scrollHeight];
  };

  const put = (el, change) => {
    const saved = { el, style: el.getAttribute("style"), class: el.getAttribute("class"), text: null };
    if (change.swap) {
      el.classList.remove(...change.swap[0]);
      el.classList.add(...change.swap[1]);
    }
    if (change.style) for (const [name, value] of Object.entries(change.style)) el.style.setProperty(name, value, "important");
    if (change.text) {
      const node = el.childNodes[change.text[0]];
      saved.text = [node, node.data];
      node.data = change.text[1];
    }
    return saved;
  };
  const back = (saved) => {
    for (const name of ["style", "class"])
      if (saved[name] === null) saved.el.removeAttribute(name);
      else if (saved.el.getAttribute(name) !== saved[name]) saved.el.setAttribute(name, saved[name]);
    if (saved.text) saved.text[0].data = saved.text[1];
  };

  const known = new Set();
  const indexClasses = (rules) => {
    for (const rule of rules) {
      if (rule.selectorText)
        for (const [, name] of rule.selectorText.matchAll(/\.((?:\\[0-9a-f]{1,6} ?|\\.|[\w-])+)/gi))
          known.add(name.replace(/\\([0-9a-f]{1,6}) ?/gi, (_, hex) => String.fromCodePoint(parseInt(hex, 16))).replace(/\\(.)/g, "$1"));
      if (rule.cssRules) indexClasses(rule.cssRules);
    }
  };
  D.knowsClasses = (names) => {
    if (!known.size) for (const sheet of document.styleSheets) try { indexClasses(sheet.cssRules); } catch { /* not ours to read */ }
    return names.every((name) => known.has(name));
  };

  const value = (cs, property) => {
    const v = cs.getPropertyValue(property);
    return /color$/.test(property) ? D.rgba(v) : property === "background-image" ? D.plainColours(v) : v;
  };
  // A class swap is believed when the property it is for has changed, to the expected value where one is known.
  const proved = (watch, before, after, size) => {
    if (JSON.stringify(before) === JSON.stringify(after)) return false;
    if (watch.value === null || watch.value === undefined) return true;
    if (typeof watch.value === "string") return after === watch.value || `flex-${after}` === watch.value;
    const px = parseFloat(after) || 0;
    if (watch.value >= 9999) return px >= 9999;
    return Math.abs((watch.unit === "em" ? px / size : px) - watch.value) < (watch.unit === "px" ? 0.5 : 0.011);
  };

  // How many elements in, around and below `el` cut off what is in them.
  const cutOff = (el) => {
    const found = new Map();
    const look = (at) => {
      if (D.clips(D.style(at)))
        found.set(at, [at.scrollWidth > at.clientWidth + 1, at.scrollHeight > at.clientHeight + 1]);
    };
    for (let at = el; at && at !== document.body; at = at.parentElement) look(at);
    [...el.querySelectorAll("*")].slice(0, 150).forEach(look);
    return found;
  };
  const newlyCut = (before, after) =>
    [...after].some(([el, [x, y]]) => (x && !before.get(el)?.[0]) || (y && !before.get(el)?.[1]));
  // Nothing seen of a thing is inside everything.
  const inside = (r, box, slack = 0) =>
    r.right - r.left <= EXACT || r.bottom - r.top <= EXACT ||
    (r.left >= box[0] - EXACT && r.top >= box[1] - EXACT - slack &&
      r.right <= box[0] + box[2] + EXACT && r.bottom <= box[1] + box[3] + EXACT + slack);
  const shifted = (a, b) =>
    Math.abs(a.left - b.left) > EXACT || Math.abs(a.top - b.top) > EXACT ||
    Math.abs(a.right - b.right) > EXACT || Math.abs(a.bottom - b.bottom) > EXACT;

  // Why `change` cannot be kept, from the layout alone ("" when nothing speaks against it), and what it does.
  D.attempt = (el, change, rules) => {
    const cs = D.style(el);
    const saidBefore = (change.watch || []).map((w) => value(cs, w.property));
    if (change.swap && !D.knowsClasses(change.swap[1])) return { reason: "class not compiled" };
    if (change.weight && !D.rendersDifferently(cs, change.sample, change.weight)) return { reason: "font has no such weight" };
    if (change.glyphs && D.missingGlyphs(cs, change.glyphs)) return { reason: "missing glyph" };
    const holder = holderOf(el, rules), extent = D.extent(holder), rect = el.getBoundingClientRect();
    const wasCut = rules.paintOnly ? null : cutOff(el);
    const saved = put(el, change);
    try {
      const now = D.style(el);
      const saidAfter = (change.watch || []).map((w) => value(now, w.property));
      const size = parseFloat(now.fontSize);
      if (change.watch && !change.watch.every((w, n) => proved(w, saidBefore[n], saidAfter[n], size)))
        return { reason: change.swap ? "class has no effect" : "style has no effect" };
      const after = D.extent(holder), rectAfter = el.getBoundingClientRect();
      const box = D.boxOf(extent, after);
      const done = { reason: "", box, rect: [rect.left, rect.top, rect.width, rect.height],
        after: [rectAfter.left, rectAfter.top, rectAfter.width, rectAfter.height], before: saidBefore, said: saidAfter, text: null };
      if (!D.whollyInView(rectAfter)) return { reason: "leaves the viewport" };
      if (rules.paintOnly && !rules.spills) return done;
      const moves = [];
      for (const { node, rect: was, seen, clippers } of D.painted) {
        const r = D.rectOf(node);
        const moved = shifted(was, r);
        if (moved) moves.push([node, r.left - was.left, r.top - was.top]);
        if (node === el || !(moved || (rules.spills && el.contains(node)))) continue;
        // A text's rectangle is as high as its font, often higher than its line; the pixels will tell.
        const slack = node.nodeType === 3 && el.contains(node) ? 0.3 * parseFloat(D.style(node.parentElement).fontSize) : 0;
        if (!inside(seen, box, slack) || (moved && !inside(D.visibleRect(node, clippers), box, slack)))
          return { reason: moved ? "moves its surroundings" : "content sticks out" };
      }
      if (rules.mustMove && !moves.length) return { reason: "nothing moves" };
      const texts = moves.filter(([node]) => node.nodeType === 3 && el.contains(node)).map(([, x, y]) => [x, y]);
      done.text = texts[0] ?? null;
      done.farthest = texts.reduce((a, b) => (Math.hypot(...b) > Math.hypot(...a) + 0.5 ? b : a), texts[0] ?? null);
      const seen = D.visibleRect(el);
      if (seen.width < rectAfter.width - 1 || seen.height < rectAfter.height - 1) return { reason: "clipped" };
      if (wasCut && newlyCut(wasCut, cutOff(el))) return { reason: "clipped" };
      const [w, h] = [document.documentElement.scrollWidth, document.documentElement.scrollHeight];
      if ((w > D.width && w > D.sizes[0]) || (h > D.height && D.sizes[1] <= D.height)) return { reason: "new scroll" };
      return done;
    } finally {
      back(saved);
    }
  };

  // Of `jobs` [[element number, [change, …]], …] in their order, the first passing change of each element, at most `enough`.
  D.dryRun = (jobs, rules, enough) => {
    const passed = [], reasons = {};
    let tried = 0;
    for (const [job, [i, changes]] of jobs.entries()) {
      if (passed.length >= enough) break;
      for (let n = 0; n < changes.length; n++) {
        tried++;
        const result = D.attempt(D.elements[i], changes[n], rules);
        if (!result.reason) {
          passed.push({ job, change: n, ...result });
          break;
        }
        reasons[result.reason] = (reasons[result.reason] || 0) + 1;
      }
    }
    return { passed, reasons, tried };
  };

  // The change on the element that `selector` names, left standing until `undo`. Null when it names none or several.
  D.apply = (selector, change, rules) => {
    const found = document.querySelectorAll(selector);
    if (found.length !== 1) return null;
    const el = found[0], holder = holderOf(el, rules), extent = D.extent(holder), rect = el.getBoundingClientRect();
    D.standing = put(el, change);
    const after = D.extent(holder), again = document.querySelectorAll(selector);
    return {
      box: D.boxOf(extent, after), own: [rect.left, rect.top, rect.width, rect.height], kept: again.length === 1 && again[0] === el,
    };
  };
  D.undo = () => {
    if (D.standing) back(D.standing);
    D.standing = null;
    document.body.offsetHeight;
  };
  // Heals the rare residue of an undo: everything is laid out and painted anew.
  D.repaint = () => {
    const { style } = document.body, shown = style.display;
    const attribute = document.body.getAttribute("style");
    style.display = "none";
    document.body.offsetHeight;
    style.display = shown;
    if (attribute === null) document.body.removeAttribute("style");
    document.body.offsetHeight;
  };
})();

// Installed once on an opened screen. Answers three questions from the DOM alone: which parts the screen names and how
// they look, where a part is painted, and how to apply one change and take it back.
(() => {
  const parts = [...document.querySelectorAll("[data-part]")];
  const REPLACED = new Set(["IMG", "SVG", "INPUT", "BUTTON", "CANVAS"]);
  const alpha = (color) => {
    const inside = color.match(/\(([^)]*)\)/);
    if (!inside) return 1;
    const numbers = inside[1].split(/[\s,/]+/).filter(Boolean);
    return numbers.length > 3 ? parseFloat(numbers[numbers.length - 1]) : 1;
  };

  // Reach of the outer shadows beyond the border box: [left, top, right, bottom] in CSS px.
  const shadowReach = (style) => {
    const reach = [0, 0, 0, 0];
    if (style.boxShadow === "none") return reach;
    for (const shadow of style.boxShadow.split(/,(?![^(]*\))/)) {
      if (shadow.includes("inset") || alpha(shadow) === 0) continue;
      const [x, y, blur, spread] = shadow.match(/-?[\d.]+px/g).map(parseFloat);
      const grow = blur + spread;
      [grow - x, grow - y, grow + x, grow + y].forEach((value, i) => (reach[i] = Math.max(reach[i], value)));
    }
    return reach;
  };

  const paintsOwnBox = (element, style) => {
    if (REPLACED.has(element.tagName.toUpperCase())) return true;
    if (alpha(style.backgroundColor) > 0 || style.backgroundImage !== "none") return true;
    if (style.boxShadow !== "none" || (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0)) return true;
    const side = (name) => style[`border${name}Style`] !== "none" && parseFloat(style[`border${name}Width`]) > 0;
    if (["Top", "Right", "Bottom", "Left"].some(side)) return true;
    return ["::before", "::after"].some((which) => !["none", "normal"].includes(getComputedStyle(element, which).content));
  };

  const meet = (a, b) => [Math.max(a[0], b[0]), Math.max(a[1], b[1]), Math.min(a[2], b[2]), Math.min(a[3], b[3])];
  const clips = (style) => style.overflowX !== "visible" || style.overflowY !== "visible";
  const rectOf = (element) => {
    const r = element.getBoundingClientRect();
    return [r.left, r.top, r.right, r.bottom];
  };

  // What of `element` the screen and its ancestors let through: [left, top, right, bottom] in CSS px of the screen.
  const opening = (element) => {
    let clip = [0, 0, innerWidth, innerHeight];
    for (let up = element.parentElement; up && up !== document.body; up = up.parentElement)
      if (clips(getComputedStyle(up))) clip = meet(clip, rectOf(up));
    return clip;
  };

  // Where `element` with all that it contains is painted: [left, top, right, bottom] in CSS px of the screen, or null.
  const extent = (element, clip = opening(element)) => {
    const found = [];
    const add = (rect, within) => {
      const kept = meet(rect, within);
      if (kept[2] > kept[0] && kept[3] > kept[1]) found.push(kept);
    };
    const visit = (node, within) => {
      const style = getComputedStyle(node);
      if (style.display === "none" || style.opacity === "0") return;
      const shown = style.visibility === "visible";
      const rect = rectOf(node);
      if (shown && paintsOwnBox(node, style)) {
        const reach = shadowReach(style);
        const ring = style.outlineStyle === "none" ? 0 : parseFloat(style.outlineWidth) + parseFloat(style.outlineOffset);
        const more = reach.map((value) => Math.max(value, ring, 0));
        add([rect[0] - more[0], rect[1] - more[1], rect[2] + more[2], rect[3] + more[3]], within);
      }
      if (node.tagName.toUpperCase() === "SVG") return;
      const inner = clips(style) ? meet(within, rect) : within;
      for (const child of node.childNodes) {
        if (child.nodeType === Node.ELEMENT_NODE) visit(child, inner);
        else if (child.nodeType === Node.TEXT_NODE && shown && child.data.trim()) {
          const range = document.createRange();
          range.selectNodeContents(child);
          for (const r of range.getClientRects()) add([r.left, r.top, r.right, r.bottom], inner);
        }
      }
    };
    visit(element, clip);
    if (!found.length) return null;
    return [
      Math.min(...found.map((r) => r[0])),
      Math.min(...found.map((r) => r[1])),
      Math.max(...found.map((r) => r[2])),
      Math.max(...found.map((r) => r[3])),
    ];
  };

  // How many CSS px of `element`, over its four sides, are cut off by what it lies in.
  const cut = (element) => {
    const whole = extent(element, [-1e4, -1e4, 1e4, 1e4]);
    if (!whole) return 0;
    const kept = meet(whole, opening(element));
    return whole.reduce((sum, edge, side) => sum + Math.abs(edge - kept[side]), 0);
  };

  // Of 8 x 8 points over `element`, how many are painted over by something that neither holds it nor lies in it.
  const covered = (element) => {
    const [left, top, right, bottom] = extent(element) || [0, 0, 0, 0];
    let count = 0;
    for (let i = 0; i < 64; i++) {
      const x = left + ((right - left) * ((i % 8) + 0.5)) / 8;
      const y = top + ((bottom - top) * (Math.floor(i / 8) + 0.5)) / 8;
      let over = document.elementFromPoint(x, y);
      while (over && !over.contains(element) && !element.contains(over) && !paintsOwnBox(over, getComputedStyle(over)))
        over = over.parentElement;
      if (over && !over.contains(element) && !element.contains(over)) count++;
    }
    return count;
  };

  const words = (value) => (value || "").split(/\s+/).filter(Boolean);
  const describe = () =>
    parts.map((element, index) => {
      const style = getComputedStyle(element);
      const rect = element.getBoundingClientRect();
      return {
        index,
        kind: element.dataset.part,
        name: element.dataset.name,
        swap: words(element.dataset.swap),
        excluded: words(element.dataset.not),
        state: element.dataset.state || "",
        extent: extent(element),
        cut: cut(element),
        covered: covered(element),
        width: rect.width,
        height: rect.height,
        color: style.color,
        background: style.backgroundColor,
        backgroundImage: style.backgroundImage,
        radius: style.borderTopLeftRadius,
        border: style.borderTopStyle !== "none" ? parseFloat(style.borderTopWidth) : 0,
        weight: parseInt(style.fontWeight, 10),
        size: parseFloat(style.fontSize),
        transform: style.transform,
        upper: style.textTransform === "uppercase" || element.textContent === element.textContent.toUpperCase(),
        display: style.display,
        justify: style.justifyContent,
        padding: parseFloat(style.paddingLeft),
        text: element.textContent.trim(),
        parts: element.children.length,
      };
    });

  const target = (element) => (element.matches("input") ? element : element.querySelector("input"));

  // One change: {css: {property: value}} and/or {state: "-class" | "+class" | "checked"} and/or {href} and/or {src}.
  const apply = async (index, change) => {
    const element = parts[index];
    if (change.state === "checked") target(element).checked = !target(element).checked;
    else if (change.state) element.classList.toggle(change.state.slice(1), change.state[0] === "+");
    if (change.href) element.querySelector("use").setAttribute("href", change.href);
    for (const [property, value] of Object.entries(change.css || {})) element.style.setProperty(property, value, "important");
    if (change.src) {
      element.setAttribute("src", change.src);
      await element.decode();
    }
    return { extent: extent(element), cut: cut(element), covered: covered(element) };
  };

  const originals = parts.map((element) => ({
    style: element.getAttribute("style"),
    classes: element.getAttribute("class"),
    src: element.getAttribute("src"),
    href: element.querySelector("use")?.getAttribute("href"),
    checked: target(element)?.checked,
  }));
  const put = (element, name, value) => (value === null ? element.removeAttribute(name) : element.setAttribute(name, value));

  const undo = async (index) => {
    const element = parts[index];
    const was = originals[index];
    put(element, "style", was.style);
    put(element, "class", was.classes);
    if (element.dataset.part === "icon") element.querySelector("use").setAttribute("href", was.href);
    if (was.checked !== undefined) target(element).checked = was.checked;
    if (element.getAttribute("src") !== was.src) {
      element.setAttribute("src", was.src);
      await element.decode();
    }
  };

  window.stage = { describe, apply, undo };
})();

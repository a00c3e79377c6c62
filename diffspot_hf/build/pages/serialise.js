// The page as markup that stands alone once its parts are put in. Evaluates to a function of a marker text; what Python
// has to fill in is written as `<marker><number>;` and described in `parts`. The live page is not changed by it.
(marker) => {
  const parts = [];
  const dropped = {};
  const embeds = [];
  const drop = (what) => { dropped[what] = (dropped[what] || 0) + 1; };
  const put = (part) => `${marker}${parts.push(part) - 1};`;
  const inert = document.implementation.createHTMLDocument("");
  const SVG = "http://www.w3.org/2000/svg";

  const inView = (rect) => rect.width > 2 && rect.height > 2 && rect.bottom > 0 && rect.right > 0
    && rect.top < innerHeight && rect.left < innerWidth;
  const shown = (element) => {
    const style = getComputedStyle(element);
    return style.display !== "none" && style.visibility === "visible" && inView(element.getBoundingClientRect());
  };
  const sheetText = (sheet) => {
    try { return [...sheet.cssRules].map((rule) => rule.cssText).join("\n"); } catch { return ""; }
  };
  const styleMark = (sheet, owner, text) => {
    if (!sheet || sheet.disabled) return null;
    const style = inert.createElement("style");
    const media = owner && owner.getAttribute("media");
    if (media) style.setAttribute("media", media);
    style.textContent = put({ kind: "css", url: text === null ? sheet.href : null, text, base: sheet.href || document.baseURI });
    return style;
  };
  // What a script put in with insertRule stands in no text.
  const ownText = (element) => {
    const text = element.textContent;
    try {
      const parsed = new CSSStyleSheet();
      parsed.replaceSync(text.replace(/@import[^;]*;/g, ""));
      const imports = [...element.sheet.cssRules].filter((rule) => rule instanceof CSSImportRule).length;
      if (parsed.cssRules.length !== element.sheet.cssRules.length - imports) return sheetText(element.sheet);
    } catch { /* then the text is all there is */ }
    return text;
  };
  // An element of the same place and size, for what cannot be kept: `tag` with the styles that give it its box.
  const stand = (live, tag, extra = {}) => {
    const box = inert.createElement(tag);
    for (const { name, value } of live.attributes) {
      if (["id", "class", "style", "alt", "title", "role", "aria-label", "hidden"].includes(name)) box.setAttribute(name, value);
    }
    const style = getComputedStyle(live);
    const size = live.getBoundingClientRect();
    box.style.display = style.display === "inline" ? "inline-block" : style.display;
    if (style.display !== "none") {
      box.style.width = `${live.offsetWidth ?? size.width}px`;
      box.style.height = `${live.offsetHeight ?? size.height}px`;
      box.style.boxSizing = "border-box";
    }
    for (const [name, value] of Object.entries(extra)) box.setAttribute(name, value);
    return box;
  };

  const picture = (live, copy) => {
    const url = live.currentSrc || live.src;
    for (const name of ["srcset", "sizes", "loading", "decoding", "crossorigin", "fetchpriority"]) copy.removeAttribute(name);
    if (url) copy.setAttribute("src", put({ kind: "picture", url })); else copy.removeAttribute("src");
  };

  const elements = {
    script: () => null, noscript: () => null, base: () => null, template: () => null, title: (live, copy) => copy,
    animate: () => null, animatetransform: () => null, animatemotion: () => null, set: () => null, source: () => null, track: () => null,
    meta: (live, copy) => (live.hasAttribute("http-equiv") || live.hasAttribute("charset") ? null : copy),
    link: (live) => {
      if (!/\bstylesheet\b/i.test(live.rel)) return null;
      if (!live.sheet) drop("style sheet");
      return styleMark(live.sheet, live, null);
    },
    style: (live) => (live.namespaceURI === SVG ? undefined : live.hasAttribute("data-compiled") ? null : styleMark(live.sheet, live, live.sheet ? ownText(live) : "")),
    img: (live, copy) => { picture(live, copy); return copy; },
    canvas: (live) => {
      let url = "data:,";
      try { url = live.toDataURL(); } catch { drop("drawing"); }
      return stand(live, "img", { src: url, alt: live.getAttribute("aria-label") || "" });
    },
    video: (live) => { drop("video"); return live.poster ? stand(live, "img", { src: put({ kind: "picture", url: live.poster }), alt: "" }) : stand(live, "div"); },
    audio: (live) => { drop("audio"); return live.controls ? stand(live, "div") : null; },
    marquee: (live, copy) => { const box = stand(live, "div"); box.append(...copy.childNodes); return box; },
    input: (live, copy) => {
      if (live.type === "image" && live.src) copy.setAttribute("src", put({ kind: "picture", url: live.src }));
      else if (live.type !== "file" && live.type !== "password") {
        if (/^(checkbox|radio)$/.test(live.type)) copy.toggleAttribute("checked", live.checked);
        else if (live.value !== live.getAttribute("value") && (live.value || live.hasAttribute("value"))) copy.setAttribute("value", live.value);
      }
      return copy;
    },
    textarea: (live, copy) => { copy.textContent = live.value; return copy; },
    option: (live, copy) => { copy.toggleAttribute("selected", live.selected); return copy; },
    image: (live, copy) => {
      const url = live.href && live.href.baseVal;
      copy.removeAttribute("xlink:href");
      if (url) copy.setAttribute("href", put({ kind: "picture", url: new URL(url, document.baseURI).href }));
      return copy;
    },
    use: (live, copy) => {
      const url = (live.href && live.href.baseVal) || "";
      if (!url || url.startsWith("#")) return copy;
      const full = new URL(url, document.baseURI);
      if (full.origin + full.pathname === location.origin + location.pathname) { copy.setAttribute("href", full.hash); return copy; }
      copy.removeAttribute("xlink:href");
      copy.setAttribute("href", put({ kind: "symbol", url: full.href }));
      return copy;
    },
  };
  for (const tag of ["iframe", "object", "embed", "frame", "applet", "portal", "fencedframe"]) {
    elements[tag] = (live) => {
      drop("embedded document");
      if (shown(live)) embeds.push(tag);
      return live.getBoundingClientRect().width ? stand(live, "div") : null;
    };
  }

  // A reference to this very document, written out in full by scripts (gradients, clips), is one inside it.
  const here = location.href.replace(location.hash, "").replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const toHere = new RegExp(`url\\((["']?)${here}(#[^"')]*)\\1\\)`, "g");

  const attributes = (copy) => {
    for (const { name, value: written } of [...copy.attributes]) {
      const bare = name.toLowerCase();
      let value = written;
      if (value.includes("url(")) {
        value = value.replace(toHere, "url($1$2$1)");
        if (copy.namespaceURI === SVG && bare !== "style" && !/url\(["']?#/.test(value)) value = "none";
        copy.setAttribute(name, value);
      }
      if (/^on/.test(bare) || ["ping", "integrity", "nonce", "autofocus", "autoplay", "srcdoc", "formaction", "manifest", "http-equiv"].includes(bare)) {
        copy.removeAttribute(name);
      } else if (bare === "action" && copy.localName === "form") {
        copy.removeAttribute(name);
      } else if (/^(?:xlink:)?href$|^src$|^data$|^to$|^from$|^values$/.test(bare) && /^[\s\0-\x1f]*(?:javascript|vbscript)\s*:/i.test(value)) {
        copy.setAttribute(name, "#");
      } else if (bare === "style" && /url\(|image-set\(/i.test(value)) {
        copy.setAttribute(name, put({ kind: "css", text: value, url: null, base: document.baseURI, attribute: true }));
      } else if (bare === "background" && value) {
        copy.setAttribute(name, put({ kind: "picture", url: new URL(value, document.baseURI).href }));
      }
    }
  };

  const tidy = (live, copy) => {
    const pairs = [];
    const left = document.createTreeWalker(live, NodeFilter.SHOW_ELEMENT);
    const right = document.createTreeWalker(copy, NodeFilter.SHOW_ELEMENT);
    for (let a = left.nextNode(), b = right.nextNode(); a && b; a = left.nextNode(), b = right.nextNode()) pairs.push([a, b]);
    if (copy.nodeType === Node.ELEMENT_NODE) attributes(copy);
    for (const [a, b] of pairs) {
      const make = elements[a.localName.toLowerCase()];
      const made = make ? make(a, b) : b;
      if (made === null) { b.remove(); continue; }
      const kept = made || b;
      if (kept !== b) b.replaceWith(kept);
      attributes(kept);
      if (a.shadowRoot) {
        const tree = inert.createElement("template");
        tree.setAttribute("shadowrootmode", "open");
        const inside = inert.importNode(document.createDocumentFragment(), false);
        for (const child of a.shadowRoot.childNodes) inside.append(inert.importNode(child, true));
        tidy(a.shadowRoot, inside);
        for (const sheet of a.shadowRoot.adoptedStyleSheets) {
          const style = styleMark(sheet, null, sheetText(sheet));
          if (style) inside.append(style);
        }
        tree.content.append(inside);
        kept.prepend(tree);
      }
    }
    const comments = document.createTreeWalker(copy, NodeFilter.SHOW_COMMENT);
    const gone = [];
    for (let node = comments.nextNode(); node; node = comments.nextNode()) {
      if (!/copyright|licen[sc]e/i.test(node.data) || /<\/?(?:script|style|iframe)/i.test(node.data)) gone.push(node);
    }
    gone.forEach((node) => node.remove());
  };

  const root = inert.importNode(document.documentElement, true);
  tidy(document.documentElement, root);
  let head = root.querySelector("head");
  if (!head) { head = inert.createElement("head"); root.prepend(head); }
  for (const sheet of document.adoptedStyleSheets) {
    const style = styleMark(sheet, null, sheetText(sheet));
    if (style) head.append(style);
  }
  return {
    html: root.outerHTML,
    quirks: document.compatMode === "BackCompat",
    language: document.documentElement.lang || "",
    title: document.title,
    classes: [...new Set([...document.querySelectorAll("[class]")].flatMap((element) => [...element.classList]))].sort(),
    parts, dropped, embeds,
  };
}

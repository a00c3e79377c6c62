// What a frozen page shows, in figures. An element counts as styled when it looks otherwise than the browser would show
// its tag unasked; that is found by a sibling of the same tag inside a shadow tree, which the page's styles do not reach.
// An element counts as known when one of its class names stands in a selector of the page.
() => {
  const PROPERTIES = ["color", "backgroundColor", "backgroundImage", "fontFamily", "fontSize", "fontWeight", "lineHeight", "display",
    "position", "paddingTop", "paddingLeft", "marginTop", "marginBottom", "borderTopWidth", "borderTopLeftRadius", "boxShadow",
    "textTransform", "letterSpacing", "textDecorationLine", "textAlign", "float", "justifyContent", "listStyleType"];
  const host = document.createElement("div");
  host.style.cssText = "all:initial!important;position:fixed!important;left:-9999px!important;visibility:hidden!important";
  document.documentElement.append(host);
  const shadow = host.attachShadow({ mode: "open" });
  const plain = new Map();
  const unasked = (tag) => {
    if (!plain.has(tag)) {
      const sample = document.createElement(tag);
      if (tag === "a") sample.href = "#";
      shadow.append(sample);
      const style = getComputedStyle(sample);
      plain.set(tag, Object.fromEntries(PROPERTIES.map((name) => [name, style[name]])));
      sample.remove();
    }
    return plain.get(tag);
  };
  const names = new Set();
  const collect = (rules) => {
    for (const rule of rules) {
      if (rule.selectorText) {
        for (const [, name] of rule.selectorText.matchAll(/\.((?:[\w-]|\\.|[^\x00-\x7f])+)/g)) names.add(name.replace(/\\(.)/g, "$1"));
      }
      if (rule.cssRules) collect(rule.cssRules);
    }
  };
  for (const sheet of document.styleSheets) try { collect(sheet.cssRules); } catch { /* none of ours */ }
  const shape = [];
  let seen = 0, styled = 0, classed = 0, known = 0, characters = 0;
  for (const element of document.body ? document.body.querySelectorAll("*") : []) {
    if (element.namespaceURI !== "http://www.w3.org/1999/xhtml" || ["BR", "STYLE", "HEAD", "OPTION", "COL"].includes(element.tagName)) continue;
    const rect = element.getBoundingClientRect();
    if (rect.width < 2 || rect.height < 2 || rect.bottom <= 0 || rect.top >= innerHeight || rect.right <= 0 || rect.left >= innerWidth) continue;
    const style = getComputedStyle(element);
    if (style.visibility !== "visible" || style.opacity === "0") continue;
    seen += 1;
    if (shape.length < 400) shape.push(`${element.localName}.${[...element.classList].sort().join(".")}`);
    for (const node of element.childNodes) if (node.nodeType === Node.TEXT_NODE) characters += node.data.trim().length;
    const base = unasked(element.localName);
    if (PROPERTIES.some((name) => style[name] !== base[name])) styled += 1;
    if (element.classList.length) {
      classed += 1;
      if ([...element.classList].some((name) => names.has(name))) known += 1;
    }
  }
  host.remove();
  const body = document.body ? getComputedStyle(document.body) : null;
  return { shape, seen, styled, classed, known, characters, font: body ? body.fontFamily : "", height: document.documentElement.scrollHeight };
}

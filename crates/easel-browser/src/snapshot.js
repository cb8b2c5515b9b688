// What a page says and what can be done in it, as lines of text. What can be clicked or filled in has a number in brackets.
(() => {
  const kinds = "a[href], button, input, textarea, select, summary, label[for], [role=button], [role=link], [role=checkbox], " +
    "[role=menuitem], [role=option], [role=radio], [role=switch], [role=tab], [contenteditable=''], [contenteditable=true], [onclick]";
  const unseen = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "HEAD", "SVG", "IFRAME", "OBJECT", "CANVAS"]);
  const elements = [];
  const lines = [];
  let line = "";
  const end = () => {
    const text = line.replace(/\s+/g, " ").trim();
    if (text) lines.push(text);
    line = "";
  };
  const short = text => String(text || "").replace(/\s+/g, " ").trim().slice(0, 120);
  const named = element => short(element.getAttribute("aria-label") || (element.labels && element.labels[0] && element.labels[0].innerText)
    || element.placeholder || element.title || element.name);
  const described = element => {
    const tag = element.tagName;
    if (tag === "SELECT") {
      const options = Array.from(element.options).slice(0, 30).map(option => short(option.label));
      const chosen = element.selectedOptions[0];
      return `choice "${named(element)}" = "${chosen ? short(chosen.label) : ""}" of ${JSON.stringify(options)}`;
    }
    if (tag === "TEXTAREA") return `text "${named(element)}" = "${short(element.value)}"`;
    if (tag === "INPUT") {
      const type = element.type;
      if (type === "submit" || type === "button" || type === "reset") return `button "${short(element.value) || type}"`;
      if (type === "image") return `button "${short(element.alt) || type}"`;
      if (type === "checkbox" || type === "radio") return `${type} "${named(element)}" ${element.checked ? "(on)" : "(off)"}`;
      if (type === "file") return `file "${named(element)}"`;
      const value = type === "password" ? (element.value ? "•••" : "") : short(element.value);
      return `${type} "${named(element)}" = "${value}"`;
    }
    return null;
  };
  const walk = (node, depth) => {
    if (node.nodeType === Node.TEXT_NODE) { line += node.data; return; }
    if (node.nodeType !== Node.ELEMENT_NODE || depth > 400 || unseen.has(node.tagName.toUpperCase())) return;
    const file = node.tagName === "INPUT" && node.type === "file";
    if (node.tagName === "INPUT" && node.type === "hidden") return;
    const style = getComputedStyle(node);
    if (style.display === "none" && !file) return;
    const hidden = style.visibility === "hidden" && !file;
    const block = !style.display.startsWith("inline") && style.display !== "contents";
    if (block) end();
    const does = !hidden && node.matches(kinds) && !node.disabled;
    if (does) {
      elements.push(node);
      const words = described(node);
      line += ` [${elements.length}] `;
      if (words !== null) { line += words + " "; if (block) end(); return; }
      if (node.tagName === "A") line += "link ";
      else if (node.tagName === "BUTTON" || node.getAttribute("role") === "button") line += "button ";
      if (!node.innerText) line += `"${named(node)}" `;
    }
    const heading = /^H[1-6]$/.test(node.tagName);
    if (heading) line += "#".repeat(Number(node.tagName[1])) + " ";
    if (node.tagName === "IMG" && node.alt) line += ` (picture: ${short(node.alt)}) `;
    const inside = node.shadowRoot ? node.shadowRoot.childNodes : node.childNodes;
    for (const child of inside) if (!hidden || child.nodeType === Node.ELEMENT_NODE) walk(child, depth + 1);
    if (block || node.tagName === "BR") end(); else if (node.tagName === "TD" || node.tagName === "TH") line += " | ";
  };
  if (document.body) walk(document.body, 0);
  end();
  globalThis.easelElements = elements;
  return { title: document.title, address: location.href, text: lines.join("\n") };
})()

/* What the page of a component does better with JavaScript: pickers that load when opened, tabs, rows that grow,
   tokens, parts that show when they matter, and the question before a run. All of it works without. */
(() => {
  "use strict";
  const $ = (selector, from = document) => from.querySelector(selector);
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const form = () => document.getElementById("component-form");
  const tell = (element, name) => element?.dispatchEvent(new CustomEvent(name, { bubbles: false }));

  /* Pickers. A list is asked for when it opens for the first time, and again after another answer changed. */
  function open(picker) {
    if (!picker.open) {
      if (picker.dataset.changed) {
        delete picker.dataset.changed;
        follow(picker);
      }
      return;
    }
    if (picker.hasAttribute("data-loaded")) return;
    picker.setAttribute("data-loaded", "");
    tell($(".options", picker), "picker:open");
    $("[data-find]", picker)?.focus();
  }
  const follow = (picker) => tell(picker.closest("[hx-post]:not(form)"), "picker:change");

  function picked(picker) {
    const typed = $("[data-manual]", picker);
    const many = typed?.matches("textarea");
    const chosen = all("input[name^='p.']:checked", picker)
      .map((input) => input.dataset.label)
      .filter(Boolean);
    const written = typed
      ? typed.value
          .split("\n")
          .map((line) => line.trim())
          .filter(Boolean)
      : [];
    const words = many ? [...chosen, ...written] : written.length ? written : chosen;
    const shown = $("[data-picked]", picker);
    shown.textContent = words.join(", ") || shown.dataset.empty;
    shown.classList.toggle("dim", !words.length);
    picker.dataset.changed = "yes";
  }

  function close(picker) {
    picker.open = false;
    $("summary", picker).focus();
  }

  document.addEventListener(
    "toggle",
    (event) => {
      if (event.target.matches?.("[data-picker]")) open(event.target);
    },
    true,
  );

  document.addEventListener("change", (event) => {
    const picker = event.target.closest("[data-picker]");
    if (picker && event.target.matches("[name^='p.'], [data-manual]")) {
      if (event.target.type === "radio") {
        const typed = $("[data-manual]", picker);
        if (typed) typed.value = "";
      }
      picked(picker);
      if (!picker.open) follow(picker);
    }
    if (!event.target.closest("#fields")) return;
    for (const other of all("[data-picker][data-loaded]"))
      if (other !== picker && !other.open) other.removeAttribute("data-loaded");
    parts(event.target);
  });

  /* A click on a choice closes; arrows only move. A click that a key makes has no detail. */
  document.addEventListener("click", (event) => {
    const radio = event.target.closest("[data-picker] label.check");
    if (radio && event.detail > 0 && $("input[type=radio]", radio))
      setTimeout(() => close(radio.closest("[data-picker]")));
  });

  document.addEventListener("keydown", (event) => {
    const picker = event.target.closest?.("[data-picker]");
    if (event.key === "Enter" && event.target.matches("#component-form input:not([type=submit], [type=file])")) {
      event.preventDefault();
      if (event.target.matches("[data-find]")) tell(event.target, "picker:find");
      else if (picker) close(picker);
    }
    if (event.key === "Escape" && picker?.open) {
      event.preventDefault();
      close(picker);
    }
    if (event.key === "ArrowDown" && event.target.matches("[data-find]")) {
      event.preventDefault();
      ($(".options input:checked", picker) || $(".options input", picker))?.focus();
    }
  });

  /* Rows: writing in the last one adds another. */
  document.addEventListener("input", (event) => {
    const rows = event.target.closest("[data-rows]");
    const last = rows?.lastElementChild;
    if (!last?.contains(event.target) || !event.target.value) return;
    const next = last.cloneNode(true);
    const number = rows.children.length + 1;
    for (const input of all("input", next)) {
      input.value = "";
      input.id = input.id.replace(/\d+$/, number);
      input.setAttribute("aria-label", input.getAttribute("aria-label").replace(/\d+$/, number));
    }
    rows.append(next);
  });

  /* Parts that matter only for one choice. */
  function parts(select) {
    if (!select.matches?.("[data-shows]")) return;
    for (const part of all("[data-when]")) {
      if (part.dataset.when === select.dataset.shows) part.hidden = !part.dataset.is.split(" ").includes(select.value);
    }
  }

  /* Tabs. */
  function tabs(nav) {
    const links = all("a", nav);
    const panels = links.map((link) => document.getElementById(link.getAttribute("href").slice(1)));
    nav.setAttribute("role", "tablist");
    links.forEach((link, index) => {
      link.setAttribute("role", "tab");
      link.id = `tab-${panels[index].id}`;
      panels[index].setAttribute("role", "tabpanel");
      panels[index].setAttribute("aria-labelledby", link.id);
    });
    const show = (index, focus) => {
      links.forEach((link, at) => {
        link.setAttribute("aria-selected", String(at === index));
        link.tabIndex = at === index ? 0 : -1;
        panels[at].hidden = at !== index;
      });
      if (focus) links[index].focus();
    };
    nav.addEventListener("click", (event) => {
      const index = links.indexOf(event.target.closest("a"));
      if (index >= 0) {
        event.preventDefault();
        show(index, true);
      }
    });
    nav.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const to =
        event.key === "Home"
          ? 0
          : event.key === "End"
            ? links.length - 1
            : step
              ? (links.indexOf(document.activeElement) + step + links.length) % links.length
              : -1;
      if (to >= 0) {
        event.preventDefault();
        show(to, true);
      }
    });
    show(0, false);
    nav.removeAttribute("data-tabs");
  }

  /* Tokens: a list of lines as chips, with one field to add more. The lines stay what is sent. */
  function tokens(area) {
    const label = $(`label[for="${CSS.escape(area.id)}"]`);
    const list = document.createElement("div");
    const input = document.createElement("input");
    list.className = "tokens";
    Object.assign(input, {
      className: "input",
      type: "text",
      id: `${area.id}-add`,
      placeholder: area.dataset.add,
      autocomplete: "off",
    });
    if (area.hasAttribute("aria-describedby"))
      input.setAttribute("aria-describedby", area.getAttribute("aria-describedby"));
    if (area.hasAttribute("aria-invalid")) input.setAttribute("aria-invalid", "true");
    const lines = () =>
      area.value
        .split("\n")
        .map((line) => line.trim())
        .filter(Boolean);
    const write = (next) => {
      area.value = next.join("\n");
      draw();
      area.dispatchEvent(new Event("change", { bubbles: true }));
    };
    const draw = () =>
      list.replaceChildren(
        ...lines().map((line, index) => {
          const chip = document.createElement("span");
          const remove = document.createElement("button");
          chip.className = "chip";
          chip.textContent = line;
          Object.assign(remove, { type: "button", className: "icon-x" });
          remove.setAttribute("aria-label", window.patchbay.fill(area.dataset.remove, { line }));
          remove.addEventListener("click", () => {
            write(lines().filter((_, at) => at !== index));
            input.focus();
          });
          chip.append(remove);
          return chip;
        }),
      );
    const add = () => {
      if (input.value.trim()) {
        const next = [...lines(), ...input.value.split("\n")];
        input.value = "";
        write(next.map((line) => line.trim()).filter(Boolean));
      }
    };
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") add();
      else if (event.key === "Backspace" && !input.value && lines().length) write(lines().slice(0, -1));
    });
    input.addEventListener("change", (event) => {
      event.stopPropagation();
      add();
    });
    input.addEventListener("paste", (event) => {
      const text = event.clipboardData?.getData("text") || "";
      if (text.includes("\n")) {
        event.preventDefault();
        input.value = text;
        add();
      }
    });
    area.hidden = true;
    area.removeAttribute("data-tokens");
    area.after(list, input);
    if (label) label.htmlFor = input.id;
    const help = document.getElementById(`${area.id}-lines`);
    if (help) help.hidden = true;
    draw();
  }

  /* Files are sent as soon as they are chosen or dropped, so that no other request carries them. */
  const MAX_FILE = 10 * 1024 * 1024;
  const fill = (text, values) => window.patchbay.fill(text, values);
  const say = (text, tone) => window.patchbay.announce(text, tone);

  function picks(zone) {
    const input = $("input[type=file]", zone);
    input.removeAttribute("name");
    form()?.removeAttribute("enctype");
    zone.removeAttribute("data-drop");
    zone.dataset.drops = "";
    input.addEventListener("change", (event) => {
      event.stopPropagation();
      const files = [...input.files];
      input.value = "";
      take(zone, files);
    });
  }

  function take(zone, files) {
    const many = $("input[type=file]", zone).multiple;
    if (files.length > 1 && !many) say(zone.dataset.one, "bad");
    for (const file of many ? files : files.slice(-1)) upload(zone, file);
  }

  function upload(zone, file) {
    const named = (word) => fill(zone.dataset[word], { name: file.name });
    if (!file.size) return problem(zone, named("empty"));
    if (file.size > MAX_FILE) return problem(zone, named("large"));
    $(".file-problem", zone.parentElement)?.remove();
    const line = document.createElement("li");
    const text = document.createElement("span");
    const bar = document.createElement("progress");
    const stop = document.createElement("button");
    text.textContent = file.name;
    Object.assign(bar, { max: 100, value: 0 });
    bar.setAttribute("aria-label", named("sending"));
    Object.assign(stop, { type: "button", className: "btn quiet small", textContent: zone.dataset.cancel });
    stop.setAttribute("aria-label", `${zone.dataset.cancel}: ${file.name}`);
    line.append(text, bar, stop);
    list(zone).append(line);

    const request = new XMLHttpRequest();
    const body = new FormData();
    for (const name of ["csrf_token", "drawn_in"]) {
      const field = form().elements[name];
      if (field) body.append(name, field.value);
    }
    body.append("file", file, file.name);
    request.open("POST", zone.dataset.url);
    request.setRequestHeader("HX-Request", "true");
    request.setRequestHeader("HX-Current-URL", location.href);
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) bar.value = (100 * event.loaded) / event.total;
    });
    request.addEventListener("loadend", () => line.remove());
    request.addEventListener("abort", () => say(named("stopped")));
    request.addEventListener("error", () => problem(zone, named("failed")));
    request.addEventListener("load", () => {
      const leads = request.getResponseHeader("HX-Redirect");
      if (leads) return location.assign(leads);
      const answer = new DOMParser().parseFromString(request.responseText, "text/html");
      if (request.status !== 200) return problem(zone, answer.body.textContent.trim() || named("failed"));
      say(named("sent"));
      add(zone, [...answer.body.children]);
    });
    stop.addEventListener("click", () => {
      request.abort();
      fileInput(zone)?.focus();
    });
    request.send(body);
  }

  /* A part that was swapped meanwhile has another list and another input. */
  const list = (zone) => document.getElementById(zone.dataset.list);
  const fileInput = (zone) => list(zone)?.parentElement.querySelector("input[type=file]");

  function add(zone, lines) {
    const now = list(zone);
    if (!now) return;
    if (!fileInput(zone).multiple) {
      all("[data-remove-file]", now).forEach(removeFile);
      const typed = $("[name^='m.']", now.parentElement);
      if (typed) typed.value = "";
    }
    now.append(...lines.map((line) => document.adoptNode(line)));
    changed(now);
  }

  function removeFile(button) {
    const body = new URLSearchParams({ key: button.dataset.removeFile });
    for (const name of ["csrf_token", "drawn_in"]) {
      const field = form().elements[name];
      if (field) body.append(name, field.value);
    }
    fetch(button.dataset.url, { method: "POST", body, headers: { "HX-Request": "true" } }).catch(() => null);
    button.closest("li").remove();
  }

  const changed = (element) => element.dispatchEvent(new Event("change", { bubbles: true }));

  function problem(zone, text) {
    const around = (list(zone) ?? zone).parentElement;
    const line = $(".file-problem", around) || document.createElement("p");
    line.className = "err file-problem";
    line.setAttribute("role", "alert");
    line.textContent = text;
    ($(".drop", around) ?? zone).after(line);
  }

  document.addEventListener("click", (event) => {
    const remove = event.target.closest("[data-remove-file]");
    if (!remove) return;
    const files = remove.closest("ul");
    removeFile(remove);
    files.parentElement.querySelector("input[type=file]")?.focus();
    changed(files);
  });
  for (const kind of ["dragenter", "dragover", "dragleave", "drop"])
    document.addEventListener(kind, (event) => {
      const zone = event.target.closest?.("[data-drops]");
      if (!event.dataTransfer?.types.includes("Files")) return;
      if (zone || $("[data-drops]")) event.preventDefault(); // a file beside the zone would replace the page
      if (!zone) return;
      zone.classList.toggle("over", kind === "dragenter" || kind === "dragover");
      if (kind !== "drop") return;
      const items = [...event.dataTransfer.items].filter((item) => item.kind === "file");
      const files = [];
      for (const item of items) {
        const entry = item.webkitGetAsEntry?.();
        if (entry?.isDirectory) problem(zone, fill(zone.dataset.folder, { name: entry.name }));
        else files.push(item.getAsFile());
      }
      take(zone, files);
    });

  function dress(within) {
    all("[data-drop]", within).forEach(picks);
    all("[data-tabs]", within).forEach(tabs);
    all("[data-tokens]", within).forEach(tokens);
    all("[data-shows]", within).forEach(parts);
  }

  /* Enter sends nothing. This comes before htmx hears of the form. */
  document.addEventListener(
    "submit",
    (event) => {
      if (event.target !== form() || !event.submitter?.matches("[data-enter]")) return;
      event.preventDefault();
      event.stopImmediatePropagation();
    },
    true,
  );

  document.addEventListener(
    "click",
    (event) => {
      if (event.target.closest("[data-run-confirmed]")) {
        event.target.closest("dialog").close();
        document.getElementById("confirmed").checked = true;
        form().requestSubmit($("[data-run]", form()));
      }
      const copy = event.target.closest("[data-copy-from]");
      if (copy) {
        copy.dataset.copy = document.getElementById(copy.dataset.copyFrom).textContent;
      }
    },
    true,
  );

  /* Swapped parts: what was changed since they were asked for and what stood open stays so. It does from the moment of the
     swap, since htmx waits for nothing in between: no other answer, nor who types on, meets the fields without it. */
  if (window.htmx) window.htmx.config.defaultSettleDelay = 0;
  const FILLED =
    "#fields :is(input, select, textarea)[id]:not([type=hidden], [type=password], [type=file], [data-picker] *)";
  const answer = (field) => (field.matches("[type=checkbox], [type=radio]") ? field.checked : field.value);
  const answers = () => new Map(all(FILLED).map((field) => [field.id, answer(field)]));
  const sent = new WeakMap(); // what stood in the form when a request was made
  const choice = (picker) => JSON.stringify(all("input:checked, [data-manual]", picker).map((field) => field.value));
  const choices = () => new Map(all("#fields [data-picker]").map((picker) => [picker.id, choice(picker)]));
  const lists = () => all(".files").map((files) => ({ files, lines: [...files.children] }));
  const NOTHING = { answers: new Map(), choices: new Map(), lists: [] };
  let before = NOTHING;
  let stood = { fields: [], pickers: [], lists: [] };
  let opened = [];
  document.addEventListener("htmx:config:request", (event) =>
    sent.set(event.detail.ctx, { answers: answers(), choices: choices(), lists: lists() }),
  );
  document.addEventListener("htmx:before:swap", (event) => {
    before = sent.get(event.detail?.ctx) ?? NOTHING;
    stood = { fields: all(FILLED), pickers: all("#fields [data-picker]"), lists: lists() };
    opened = all("#fields details[open]:not([data-picker])[id], .snippet[open]").map((details) => details.id);
  });
  document.addEventListener("htmx:after:swap", (event) => {
    for (const id of opened) {
      const details = document.getElementById(id);
      if (details) details.open = true;
    }
    for (const old of stood.fields) {
      const field = document.getElementById(old.id);
      const value = answer(old);
      const isChanged = before.answers.has(old.id) && before.answers.get(old.id) !== value;
      if (isChanged && field && field !== old) field[typeof value === "boolean" ? "checked" : "value"] = value;
    }
    for (const old of stood.pickers)
      if (before.choices.has(old.id) && (old.open || before.choices.get(old.id) !== choice(old))) keep(old);
    for (const old of stood.lists) relist(old, before.lists.find(({ files }) => files.id === old.files.id) ?? old);
    stood = { fields: [], pickers: [], lists: [] };
    opened = [];
    dress(document);
    const once = $("[data-next-once]");
    const own = form()?.querySelector("[name=once]");
    if (once && own) own.value = once.value;
    const swapped = event.detail?.ctx?.target?.id;
    if (swapped === "fields") $("#component-form > [role=alert]")?.remove();
    const ran = swapped === "outcome";
    const ticked = document.getElementById("confirmed");
    if (ran && ticked) ticked.checked = false;
    if (ran) forgive();
    if (ran && window.matchMedia("(max-width: 1020px)").matches)
      document.getElementById("outcome").scrollIntoView({ block: "start" });
  });

  /* A picker in which somebody is choosing, or has chosen since, in place of what the server drew. What it lists may follow
     from the other answers, so it is asked for again. */
  function keep(old) {
    const drawn = document.getElementById(old.id);
    if (!drawn || drawn === old) return;
    const picker = old.cloneNode(true);
    picker.removeAttribute("data-loaded");
    drawn.replaceWith(picker);
    window.htmx.process(picker);
    if (picker.open) open(picker);
  }

  /* A list of files as it is now, where the server drew it as it was then: without what was removed meanwhile, and with what
     was added or is still being uploaded. */
  function relist(now, then) {
    const files = document.getElementById(now.files.id);
    if (!files || files === now.files) return;
    for (const line of then.lines) if (!now.lines.includes(line)) document.getElementById(line.id)?.remove();
    files.append(...now.lines.filter((line) => !line.id || !then.lines.includes(line)));
  }

  /* What was wrong before a run that went through is wrong no longer. */
  function forgive() {
    all("#component-form > [role=alert], #fields .field > .err").forEach((said) => said.remove());
    all("#fields [aria-invalid]").forEach((field) => field.removeAttribute("aria-invalid"));
    all("#fields .invalid").forEach((field) => field.classList.remove("invalid"));
  }

  /* What was typed since the draft was last saved is sent when the page is left. The session may have ended by then, so
     it also stays in this tab, and is filled in again if the same person comes back and no draft was saved since. */
  let edits = 0;
  let savedEdits = 0;
  const ahead = Date.now() - Number(form()?.dataset.now ?? Date.now()); // of this clock before the server's
  const place = () => `draft ${location.pathname}${location.search}`;
  const isDraft = (ctx) => ctx?.request?.action === form()?.dataset.draftUrl;
  for (const kind of ["input", "change"])
    document.addEventListener(kind, (event) => {
      if (event.target.closest("#fields")) edits += 1;
    });
  document.addEventListener("htmx:before:request", (event) => {
    if (isDraft(event.detail.ctx)) event.detail.ctx.edits = edits;
  });
  document.addEventListener("htmx:after:swap", (event) => {
    if (isDraft(event.detail?.ctx)) savedEdits = event.detail.ctx.edits ?? savedEdits;
  });

  function leave() {
    if (!form() || edits === savedEdits) return;
    const values = Object.fromEntries(answers());
    const kept = JSON.stringify({ viewer: form().dataset.viewer, at: Date.now() - ahead, values });
    try {
      sessionStorage.setItem(place(), kept);
    } catch {
      /* storage is refused in this frame, or full */
    }
    const body = new URLSearchParams([...new FormData(form())].filter(([, value]) => typeof value === "string"));
    const headers = { "HX-Request": "true", "HX-Request-Type": "partial", "HX-Current-URL": location.href };
    const sent = edits;
    fetch(form().dataset.draftUrl, { method: "POST", body, headers, keepalive: true })
      .then((answer) => {
        if (answer.ok) savedEdits = sent;
      })
      .catch(() => null);
  }
  addEventListener("pagehide", leave);
  document.addEventListener("visibilitychange", () => document.hidden && leave());

  function restore() {
    let kept;
    try {
      kept = JSON.parse(sessionStorage.getItem(place()));
      sessionStorage.removeItem(place());
    } catch {
      return;
    }
    if (!form() || kept?.viewer !== form().dataset.viewer || kept.at < Number(form().dataset.draftAt)) return;
    let last;
    for (const [id, value] of Object.entries(kept.values)) {
      const field = document.getElementById(id);
      if (!field?.matches(FILLED) || answer(field) === value) continue;
      field[typeof value === "boolean" ? "checked" : "value"] = value;
      last = field;
    }
    if (!last) return;
    say(form().dataset.restored);
    setTimeout(() => changed(last), 500); // when htmx listens, which saves it
  }

  /* Ctrl+Enter runs from any field. */
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
    const button = event.target.closest("#component-form") && $("[data-run]", form());
    if (!button || button.disabled) return;
    event.preventDefault();
    button.focus();
    form().requestSubmit(button);
  });

  const start = () => {
    restore();
    dress(document);
  };
  document.readyState === "loading" ? document.addEventListener("DOMContentLoaded", start) : start();
})();

/* What pages do better with JavaScript; each works without it. Behaviour hangs on data attributes:
   data-copy · data-reveal="id" · data-dialog="id" · data-ask (on a link to a question) · data-close · data-search ·
   data-shortcuts · data-set-theme="name" ·
   data-relative (on <time>) · data-focus (in a swapped fragment) · data-announce="text", for ears alone with
   data-quiet · data-open="id" (a dialog, in a swapped fragment) ·
   data-opened (a field that asks for something when its dialog opens) · data-once="no" (on a form).
   One listener a kind of event on the document, so that swapped fragments need no wiring. */
(() => {
  "use strict";
  const root = document.documentElement;
  const $ = (selector, from = document) => from.querySelector(selector);

  /* What is said here stands in the page, in its language (templates/shared/words.html); {name} is filled in. */
  const word = (name) => $("#words").dataset[name];
  const fill = (text, values) => text.replace(/{(\w+)}/g, (_, name) => values[name]);

  /* The status region: one toast, spoken politely. */
  let fading;
  function announce(text, tone = "ok") {
    const region = document.getElementById("status");
    if (!region) return;
    const line = document.createElement("p");
    line.className = tone;
    line.textContent = text;
    region.replaceChildren(line);
  }
  function fadeStatus() {
    clearTimeout(fading);
    const line = $("#status > :not(.bad)");
    if (line) fading = setTimeout(() => line.remove(), 6000);
  }

  /* Copy: the value stands in the <code> beside the button, or in data-copy itself. */
  async function copy(button) {
    const text = button.dataset.copy || $("code, pre", button.parentElement).textContent;
    const label = $("span", button);
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      announce(word("uncopied"), "bad");
      return;
    }
    announce(word("copied"));
    if (!label || button.dataset.was) return;
    button.dataset.was = label.textContent;
    label.textContent = word("done");
    setTimeout(() => {
      label.textContent = button.dataset.was;
      delete button.dataset.was;
    }, 1600);
  }

  function reveal(button) {
    const input = document.getElementById(button.dataset.reveal);
    const hidden = input.type === "password";
    input.type = hidden ? "text" : "password";
    button.setAttribute("aria-pressed", String(hidden));
    $("span", button).textContent = word(hidden ? "hide" : "show");
  }

  function hideSecrets(form) {
    form.querySelectorAll("[data-reveal][aria-pressed=true]").forEach(reveal);
  }

  function theme(button) {
    const name = button.dataset.setTheme;
    root.dataset.theme = name;
    document
      .querySelectorAll("[data-set-theme]")
      .forEach((other) => other.setAttribute("aria-pressed", String(other.dataset.setTheme === name)));
    if (button.form) return keepTheme(button);
    const [prefix, secure] = location.protocol === "https:" ? ["__Host-", "; Secure"] : ["", ""];
    document.cookie = `${prefix}theme=${name}; Path=/; Max-Age=31536000; SameSite=Lax${secure}`;
  }
  /* The server keeps it for the person; the page has it already. */
  async function keepTheme(button) {
    const body = new URLSearchParams(new FormData(button.form));
    body.set("theme", button.value);
    const answer = await fetch(button.form.action, {
      method: "POST",
      body,
      headers: { "HX-Request": "true" },
      keepalive: true,
    }).catch(() => null);
    if (!answer?.ok) announce(word("unsaved"), "bad");
  }

  function openDialog(id) {
    const dialog = document.getElementById(id);
    if (dialog && !dialog.open) {
      dialog.showModal();
      $("[data-opened]", dialog)?.dispatchEvent(new Event("input", { bubbles: true })); // what it shows at first
    }
    return Boolean(dialog);
  }

  /* A question before a dangerous step: the page that a link leads to, in a dialog. */
  async function ask(link) {
    const answer = await fetch(link.href).catch(() => null);
    const text = answer?.ok && (await answer.text()).replace(/<style.*?<\/style>/s, ""); // its nonce is not this page's
    const page = text && new DOMParser().parseFromString(text, "text/html");
    const body = page && $("main .card.narrow > .body", page);
    if (!body) return location.assign(link.href);
    $("#ask-title").textContent = $("main h1", page).textContent.trim();
    $("#ask-body").replaceChildren(document.adoptNode(body));
    document.querySelectorAll("details.menu[open]").forEach((menu) => {
      menu.open = false;
      $("summary", menu).focus();
    });
    openDialog("ask");
    $("#ask-body [data-close]")?.focus();
  }

  document.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    const link = event.target.closest("a[data-ask]");
    if (!link || event.defaultPrevented) return;
    event.preventDefault();
    ask(link);
  });

  document.addEventListener("click", (event) => {
    const hit = (selector) => event.target.closest(selector);
    let found;
    if ((found = hit("[data-copy]"))) copy(found);
    else if ((found = hit("[data-reveal]"))) reveal(found);
    else if ((found = hit("[data-set-theme]"))) {
      event.preventDefault();
      theme(found);
    } else if ((found = hit("[data-dialog]"))) {
      if (openDialog(found.dataset.dialog)) event.preventDefault();
    } else if ((found = hit("[data-close]")) && found.closest("dialog")) {
      event.preventDefault();
      found.closest("dialog").close();
    } else if (event.target.matches?.("dialog[open]") && event.target.dataset.modal !== "strict") outside(event);
    document.querySelectorAll("details.menu[open]").forEach((menu) => {
      if (!menu.contains(event.target)) menu.open = false;
    });
  });

  /* A click on the backdrop hits the dialog itself, outside its box. */
  function outside(event) {
    const box = event.target.getBoundingClientRect();
    const inside =
      event.clientX >= box.left &&
      event.clientX <= box.right &&
      event.clientY >= box.top &&
      event.clientY <= box.bottom;
    if (!inside) event.target.close();
  }

  /* The palette: Ctrl+K or ⌘K opens the search over everything, arrows choose, Enter opens the first result. */
  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.altKey || event.shiftKey) return;
    const other = $("dialog[open]:not(#palette)");
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k" && !other && openDialog("palette")) {
      event.preventDefault();
      $("#palette-q").select();
      return;
    }
    const list = event.target.closest("#palette[open]");
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!list || !step) return;
    event.preventDefault();
    const hits = [...list.querySelectorAll(".hit")];
    const next = hits.indexOf(document.activeElement) + step;
    (next < 0 ? $("#palette-q") : hits[Math.min(next, hits.length - 1)])?.focus();
  });
  document.addEventListener(
    "submit",
    (event) => {
      const list = event.target.closest("#palette");
      if (!list) return;
      const answered = $("[data-query]", list)?.dataset.query === $("#palette-q").value.trim();
      const first = answered && $(".hit", list);
      if (!first) return; // the page of the search answers
      event.preventDefault();
      event.stopImmediatePropagation();
      location.assign(first.href);
    },
    true,
  );

  /* Single keys; kept out of fields, and switchable off (WCAG 2.1.4). Storage may be refused in a frame. */
  const kept = {
    get on() {
      try {
        return localStorage.getItem("shortcuts") !== "off";
      } catch {
        return true;
      }
    },
    set on(yes) {
      try {
        yes ? localStorage.removeItem("shortcuts") : localStorage.setItem("shortcuts", "off");
      } catch {
        /* not kept */
      }
    },
  };
  const typing = (target) =>
    target.isContentEditable || target.matches?.("input:not([type=checkbox]):not([type=radio]), textarea, select");

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      const menu = $("details.menu[open]");
      if (menu) {
        menu.open = false;
        $("summary", menu).focus();
      }
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || typing(event.target) || !kept.on) return;
    if (event.key === "?" && openDialog("keys")) event.preventDefault();
    const search = event.key === "/" && !$("dialog[open]") && $("[data-search]");
    if (search) {
      event.preventDefault();
      search.focus();
      search.select();
    }
  });

  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-shortcuts]")) kept.on = event.target.checked;
  });

  /* A form that posts is sent once. Its button stays in the form data, because it is disabled only afterwards. */
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (event.defaultPrevented || form.method !== "post" || form.dataset.once === "no" || form.target === "_blank")
      return;
    if (form.dataset.sent) {
      event.preventDefault();
      return;
    }
    hideSecrets(form);
    form.dataset.sent = "yes";
    const button = event.submitter || $("[type=submit], button:not([type])", form);
    setTimeout(() => busy(button, true));
  });

  function busy(button, yes) {
    if (!button) return;
    button.disabled = yes;
    yes ? button.setAttribute("aria-busy", "true") : button.removeAttribute("aria-busy");
  }

  function restore(within) {
    within.querySelectorAll("form[data-sent]").forEach((form) => {
      delete form.dataset.sent;
    });
    within.querySelectorAll("button[aria-busy=true]").forEach((button) => busy(button, false));
  }
  addEventListener("pageshow", (event) => {
    if (event.persisted) restore(document);
  });

  /* htmx: the same guard, focus moved on purpose, and failures said in the status region. */
  const submitter = (ctx) =>
    ctx.sourceElement?.matches("form") && (ctx.sourceEvent?.submitter || $("[type=submit]", ctx.sourceElement));
  let latest; // the request before which somebody last had the focus somewhere
  document.addEventListener("htmx:before:request", (event) => {
    const { ctx } = event.detail;
    ctx.focused = document.activeElement;
    if (ctx.focused !== document.body) latest = ctx;
    busy(submitter(ctx), true);
  });
  document.addEventListener("htmx:finally:request", (event) => {
    const { ctx } = event.detail;
    const form = ctx.sourceElement?.closest("form");
    if (form) {
      delete form.dataset.sent;
      restore(form);
    }
    if (ctx === latest) keepFocus(ctx);
    const asked = $("[data-open]"); // now, so that closing it returns the focus
    if (asked) openDialog(asked.dataset.open);
    asked?.removeAttribute("data-open");
  });

  /* What had the focus before a request and lost it by being disabled or swapped gets it back; where it is gone for
     good, the part that took its place. */
  function keepFocus({ focused, target }) {
    if (document.activeElement !== document.body) return;
    const same = focused.isConnected ? focused : alike(focused);
    if (same) same.focus({ preventScroll: true });
    if (document.activeElement !== document.body || !target?.isConnected || target.id === "status") return;
    target.tabIndex = -1;
    target.focus({ preventScroll: true });
  }
  function alike(gone) {
    if (gone.id) return document.getElementById(gone.id);
    const path = (one) => one.getAttribute("href") || one.getAttribute("formaction");
    const text = (one) => one.textContent.trim();
    const group = (one) => one.closest("[aria-label]")?.getAttribute("aria-label");
    const same = [...document.querySelectorAll(gone.localName)].filter((other) =>
      path(gone)
        ? path(other) === path(gone)
        : gone.name
          ? other.name === gone.name && other.value === gone.value
          : text(gone) && text(other) === text(gone),
    );
    return same.find((other) => group(other) === group(gone)) || same[0];
  }

  document.addEventListener("htmx:response:error", (event) => {
    const { ctx } = event.detail;
    if (ctx.response.status < 500 || !/<html[\s>]/i.test(ctx.text)) return;
    ctx.text = $("#words").innerHTML;
  });

  document.addEventListener("htmx:error", (event) => {
    if (event.detail.ctx && !event.detail.ctx.response) announce(word("offline"), "bad");
  });

  document.addEventListener("htmx:after:swap", () => {
    const wanted = $("[data-focus]");
    if (wanted) {
      wanted.removeAttribute("data-focus");
      if (!wanted.matches("a, button, input, select, textarea, summary, [tabindex]")) wanted.tabIndex = -1;
      wanted.focus();
    }
    const news = $("[data-announce]");
    if (news) {
      announce(news.dataset.announce, news.hasAttribute("data-quiet") ? "sr" : "ok");
      news.removeAttribute("data-announce");
    }
    refreshTimes();
  });

  /* Relative times count on, worded as webapp/kit/translation.py words them. Past a week the server's date stands. */
  const UNITS = [
    ["minute", 60, 3600],
    ["hour", 3600, 86400],
    ["day", 86400, 604800],
  ];
  const language = root.lang === "en" ? "en-GB" : root.lang;
  const span = new Intl.RelativeTimeFormat(language);
  function words(at, now) {
    const seconds = Math.floor(Math.abs(now - at) / 1000);
    if (seconds < 45) return word(at <= now ? "now" : "soon");
    for (const [unit, length, limit] of UNITS) {
      if (seconds >= limit) continue;
      const count = Math.max(1, Math.floor(seconds / length));
      return span.format(at <= now ? -count : count, unit);
    }
    return "";
  }
  function refreshTimes() {
    const now = Date.now();
    document.querySelectorAll("time[data-relative]").forEach((time) => {
      const text = words(Date.parse(time.dateTime), now);
      if (text && text !== time.textContent) time.textContent = text;
    });
    if (root.dataset.zone === "") document.querySelectorAll("time[title]:not([data-local])").forEach(localTime);
  }
  /* Nobody chose a time zone: exact times are put into the browser's own. Past a week, only the date is shown. */
  const format = (options) => new Intl.DateTimeFormat(language, { day: "numeric", month: "short", ...options });
  const exact = format({
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "short",
  });
  function localTime(time) {
    const at = new Date(time.dateTime),
      now = new Date();
    time.dataset.local = "";
    time.title = exact.format(at);
    if (!words(at, now))
      time.textContent = format(at.getFullYear() === now.getFullYear() ? {} : { year: "numeric" }).format(at);
  }

  function start() {
    if (!root.classList.contains("within")) root.classList.toggle("framed", window.self !== window.top);
    const shortcuts = $("[data-shortcuts]");
    if (shortcuts) shortcuts.checked = kept.on;
    $("#status") && new MutationObserver(fadeStatus).observe($("#status"), { childList: true });
    fadeStatus();
    refreshTimes();
    /* What is partly in view when it is focused would stay so; it goes beside the fade, by the list's scroll-padding. */
    document.addEventListener("focusin", ({ target }) => {
      if (target.matches(":is(.tabs, .chips, .seg.full) a:focus-visible"))
        target.scrollIntoView({ block: "nearest", inline: "nearest" });
    });
    if (!CSS.supports("scroll-initial-target: nearest"))
      document.querySelectorAll(".tabs [aria-current]").forEach((tab) => {
        tab.parentElement.scrollLeft = tab.offsetLeft - tab.parentElement.offsetLeft - 40;
      });
    $("[data-announce]")?.removeAttribute("data-announce"); // a page that was just read says it itself
    $("[data-focus]")?.focus();
    setInterval(() => {
      if (!document.hidden) refreshTimes();
    }, 20000);
  }
  document.readyState === "loading" ? document.addEventListener("DOMContentLoaded", start) : start();

  /* By itself, htmx listens only some time after the page is loaded, and what is done until then is lost: a palette that
     was opened would stay empty. Every script is there by now, and hears of what htmx asks for at once. */
  document.addEventListener("DOMContentLoaded", () => window.htmx?.process(document.body));

  window.patchbay = Object.freeze({ announce, fill, openDialog });
})();

/* The Connect Link: opens the sign-in's window by the very click, waits by asking the server, and tells the embedding
   page how it went, at its own origins only. Everything but the window works without this file. */
(() => {
  "use strict";
  const $ = (selector, from = document) => from.querySelector(selector);
  const DONE = "patchbay:sign-in-ended";
  const framed = window.parent !== window;
  let popup = null;

  /* Messages to the product's page, around the frame or behind the window that it opened: once for each origin that the
     token allows, never to just anyone. A page that isolates itself (COOP) is not there, and asks the server. */
  const origins = JSON.parse($("#link")?.dataset.origins || "[]");
  const product = framed ? window.parent : window.opener;
  const known = framed && location.ancestorOrigins?.[0]; // spares the others a line on the console
  function tell(message) {
    for (const origin of known ? origins.filter((allowed) => allowed === known) : origins)
      product?.postMessage(message, origin);
  }
  function tellClose() {
    tell({ type: "close" });
    if (!framed && origins.length) window.close();
  }

  /* What the page shows in the end; each outcome is told once, also if two answers draw it one after the other. */
  let told = "";
  function settle() {
    const outcome = $("[data-outcome]");
    if (!outcome) told = "";
    if (!outcome || outcome.hasAttribute("data-settled")) return;
    const said = JSON.stringify(outcome.dataset);
    outcome.dataset.settled = "";
    $("[data-focus]", outcome)?.focus();
    if (said === told) return;
    told = said;
    if (outcome.dataset.outcome === "success") succeed(outcome);
    else if (outcome.dataset.outcome === "error") {
      const { code, error } = outcome.dataset;
      tell({ type: "error", error, code });
    }
  }
  function succeed(outcome) {
    tell({ type: "success", authProvisionId: outcome.dataset.account });
    tellClose();
    if (outcome.dataset.next) setTimeout(() => location.assign(outcome.dataset.next), 900);
  }

  /* The sign-in's own window, at its end. */
  function leaveWindow() {
    if (!$("[data-notify]")) return;
    try {
      window.opener?.postMessage(DONE, location.origin);
    } catch {
      /* the page asks the server anyway */
    }
    window.close();
  }
  addEventListener("message", (event) => {
    if (event.origin === location.origin && event.data === DONE) ask();
  });

  /* Waiting: the server is asked, because a window's "closed" lies once a provider isolates itself. */
  const ask = () => {
    const poll = $("[data-poll]");
    if (poll) htmx.trigger(poll, "poll");
  };
  function wait() {
    const template = $("#waiting");
    if (!template || !$("#ask")) return;
    $("#ask").hidden = true;
    $("#ask [data-poll]")?.remove();
    template.after(template.content.cloneNode(true));
    const waiting = $(".waiting");
    htmx.process(waiting);
    $("[data-focus]", waiting).focus();
    watch(Date.now());
  }
  /* A frame whose sign-in was begun before this script came, or in a tab of its own, waits as well. */
  function waitAsWell() {
    const waiting = $(".waiting:not([data-watched])");
    if (!waiting || $("#ask")) return;
    waiting.dataset.watched = "";
    watch(Date.now());
  }

  /* Nothing happens: the window seems closed, or a while has passed. */
  const SOON = 5000,
    LATE = 20000;
  function watch(since) {
    const stuck = $("[data-stuck]");
    if (!stuck) return;
    const passed = Date.now() - since;
    if (passed < (popup?.closed ? SOON : LATE)) {
      setTimeout(watch, 1000, since);
      return;
    }
    stuck.hidden = false;
    const words = $("[data-say]", stuck);
    words.textContent = words.dataset.say;
  }
  addEventListener("focus", ask);

  function openWindow(link) {
    const width = Math.min(560, screen.availWidth),
      height = Math.min(720, screen.availHeight);
    const left = Math.max(0, screenX + (outerWidth - width) / 2),
      top = Math.max(0, screenY + (outerHeight - height) / 2);
    const features = `popup,width=${width},height=${height},left=${Math.round(left)},top=${Math.round(top)}`;
    try {
      return window.open(link.dataset.window, "_blank", features);
    } catch {
      return null;
    }
  }

  /* A window opened by a frame may be open all the same: a page that isolates itself (COOP) hides it from us. */
  function offerTab(link) {
    ask();
    setTimeout(() => {
      if (!$("#blocked")) return;
      $("#blocked").hidden = false;
      $("[data-tab]", link.closest(".panel"))?.focus();
    }, 800);
  }

  let begun = false;
  function begin(event, link) {
    event.preventDefault();
    if (begun) return;
    popup = openWindow(link);
    if (popup) {
      begun = true;
      wait();
      return;
    }
    if (framed) {
      offerTab(link);
      return;
    }
    $("#blocked").hidden = false;
    begun = true;
    $("#blocked .say").textContent = $("#blocked").dataset.instead;
    setTimeout(() => location.assign($("[data-tab]", link.closest(".panel")).href), 700);
  }

  /* The clipboard, where the browser lets a page read it. */
  async function paste(button) {
    const input = document.getElementById(button.dataset.paste);
    try {
      input.value = (await navigator.clipboard.readText()).trim();
      input.dispatchEvent(new Event("input", { bubbles: true }));
    } catch {
      button.hidden = true;
    }
    input.focus();
  }

  /* In a frame: Close, Escape and a click beside the card, unless the host has its own way to close. */
  function leave() {
    popup?.close();
    tellClose();
  }
  const closable = () => framed && $("[data-closable]");
  function isOutside(target) {
    const nothingToLose = !$(".waiting") && !$("form[data-ready][data-edited]");
    return target.matches(".link-page") && closable() && nothingToLose;
  }
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.isComposing && !event.defaultPrevented && closable()) leave();
  });

  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    const hit = (selector) => event.target.closest(selector);
    let found;
    if ((found = hit("[data-start]"))) begin(event, found);
    else if ((found = hit("[data-tab]"))) {
      if (begun) event.preventDefault();
      else {
        begun = true;
        if (found.target === "_blank") setTimeout(wait);
      }
    } else if (hit("[data-post-close]") || isOutside(event.target)) leave();
    else if ((found = hit("[data-paste]"))) paste(found);
  });

  /* A form's button is ready when the form is; the server checks again. */
  function ready(form) {
    const button = $("[type=submit]", form);
    if (button && !form.dataset.sent) button.disabled = !form.checkValidity();
  }
  for (const kind of ["input", "change"]) {
    document.addEventListener(kind, (event) => {
      const form = event.target.closest("form[data-ready]");
      if (!form) return;
      form.dataset.edited = "";
      ready(form);
    });
  }

  /* The link's expiry counts down; at its end the page says so. */
  function countDown() {
    const shown = $("[data-expires]");
    if (!shown) return;
    const left = Math.ceil((Number(shown.dataset.expires) - Date.now()) / 60000);
    if (left <= 0) {
      shown.textContent = shown.dataset.expired;
      document.querySelectorAll("[data-start], [data-tab]").forEach((link) => link.removeAttribute("href"));
      document.querySelectorAll("form[data-ready] [type=submit]").forEach((button) => {
        button.disabled = true;
      });
      return;
    }
    const { inHours, inOneHour, inWholeHours, inMinutes } = shown.dataset,
      hours = Math.floor(left / 60),
      whole = hours === 1 ? inOneHour : inWholeHours;
    const words = !hours ? inMinutes : left % 60 ? inHours : whole;
    shown.textContent = window.patchbay.fill(words, { hours, minutes: hours ? left % 60 : left });
    setTimeout(countDown, 15000);
  }

  function enhance() {
    document.querySelectorAll("form[data-ready]").forEach(ready);
    if (navigator.clipboard?.readText)
      document.querySelectorAll("[data-paste]").forEach((button) => {
        button.hidden = false;
      });
    $("[role=alert][data-focus]")?.focus();
    countDown();
    if ($("#link[data-ready]")) tell({ type: "ready" });
    leaveWindow();
    settle();
    waitAsWell();
    document.documentElement.classList.add("ready");
    if (framed) setTimeout(ask);
  }

  document.addEventListener("htmx:after:swap", () => {
    settle();
    waitAsWell();
  });
  addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload();
  });
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", enhance);
  else enhance();
})();

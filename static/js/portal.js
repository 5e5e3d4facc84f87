/* The portal talks to the page around it, at the origins of its token and to no other: it asks for the next token
   before the one it has ends, takes it, and goes to sleep without one. What the page shows stays as it is meanwhile. */
(() => {
  "use strict";
  const $ = (selector) => document.querySelector(selector);
  const state = $("#portal");
  if (!state) return;
  const EARLY = 120000,
    AGAIN = 15000,
    PATIENCE = 6000;
  const origins = JSON.parse(state.dataset.origins);
  const asleep = $("#asleep");
  const former = [];
  let base = state.dataset.base;
  let ends = Date.now() + Number(state.dataset.left);
  let asked = 0;

  function tell(message) {
    if (window.parent !== window) origins.forEach((origin) => window.parent.postMessage(message, origin));
  }

  function ask() {
    asked = Date.now();
    tell({ type: "token-needed" });
  }

  /* Two minutes before the end the page around is asked, and again until it answers; then the page sleeps. */
  function watch() {
    if (asleep || !base) return;
    const now = Date.now();
    if (ends - now <= EARLY && now - asked >= AGAIN) ask();
    if (ends <= now && now - ends >= PATIENCE) location.replace(location.href);
  }

  /* The address that begins like that of an earlier session, as it is now. */
  function moved(address) {
    const old = former.find((one) => address === one || address.startsWith(`${one}/`) || address.startsWith(`${one}?`));
    return old ? base + address.slice(old.length) : address;
  }

  /* Another token has another session: every address on the page moves to it, and what was typed stays. */
  function move(next) {
    former.push(base);
    base = next;
    for (const element of document.querySelectorAll("*"))
      for (const { name, value } of [...element.attributes])
        if (value.startsWith("/portal/") && moved(value) !== value) element.setAttribute(name, moved(value));
    const here = location.pathname + location.search;
    history.replaceState(history.state, "", moved(here) + location.hash);
  }

  async function take(token) {
    const body = new URLSearchParams({ handle: base.split("/").pop(), token });
    const answer = await fetch("/portal/renewal", { method: "POST", body }).catch(() => null);
    const content = (await answer?.json().catch(() => null)) || {};
    if (!answer?.ok) return tell({ type: "error", error: content.error || "", code: "token_refused" });
    if (asleep) return location.replace(content.base + asleep.dataset.further);
    ends = Date.now() + content.left;
    asked = 0;
    move(content.base);
  }

  addEventListener("message", ({ source, origin, data }) => {
    if (source !== window.parent || source === window || !origins.includes(origin)) return;
    if (data?.type === "token" && typeof data.token === "string" && base) take(data.token);
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-carry-on]")) ask();
  });
  document.addEventListener("htmx:config:request", ({ detail }) => {
    detail.ctx.request.action = moved(detail.ctx.request.action);
  });

  function settle() {
    const connected = $("[data-connected]");
    if (connected) tell({ type: "success", authProvisionId: connected.dataset.connected });
    watch();
    setInterval(watch, 2000);
    document.addEventListener("visibilitychange", watch);
  }
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", settle);
  else settle();
})();

/* Passkeys: a form with data-passkey="get" signs in, one with "create" adds one. Each asks the server for options at
   data-options, lets the device answer, and sends that to data-finish, which says where to go. What goes wrong stands
   in its [data-problem]; forms stay hidden where the browser has no passkeys. */
(() => {
  "use strict";
  const able = window.PublicKeyCredential?.parseCreationOptionsFromJSON;
  if (!able) return;

  const problem = (form, text) => {
    const place = form.querySelector("[data-problem]");
    place.hidden = !text;
    place.querySelector("span").textContent = text;
  };

  async function post(url, body, form) {
    const token = form.elements.csrf_token.value;
    const answer = await fetch(url, { method: "POST", body, headers: { "X-CSRFToken": token, ...json(body) } });
    const content = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Error(content.error || form.dataset.failed);
    return content;
  }
  const json = (body) => (typeof body === "string" ? { "Content-Type": "application/json" } : {});

  async function ask(form, options) {
    try {
      if (form.dataset.passkey === "get") {
        const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
        return await navigator.credentials.get({ publicKey });
      }
      const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
      return await navigator.credentials.create({ publicKey });
    } catch (error) {
      const known = error.name === "InvalidStateError" ? form.dataset.known : "";
      throw new Error(known || form.dataset.cancelled);
    }
  }

  async function run(form) {
    const button = form.querySelector("[type=submit]");
    button.disabled = true;
    problem(form, "");
    try {
      const options = await post(form.dataset.options, new FormData(form), form);
      const credential = (await ask(form, options)).toJSON();
      const { next, name } = Object.fromEntries(new FormData(form));
      const done = await post(form.dataset.finish, JSON.stringify({ credential, next, name }), form);
      location.assign(done.url);
    } catch (error) {
      problem(form, error instanceof TypeError ? form.dataset.failed : error.message);
      button.disabled = false;
    }
  }

  document.querySelectorAll("form[data-passkey]").forEach((form) => {
    form.hidden = false;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      run(form);
    });
  });
})();

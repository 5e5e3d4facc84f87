/* What a product's page calls to connect an account or to show the portal, without a dependency. It is served as a
   classic script at /embed.js and as a module at /embed.mjs, with the service's address for `base`; comments and
   indentation are left out there. Messages count only from the service's own origin and from the very window that was
   opened for them. */

/** @typedef {import("./patchbay").ConnectOptions} ConnectOptions */
/** @typedef {import("./patchbay").PortalOptions} PortalOptions */
/** @typedef {import("./patchbay").Connection} Connection */

/** @param {string} base The service's address, without a slash at its end. */
const create = (base) => {
  const home = new URL(base).origin;
  const IN_APP = /FBA[NV]|Instagram|Line\/|MicroMessenger|Twitter|GSA\/|; wv\)/;
  const FATAL = ["origin_not_allowed", "invalid_token", "token_missing"];
  const ASKED_MS = 5000;
  const LOADED_MS = 20000;
  const GONE_MS = 30000; // of looking at this page, until a window that may only be cut off from it counts as closed
  const MARK = "patchbay";
  const OVER =
    "position:fixed;inset:0;width:100%;height:100%;max-width:none;max-height:none;margin:0;padding:0;border:0;" +
    "background:transparent;overflow:hidden";

  /** @type {{again: () => boolean, handle: Connection} | null} What is under way. */
  let current = null;

  /** @param {string} code @param {string} message */
  const failure = (code, message) => Object.assign(new Error(message), { name: "PatchbayError", code });

  const notAllowed = () =>
    failure(
      "origin_not_allowed",
      `${location.origin} is missing from this token's allowed_origins. Your server adds it when it makes the token.`,
    );

  /** @param {{token?: any, tokenCallback?: any}} options */
  const tokenOf = async ({ token, tokenCallback }) => {
    const made = token || (await tokenCallback?.());
    const text = made?.token || made;
    if (typeof text !== "string") throw failure("token_missing", "Pass token, or a tokenCallback that returns one.");
    return text;
  };

  /** @param {string} path @param {Record<string, string | undefined | null>} parameters */
  const address = (path, parameters) => {
    const used = Object.entries(parameters).filter(([, value]) => value);
    return `${base}${path}?${new URLSearchParams(/** @type {any} */ (used))}`;
  };

  /** @param {string} title @param {string} style */
  const iframe = (title, style) => {
    const frame = document.createElement("iframe");
    frame.title = title;
    frame.referrerPolicy = "origin";
    frame.allow = "clipboard-read; clipboard-write";
    frame.style.cssText = `border:0;width:100%;height:100%;${style}`;
    return frame;
  };

  /* How far it has come; null where the service cannot be asked.
     @param {string} token */
  const stateOf = async (token) => {
    try {
      const body = new URLSearchParams({ token });
      const request = { method: "POST", body, signal: AbortSignal.timeout(ASKED_MS) };
      return await (await fetch(`${base}/_static/connect/state`, request)).json();
    } catch {
      return null;
    }
  };

  const openWindow = () => {
    const width = Math.min(560, screen.availWidth);
    const height = Math.min(760, screen.availHeight);
    const left = Math.max(0, screenX + (outerWidth - width) / 2);
    const top = Math.max(0, screenY + (outerHeight - height) / 2);
    const features = `popup,width=${width},height=${height},left=${Math.round(left)},top=${Math.round(top)}`;
    try {
      const popup = window.open("", "", features);
      return popup && !popup.closed ? popup : null;
    } catch {
      return null;
    }
  };

  const back = () => {
    const url = new URL(location.href);
    for (const name of ["account_id", "error"]) url.searchParams.delete(name);
    url.searchParams.set(MARK, "1");
    return url.href;
  };

  /**
   * Connect an account. Call it by the click itself, so that a window may open.
   * @param {ConnectOptions} options
   * @returns {Connection}
   */
  function connect(options) {
    if (current?.again()) return current.handle;
    let mode = options.mode || "iframe";
    if (mode !== "redirect" && IN_APP.test(navigator.userAgent)) mode = "redirect";
    /* Before anything is awaited: later a browser blocks it. */
    const popup = mode === "popup" ? openWindow() : null;
    if (mode === "popup" && !popup) mode = "iframe";

    /** @type {HTMLDialogElement | undefined} */
    let dialog;
    /** @type {HTMLIFrameElement | undefined} */
    let frame;
    /** @type {any} */
    let problem;
    let over = false;
    let heard = false;
    let pages = 0; // of the Link that have been shown; a window that is cut off tells of no more
    /** @type {(value: {id: string}) => void} */
    let resolve;
    /** @type {(error: Error) => void} */
    let reject;
    const promise = new Promise((yes, no) => {
      resolve = yes;
      reject = no;
    });
    promise.catch(() => {}); // whoever listens to callbacks alone is not told twice

    /** @param {string} [id] @param {any} [error] */
    const finish = (id, error) => {
      if (over) return;
      over = true;
      current = null;
      removeEventListener("message", hear);
      removeEventListener("pageshow", restored);
      document.removeEventListener("securitypolicyviolation", refused);
      dialog?.close();
      dialog?.remove();
      popup?.close();
      if (id) {
        resolve({ id });
        options.onSuccess?.({ id });
      } else {
        reject(error);
        if (error.code !== "cancelled") options.onError?.(error);
      }
      options.onClose?.();
    };
    const close = () => finish("", problem || failure("cancelled", "The person left without connecting an account."));

    /** @param {MessageEvent} event */
    const hear = ({ origin, source, data }) => {
      if (origin !== home || !source || source !== (popup || frame?.contentWindow)) return;
      heard = true;
      if (data?.type === "success") finish(data.authProvisionId);
      else if (data?.type === "close") close();
      else if (data?.type === "error") {
        problem = data.code === "origin_not_allowed" ? notAllowed() : failure(data.code || "failed", data.error);
        if (FATAL.includes(data.code)) close();
      } else if (data?.type === "ready") {
        pages += 1;
        problem = undefined;
      }
    };
    /** @param {SecurityPolicyViolationEvent} event */
    const refused = ({ blockedURI, effectiveDirective }) => {
      if (!blockedURI.startsWith(home) || !/^(frame|child|default)-src/.test(effectiveDirective)) return;
      finish("", failure("csp_blocked", `Add ${home} to frame-src in this page's Content-Security-Policy.`));
    };
    /* Back by the browser's button. @param {PageTransitionEvent} event */
    const restored = (event) => event.persisted && close();

    /** @param {string} token */
    const check = async (token) => {
      const state = await stateOf(token);
      if (state?.code === "origin_not_allowed") problem = notAllowed();
      else if (FATAL.includes(state?.code)) problem = failure(state.code, state.error);
      else if (state?.status === "connected") problem = failure("link_used", "Each token connects one account.");
      else if (state?.status === "expired") problem = failure("link_expired", "This token has expired.");
      if (problem) close();
    };

    /* A window seems closed when it is cut off from this page, by its own COOP or a provider's: the service knows. */
    /** @param {string} token */
    const watch = async (token, looked = 0) => {
      if (over || !popup) return;
      let state;
      if (popup.closed) {
        state = await stateOf(token);
        if (state?.status === "connected") return finish(state.account_id);
        const failed = state?.status === "failed" && (pages > 1 || problem);
        const stayed = failed || (pages && state?.status === "open");
        looked = document.hasFocus() ? looked + 1000 : 0;
        if (!state || stayed || looked > GONE_MS) {
          if (state?.status === "failed") problem = failure(state.code, state.error);
          return close();
        }
      }
      setTimeout(watch, 1000, token, looked);
    };

    /** @param {string} url */
    const show = (url) => {
      frame = iframe(options.title || "Connect an account", "color-scheme:light;background:transparent");
      frame.src = url;
      dialog = document.createElement("dialog");
      dialog.style.cssText = OVER;
      dialog.setAttribute("aria-label", frame.title);
      dialog.addEventListener("cancel", close);
      dialog.append(frame);
      document.body.append(dialog);
      dialog.showModal();
      frame.focus();
      setTimeout(() => {
        if (!heard) finish("", failure("unreachable", `${home} did not answer.`));
      }, LOADED_MS);
    };

    const start = async () => {
      const token = await tokenOf(options);
      if (over) return;
      const { app, accountId, oauthAppId, authType, scopeProfile, action, theme, language } = options;
      const top = mode === "iframe" ? undefined : "true";
      const url = address("/_static/connect.html", {
        token,
        app,
        accountId,
        oauthAppId,
        authType,
        oauthScopeProfile: scopeProfile,
        action,
        theme,
        language,
        display: mode,
        connectLink: top,
        returnTo: mode === "redirect" ? back() : undefined,
      });
      if (mode === "redirect") return location.assign(url);
      if (popup?.closed) return close();
      if (!popup) {
        await check(token);
        return over || show(url);
      }
      check(token);
      popup.location.replace(url);
      setTimeout(watch, 1000, token);
    };

    addEventListener("message", hear);
    addEventListener("pageshow", restored);
    document.addEventListener("securitypolicyviolation", refused);
    const handle = /** @type {Connection} */ (Object.assign(promise, { close }));
    /* A second click: what is open comes to the front; a window or a frame that is gone gives way to a new one. */
    const again = () => {
      const gone = popup ? popup.closed : dialog && !dialog.isConnected;
      if (gone) close();
      else popup?.focus();
      return !gone;
    };
    current = { again, handle };
    start().catch((error) => finish("", error));
    return handle;
  }

  /** What the person came back with from `mode: "redirect"`, once; null where nobody came back. */
  function returned() {
    const url = new URL(location.href);
    if (!url.searchParams.has(MARK)) return null;
    const [id, error] = ["account_id", "error"].map((name) => url.searchParams.get(name));
    for (const name of [MARK, "account_id", "error"]) url.searchParams.delete(name);
    history.replaceState(history.state, "", url);
    return id ? { id } : { error: error || "cancelled" };
  }

  /**
   * Show the portal, a user's own accounts and triggers, inside an element of the page.
   * @param {PortalOptions} options
   */
  function portal(options) {
    const { app, page, nav, theme, language, onSuccess, onError } = options;
    const place = typeof options.element === "string" ? document.querySelector(options.element) : options.element;
    if (!place) throw failure("element_missing", "Pass element: an element of this page, or a selector of one.");
    const frame = iframe(options.title || "Connected accounts", "display:block;min-height:480px");
    let over = false;
    /** @param {MessageEvent} event */
    const hear = ({ origin, source, data }) => {
      if (origin !== home || !source || source !== frame.contentWindow) return;
      if (data?.type === "token-needed") renew();
      else if (data?.type === "success") onSuccess?.({ id: data.authProvisionId });
      else if (data?.type === "error") {
        onError?.(data.code === "origin_not_allowed" ? notAllowed() : failure(data.code || "failed", data.error));
      }
    };
    const renew = async () => {
      try {
        const token = await tokenOf({ tokenCallback: options.tokenCallback });
        frame.contentWindow?.postMessage({ type: "token", token }, home);
      } catch (error) {
        onError?.(/** @type {any} */ (error));
      }
    };
    const close = () => {
      over = true;
      removeEventListener("message", hear);
      frame.remove();
    };
    const start = async () => {
      const token = await tokenOf(options);
      if (over) return;
      frame.src = address("/portal", { token, app, page, nav, theme, language });
      place.append(frame);
    };
    addEventListener("message", hear);
    start().catch((error) => over || onError?.(error));
    return { frame, close };
  }

  return { connect, portal, returned };
};

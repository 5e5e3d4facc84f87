/* Types of /embed.js and /embed.mjs. */

export type Token = string | { token: string };

export interface ConnectOptions {
  /** A Connect token that your server made for the signed-in user. One token connects one account. */
  token?: Token;
  /** Instead of `token`: asks your server for one. It is called once, after the click. */
  tokenCallback?: () => Token | Promise<Token>;
  /** The app's slug; without one, the person chooses. */
  app?: string;
  /** The account to reconnect. */
  accountId?: string;
  /** Your own OAuth client of the app. */
  oauthAppId?: string;
  /** How an app is connected that is so by a sign-in or a key; unless told otherwise, the person may choose. */
  authType?: "oauth" | "keys";
  /** The access to begin with, by the name of a scope profile. */
  scopeProfile?: string;
  /** The key of an action: what a reconnected account lacks for it is asked for besides. */
  action?: string;
  /** Where the Connect Link opens; "iframe" unless told otherwise. */
  mode?: "iframe" | "popup" | "redirect";
  theme?: "auto" | "light" | "dark";
  /** The language of your page, such as "de"; the browser's unless told otherwise. */
  language?: string;
  /** What screen readers call the frame. */
  title?: string;
  onSuccess?: (account: { id: string }) => void;
  /** Everything but the person leaving. */
  onError?: (error: PatchbayError) => void;
  /** Called last, whatever came of it. */
  onClose?: () => void;
}

export interface PatchbayError extends Error {
  /**
   * "cancelled", "origin_not_allowed", "csp_blocked", "unreachable", "token_missing", "link_used", or the code of an
   * ending of the Connect Link.
   */
  code: string;
}

export interface Connection extends Promise<{ id: string }> {
  /** Take the Link away; the promise is rejected with the code "cancelled". */
  close(): void;
}

export interface PortalOptions {
  token?: Token;
  /** Asked again whenever the portal's token is about to expire. */
  tokenCallback?: () => Token | Promise<Token>;
  /** The element that the portal fills, or a selector of it. */
  element: Element | string;
  app?: string;
  page?: string;
  nav?: "on" | "off";
  theme?: "auto" | "light" | "dark";
  /** The language of your page, such as "de"; the browser's unless told otherwise. */
  language?: string;
  title?: string;
  onSuccess?: (account: { id: string }) => void;
  onError?: (error: PatchbayError) => void;
}

export interface Portal {
  frame: HTMLIFrameElement;
  close(): void;
}

/**
 * Connect an account. Call it by the click itself, so that a window may open. A second call while one is open returns
 * the first.
 */
export function connect(options: ConnectOptions): Connection;

/** Show a user's own accounts and triggers inside an element of your page. */
export function portal(options: PortalOptions): Portal;

/** What came of `mode: "redirect"`, once the person is back; null otherwise. It leaves the address clean. */
export function returned(): { id: string } | { error: string } | null;

export as namespace Patchbay;

"use strict";
/** A piece whose accounts are an OAuth client of their own: no person signs in. */
const { createAction, createPiece, PieceAuth } = require("@activepieces/pieces-framework");

const auth = PieceAuth.OAuth2({
  displayName: "Client",
  required: true,
  grantType: "client_credentials",
  authUrl: "",
  tokenUrl: "https://auth.workbench.example/token",
  authorizationMethod: "BODY",
  scope: ["rows:read"],
});

exports.machine = createPiece({
  displayName: "Workbench for machines",
  description: "Signs in as a client.",
  logoUrl: "https://cdn.workbench.example/logo.png",
  authors: [],
  auth,
  actions: [
    createAction({
      auth,
      name: "get_token",
      displayName: "Get token",
      description: "Tells its token.",
      props: {},
      run: async (context) => ({ token: context.auth.access_token }),
    }),
  ],
  triggers: [],
});

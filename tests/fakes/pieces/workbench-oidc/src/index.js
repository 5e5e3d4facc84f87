"use strict";
/** A piece whose accounts are a trust between machines, which we do not have. */
const { createAction, createPiece, PieceAuth, Property } = require("@activepieces/pieces-framework");

const auth = PieceAuth.OIDC({
  required: true,
  props: { role: Property.ShortText({ displayName: "Role", required: true }) },
});

exports.oidc = createPiece({
  displayName: "Workbench by OIDC",
  logoUrl: "https://cdn.workbench.example/logo.png",
  authors: [],
  auth,
  actions: [
    createAction({
      auth,
      name: "get_role",
      displayName: "Get role",
      description: "Tells its role.",
      props: {},
      run: async (context) => ({ role: context.auth.props.role }),
    }),
  ],
  triggers: [],
});

// An identity provider that is as strict as the standards allow, in one of five ways, for make test-idp. What a test changes of it goes
// to /test/…, which no provider has.
import { createHash, generateKeyPairSync, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import Provider from "oidc-provider";

const { ISSUER, PORTAL, WAY, CLIENT, SECRET, PASSWORD, USERS } = process.env;
const ways = ["push", "rotate", "userinfo", "pairwise", "late"];
if (!ways.includes(WAY)) throw new Error(`WAY is ${WAY}, and not one of ${ways}`);

// The clock goes as all do. It may be behind, and can be put forward.
const real = Date.now;
let ahead = WAY === "late" ? -90_000 : 0;
Date.now = () => real() + ahead;

const users = new Map(JSON.parse(USERS).map((user) => [user.login, user]));
const algorithm = WAY === "pairwise" ? "ES256" : "RS256";
function newKey() {
  const { privateKey } = algorithm === "ES256"
    ? generateKeyPairSync("ec", { namedCurve: "P-256" }) : generateKeyPairSync("rsa", { modulusLength: 2048 });
  return { ...privateKey.export({ format: "jwk" }), kid: randomUUID(), use: "sig", alg: algorithm };
}

// What it knows outlives a change of its keys.
const kept = new Map();
class Memory {
  constructor(kind) { this.kind = kind; }
  at(id) { return `${this.kind} ${id}`; }
  async upsert(id, payload) {
    kept.set(this.at(id), payload);
    if (payload.uid) kept.set(`uid ${payload.uid}`, this.at(id));
  }
  async find(id) { return kept.get(this.at(id)); }
  async findByUid(uid) { return kept.get(kept.get(`uid ${uid}`)); }
  async findByUserCode() { return undefined; }
  async destroy(id) { kept.delete(this.at(id)); }
  async consume(id) { kept.get(this.at(id)).consumed = Math.floor(Date.now() / 1000); }
  async revokeByGrantId(grant) {
    for (const [key, payload] of kept) if (payload.grantId === grant) kept.delete(key);
  }
}

function settings() {
  return {
    adapter: Memory,
    clients: [{
      client_id: CLIENT, client_secret: SECRET, redirect_uris: [`${PORTAL}/auth/callback`], response_types: ["code"],
      grant_types: ["authorization_code", "refresh_token"], post_logout_redirect_uris: [`${PORTAL}/auth/sign-in`],
      id_token_signed_response_alg: algorithm, subject_type: WAY === "pairwise" ? "pairwise" : "public",
    }],
    jwks: { keys: [newKey()] },
    enabledJWA: { idTokenSigningAlgValues: [algorithm] },
    subjectTypes: [WAY === "pairwise" ? "pairwise" : "public"],
    pairwiseIdentifier: (ctx, account, client) => createHash("sha256").update(client.clientId + account).digest("hex"),
    claims: { openid: ["sub"], profile: ["name", "preferred_username"], email: ["email", "email_verified"], groups: ["groups"] },
    conformIdTokenClaims: WAY === "userinfo",
    scopes: ["openid", "offline_access"],
    cookies: { keys: ["of a test"] },
    rotateRefreshToken: true,
    issueRefreshToken: async (ctx, client) => WAY === "rotate" && client.grantTypeAllowed("refresh_token"),
    ttl: { IdToken: WAY === "late" ? 60 : 3600, AccessToken: 3600, RefreshToken: 86400, Session: 86400, Grant: 86400, Interaction: 3600 },
    features: {
      devInteractions: { enabled: false },
      pushedAuthorizationRequests: { enabled: WAY === "push", requirePushedAuthorizationRequests: WAY === "push" },
      rpInitiatedLogout: { enabled: true },
      revocation: { enabled: true },
    },
    interactions: { url: (ctx, interaction) => `/interaction/${interaction.uid}` },
    findAccount: async (ctx, id) => {
      const user = users.get(id);
      return user && { accountId: id, claims: async () => ({
        sub: id, name: user.name, preferred_username: user.name, email: id, email_verified: true, groups: user.groups,
      }) };
    },
  };
}

let provider = new Provider(ISSUER, settings());
let handle = provider.callback();
const body = async (req) => {
  let text = "";
  for await (const chunk of req) text += chunk;
  return text;
};
const form = `<form method="post"><input name="login"><input type="password" name="password"></form>`;

// Who signs in sends a form; that the portal may see who it is, is agreed to without one.
async function interact(req, res) {
  const { prompt, params, session, grantId } = await provider.interactionDetails(req, res);
  if (prompt.name === "login") {
    const sent = req.method === "POST" ? new URLSearchParams(await body(req)) : undefined;
    if (!sent || !users.has(sent.get("login")) || sent.get("password") !== PASSWORD) {
      res.setHeader("Content-Type", "text/html").end(form);
      return;
    }
    await provider.interactionFinished(req, res, { login: { accountId: sent.get("login") } }, { mergeWithLastSubmission: false });
    return;
  }
  const grant = grantId ? await provider.Grant.find(grantId) : new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  grant.addOIDCScope(params.scope);
  await provider.interactionFinished(req, res, { consent: { grantId: await grant.save() } }, { mergeWithLastSubmission: true });
}

const changes = {
  "/test/groups": async (said) => { users.get(said.login).groups = said.groups; },
  "/test/later": async (said) => { ahead += said.milliseconds; },
  "/test/key": async () => {
    provider = new Provider(ISSUER, settings());
    handle = provider.callback();
  },
};

createServer(async (req, res) => {
  const at = new URL(req.url, ISSUER);
  try {
    if (changes[at.pathname]) {
      await changes[at.pathname](JSON.parse(await body(req) || "{}"));
      res.end();
    } else if (at.pathname.startsWith("/interaction/")) {
      await interact(req, res);
    } else if (WAY === "pairwise" && at.pathname === "/session/end" && !at.searchParams.has("id_token_hint")) {
      res.writeHead(400).end("id_token_hint is missing");
    } else {
      await handle(req, res);
    }
  } catch (e) {
    console.error(e);
    if (!res.headersSent) res.writeHead(500);
    res.end();
  }
}).listen(new URL(ISSUER).port, new URL(ISSUER).hostname);

import type { AppType } from './app-type.ts';

/** Data that a program needs. */
export interface Connection {
  readonly issuer: string;
  readonly client: string;
  /** Undefined unless it was made on this page. */
  readonly secret: string | undefined;
}

/** Addresses of a box, by what they are for. */
export function endpointsOf(issuer: string) {
  return {
    token: `${issuer}/auth/token`,
    authorization: `${issuer}/auth/authorize`,
    introspection: `${issuer}/auth/introspect`,
    userinfo: `${issuer}/auth/userinfo`,
    keys: `${issuer}/.well-known/jwks.json`,
    discovery: `${issuer}/.well-known/openid-configuration`,
  } as const;
}

/** Returns ready programs of a type of app, by language; the first one is shown. */
export function programsOf(type: AppType, connection: Connection): Readonly<Record<string, string>> {
  switch (type) {
    case 'service':
      return {
        curl: curl(connection, endpointsOf(connection.issuer).token, 'grant_type=client_credentials'),
        Node: node(connection, 'token', "grant_type: 'client_credentials'", 'answer.access_token'),
        Python: python(connection, 'token', '"grant_type": "client_credentials"', '["access_token"]'),
      };
    case 'api':
      return {
        curl: curl(connection, endpointsOf(connection.issuer).introspection, 'token=$TOKEN'),
        Node: node(connection, 'introspect', 'token: process.env.TOKEN', 'answer.active'),
        Python: python(connection, 'introspect', '"token": os.environ["TOKEN"]', '["active"]'),
      };
    case 'web':
      return { Settings: settings(connection), Node: expressApp(connection), Python: flaskApp(connection) };
    case 'spa':
      return { Settings: settings({ ...connection, secret: '' }), JavaScript: browserApp(connection) };
  }
}

function curl({ client, secret }: Connection, url: string, field: string): string {
  const credentials = secret === undefined ? `"${client}:$CLIENT_SECRET"` : `'${client}:${secret}'`;
  return `curl --fail-with-body ${url} \\\n  -u ${credentials} \\\n  -d "${field}"`;
}

function node({ issuer, client }: Connection, path: string, field: string, shown: string): string {
  return `const credentials = btoa('${client}:' + process.env.CLIENT_SECRET);
fetch('${issuer}/auth/${path}', {
  method: 'POST',
  headers: { Authorization: 'Basic ' + credentials },
  body: new URLSearchParams({ ${field} }),
})
  .then((response) => response.json())
  .then((answer) => console.log(${shown}));`;
}

function python({ issuer, client }: Connection, path: string, field: string, shown: string): string {
  return `import base64, json, os, urllib.parse, urllib.request

credentials = base64.b64encode(("${client}:" + os.environ["CLIENT_SECRET"]).encode()).decode()
body = urllib.parse.urlencode({${field}}).encode()
request = urllib.request.Request("${issuer}/auth/${path}", body, {"Authorization": "Basic " + credentials})
print(json.load(urllib.request.urlopen(request))${shown})`;
}

function settings({ issuer, client, secret = '…' }: Connection): string {
  const line = secret === '' ? '' : `CLIENT_SECRET=${secret}\n`;
  return `ISSUER=${issuer}\nCLIENT_ID=${client}\n${line}SCOPE="openid email"`;
}

function expressApp({ issuer, client }: Connection): string {
  return `import express from 'express';
import { auth } from 'express-openid-connect';

const app = express();
app.use(
  auth({
    issuerBaseURL: '${issuer}',
    clientID: '${client}',
    clientSecret: process.env.CLIENT_SECRET,
    baseURL: process.env.BASE_URL, // its redirect URI is <BASE_URL>/callback
    secret: process.env.COOKIE_SECRET,
    authorizationParams: { response_type: 'code' },
  }),
);
app.get('/', (request, response) => {
  response.send('Hello, ' + request.oidc.user.sub);
});
app.listen(3000);`;
}

function flaskApp({ issuer, client }: Connection): string {
  return `import os
from authlib.integrations.flask_client import OAuth
from flask import Flask, redirect, session, url_for

app = Flask(__name__)
app.secret_key = os.environ["COOKIE_SECRET"]
box = OAuth(app).register(
    "box",
    client_id="${client}",
    client_secret=os.environ["CLIENT_SECRET"],
    server_metadata_url="${endpointsOf(issuer).discovery}",
    client_kwargs={"scope": "openid email"},
)

@app.get("/login")
def login():
    return box.authorize_redirect(url_for("callback", _external=True))

@app.get("/callback")
def callback():
    session["user"] = box.authorize_access_token()["userinfo"]["sub"]
    return redirect("/")`;
}

function browserApp({ issuer, client }: Connection): string {
  return `import { UserManager } from 'oidc-client-ts';

const users = new UserManager({
  authority: '${issuer}',
  client_id: '${client}',
  redirect_uri: location.origin + '/callback',
  scope: 'openid email',
});
if (location.pathname === '/callback') await users.signinCallback();
else await users.signinRedirect();`;
}

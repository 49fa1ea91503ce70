import { isObject, parseJson } from '../../crds/path.ts';
import { noBoxAnswer, read, refusal, requireBox, send } from './box-client.ts';
import type { BoxAddress } from './current-box.ts';
import type { Environment } from '../../program/environment.ts';
import type { Command } from './command.ts';
import { headerSafe } from './credential.ts';
import type { Column } from '../schemas/columns.ts';
import { firstLine, type Terminal } from './terminal.ts';
import { usageError } from './cli-error.ts';

/** `boxctl token`. */
export const token: Command = {
  name: 'token',
  summary: 'prints an access token of the box, of your sign-in or of the client that is set',
  examples: ['curl -H "Authorization: Bearer $(boxctl token)" "$BOXCTL_SERVER/boxes/shop/users"'],
  keepsToken: true,
  hasNoRecord: true,
  arguments: [0, 0],
  async run({ box, terminal }) {
    const { token: text } = await box();
    terminal.output.write(`${text}\n`);
  },
};

/** `boxctl token show`. */
export const showToken: Command = {
  name: 'token show',
  synopsis: '[-]',
  summary: 'tells what an access token stands for: its claims, whether it is valid, and for whom',
  examples: ['boxctl token show', 'boxctl token show - < token.txt'],
  arguments: [0, 1],
  async run({ args: [given], terminal, address, box, environment, print }) {
    const text = given === undefined ? (await box()).token : headerSafe(await tokenGiven(given, terminal));
    const found = await address();
    const told = {
      ...decoded(text),
      ...((await introspected(text, found, environment)) ?? (await userInfoOf(text, found))),
    };
    await print(told, 'json', columns(told));
  },
};

function tokenGiven(given: string, { input }: Terminal): Promise<string> {
  if (given === '-') return firstLine(input);
  throw usageError('give the token on standard input, with -: others can see the command line');
}

/** Returns the parts of a JWT, which are not verified; nothing for an opaque token (RFC 7519 §7.2). */
export function decoded(text: string): Readonly<Record<string, unknown>> {
  const [header, claims] = text.split('.').map((part) => parseJson(Buffer.from(part, 'base64url').toString('utf8')));
  return isObject(header) && isObject(claims) ? { header, claims } : {};
}

/** Asks the box as the client of the environment (RFC 7662 §2.1); undefined if there is none. Throws CliError. */
async function introspected(
  text: string,
  { base }: BoxAddress,
  environment: Environment,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const id = environment['BOXCTL_CLIENT_ID'] ?? '';
  const secret = environment['BOXCTL_CLIENT_SECRET'] ?? '';
  if (id === '' || secret === '') return undefined;
  const fields = { token: text, client_id: id, client_secret: secret };
  const response = await send(`${base}/auth/introspect`, { method: 'POST', body: new URLSearchParams(fields) });
  const { body } = await read(response, base);
  if (response.ok && isObject(body)) return { introspection: body };
  if (response.ok) throw noBoxAnswer(base);
  if (response.status === 404) await requireBox(base);
  throw refusal('the introspection', response, body);
}

/** Asks the box as the token itself (OpenID Connect Core §5.3.1); 403: it is valid, without the scope `openid`. */
async function userInfoOf(text: string, { base }: BoxAddress): Promise<Readonly<Record<string, unknown>>> {
  const response = await send(`${base}/auth/userinfo`, { headers: { Authorization: `Bearer ${text}` } });
  const { body } = await read(response, base);
  if (response.ok && isObject(body)) return { active: true, userinfo: body };
  if (response.ok) throw noBoxAnswer(base);
  if (response.status === 401) return { active: false };
  if (response.status === 403) return { active: true };
  if (response.status === 404) await requireBox(base);
  throw refusal('the question about the token', response, body);
}

function columns(told: Readonly<Record<string, unknown>>): readonly Column[] {
  return Object.keys(told).map((name) => ({
    heading: name.toUpperCase(),
    text: (record) => (isObject(record[name]) ? JSON.stringify(record[name]) : String(record[name])),
  }));
}

import { createHashQueue } from '../../../api/credentials/hash-queue.ts';
import { createPasswords } from '../../../api/credentials/password.ts';
import { createPool, defaultLimits } from '../../../api/db/core/pool.ts';
import { inBox } from '../../../api/db/core/transaction.ts';
import { insertUser } from '../../../api/db/user-write.ts';
import { emailKey } from '../../../api/users/email.ts';
import { testEncryptionKey } from '../../support/api.ts';
import type { TestApi } from '../../support/api.ts';

/** An answer, read to its end; redirects are not followed. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The Location, '' when there is none. */
  readonly location: string;
}

/** A browser without JavaScript: it keeps cookies, and fills in forms. */
export interface Browser {
  readonly cookies: Map<string, string>;
  /** An address of the API: a whole one, or what stands behind the box's base URL. */
  get(address: string, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  post(
    address: string,
    fields: Readonly<Record<string, string>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>;
  /** Loads a page, fills its form in and sends it to where the form says; both requests have the headers. */
  submit(
    address: string,
    fields: Readonly<Record<string, string>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>;
}

/** The issuer of a box, as the API says it in addresses. */
export const issuerOf = (box: string): string => `http://boxgate.test/boxes/${box}`;

/** A browser that nobody is signed in with. */
export function newBrowser(api: Pick<TestApi, 'url'>, box = 'default', issuer = issuerOf(box)): Browser {
  const cookies = new Map<string, string>();

  async function send(address: string, init: RequestInit): Promise<Answer> {
    const path = address.startsWith(issuer) ? address.slice(issuer.length) : address;
    const headers = new Headers(init.headers);
    if (cookies.size > 0) headers.set('Cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '));
    const response = await fetch(`${api.url}/boxes/${box}${path}`, { ...init, headers, redirect: 'manual' });
    for (const cookie of response.headers.getSetCookie()) keep(cookie);
    return {
      status: response.status,
      headers: response.headers,
      text: await response.text(),
      location: response.headers.get('location') ?? '',
    };
  }

  function keep(cookie: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
    if (/; Max-Age=0(;|$)/.test(cookie)) cookies.delete(name);
    else cookies.set(name, value);
  }

  const browser: Browser = {
    cookies,
    get: (address, headers = {}) => send(address, { headers }),
    post: (address, fields, headers = {}) =>
      send(address, { method: 'POST', headers, body: new URLSearchParams(fields) }),
    async submit(address, fields, headers = {}) {
      const { text } = await browser.get(address, headers);
      return browser.post(formAction(text) ?? address, { ...hiddenFields(text), ...fields }, headers);
    },
  };
  return browser;
}

/** Returns the target of a page's form; undefined: the address of the page itself. */
function formAction(text: string): string | undefined {
  const [, action] = /<form method="post" action="([^"]*)"/.exec(text) ?? [];
  return action && unescaped(action);
}

/** Returns the hidden fields of a form. */
export function hiddenFields(text: string): Record<string, string> {
  const inputs = [...text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
  return Object.fromEntries(inputs.map(([, name = '', value = '']) => [name, unescaped(value)]));
}

/** Returns the text that an attribute of a page stands for. */
export function unescaped(text: string): string {
  return text.replace(/&#(\d+);/g, (_, sign: string) => String.fromCodePoint(Number(sign)));
}

/** Stores a user of a box, as the users API would, with `data` as JSON text; its id. */
export async function addUser(
  api: Pick<TestApi, 'databaseOf'>,
  email: string,
  password: string,
  box = 'default',
  data: string | null = null,
): Promise<number> {
  const pool = createPool(
    api.databaseOf(box).apiUrl,
    { ...defaultLimits, connections: 1 },
    'test-users',
    () => undefined,
  );
  const passwords = createPasswords(createHashQueue(1, 8), [Buffer.from(testEncryptionKey, 'base64')]);
  const stored = await passwords.store(password);
  const key = emailKey(email) ?? '';
  const user = { email, emailKey: key, emailVerified: false, password: stored, data, status: null };
  const id = await inBox(pool, box, 'write', (connection) => insertUser(connection, box, user));
  await pool.end();
  if (id === undefined) throw new Error(`${email} is taken`);
  return id;
}

import { browserHash, formToken, newBrowserToken } from '../../api/credentials/browser-token.ts';
import { formText, quietAddress } from './requests.ts';
import { quietBox } from './stage.ts';
import type { Stage } from './stage.ts';
import type { Admin } from './clients.ts';

/** Somebody who has signed in to the quiet box before. */
export interface Person {
  readonly email: string;
  readonly password: string;
  /** The cookies that their browser keeps when they sign out. */
  readonly cookies: string;
}

const password = 'a long enough passphrase';

/** Creates a person of the quiet box, who signs in once. */
export async function createPerson({ process }: Stage, { token }: Admin): Promise<Person> {
  const email = 'person@mail.example';
  const base = `${process.url}/boxes/${quietBox}`;
  const headers = { 'X-Forwarded-For': quietAddress };
  await fetch(`${base}/users`, {
    method: 'POST',
    headers: { ...headers, Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ email, password }),
  });
  const browser = newBrowserToken();
  const signedIn = await fetch(`${base}/auth/signin`, {
    method: 'POST',
    redirect: 'manual',
    headers: { ...headers, Cookie: `boxgate-${quietBox}=${browser}` },
    body: new URLSearchParams({ form_token: formToken(browserHash(browser)), email, password }),
  });
  if (signedIn.status !== 303) throw new Error(`nobody could sign in: ${String(signedIn.status)}`);
  const kept = signedIn.headers.getSetCookie().map((cookie) => cookie.split(';')[0] ?? '');
  return { email, password, cookies: kept.filter((cookie) => !cookie.startsWith(`boxgate-${quietBox}=`)).join('; ') };
}

/** Returns a form of a sign-in page, from a browser that has just opened it. */
export function signInText(
  box: string,
  from: string,
  who: { readonly email: string; readonly password: string; readonly cookies?: string },
): string {
  const browser = newBrowserToken();
  const cookie = [`boxgate-${box}=${browser}`, ...(who.cookies ? [who.cookies] : [])].join('; ');
  const fields = { form_token: formToken(browserHash(browser)), email: who.email, password: who.password };
  return formText({ path: `/boxes/${box}/auth/signin`, from, cookie }, fields);
}

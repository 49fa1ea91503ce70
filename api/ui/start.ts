import type { Connection } from './connection.ts';
import { bodyOf } from './connection/answer.ts';
import { apiPath } from './connection/api-path.ts';
import { textOf } from './connection/members.ts';
import { stringsOf } from './record/json-draft.ts';
import type { Tab } from './messages/messages.ts';
import { signInAddress } from './connection/sign-in.ts';

/** The page, as the server has written it. */
export interface UiPage {
  readonly root: HTMLElement;
  readonly box: string;
  /** The name of the box for people. */
  readonly name: string;
  readonly issuer: string;
  /** Folder of the manifests that declare records; '': custom resources declare them. */
  readonly folder: string;
}

/** Reads the page. Throws a TypeError if it is none of the UI. */
export function readPage(): UiPage {
  const root = document.getElementById('ui');
  const { box, name, issuer, folder = '' } = root?.dataset ?? {};
  if (root === null || box === undefined || name === undefined || issuer === undefined)
    throw new TypeError('not the page of the UI');
  return { root, box, name, issuer, folder };
}

/**
 * Checks whether the page was loaded from the address of the UI; if not, goes there: a token is only valid for the
 * issuer, and the redirect URI of the client is below it.
 */
export function isAtItsAddress(issuer: string): boolean {
  const own = new URL(`${issuer}/ui/`).href;
  if (location.origin + location.pathname === own) return true;
  location.replace(own + location.hash);
  return false;
}

/**
 * Reads and removes the parameters that the sign-in page came back with: `state` is the place to show. Returns whether
 * the sign-in page has just led back here.
 */
export function arrive(): boolean {
  const parameters = new URLSearchParams(location.search);
  const isBack = parameters.has('code') || parameters.has('error');
  if (!isBack) return false;
  const place = parameters.get('state') ?? '';
  history.replaceState(null, '', location.pathname + (place.startsWith('#/') ? place : ''));
  return true;
}

/** Goes to the sign-in page, which leads back to the present place. */
export async function leaveToSignIn(issuer: string): Promise<void> {
  location.assign(await signInAddress(issuer, location.hash || '#/'));
}

/** The signed-in user: their ID, and the email by which people know them; '' if unknown. */
export interface SignedInUser {
  readonly id: string;
  readonly email: string;
  /** Tabs whose lists the user may read. */
  readonly rights: ReadonlySet<string>;
}

/** Reads what the page needs to know of the user who has just signed in. */
export async function readUser(connection: Connection, id: string): Promise<SignedInUser> {
  const [answer, rights] = await Promise.all([
    connection.request({ method: 'GET', path: apiPath`/auth/userinfo` }),
    readRights(connection),
  ]);
  return { id, email: textOf(bodyOf(answer), 'email'), rights };
}

/** Lists of the tabs. */
const LISTS = {
  users: '/users',
  groups: '/Group',
  sessions: '/Session',
  clients: '/Client',
  policies: '/AccessPolicy',
  refusals: '/AuditEvent',
  audit: '/AuditEvent',
} as const satisfies Readonly<Record<Exclude<Tab, 'home' | 'account'>, string>>;

/** Returns the tabs whose lists the user may read; all of them while that is unknown: each says what is in its way. */
async function readRights({ request }: Connection): Promise<ReadonlySet<string>> {
  const answer = await request({ method: 'GET', path: apiPath`/account` });
  const lists = answer.kind === 'done' ? stringsOf(bodyOf(answer)['lists']) : undefined;
  const tabs = Object.entries(LISTS).filter(([, list]) => lists?.includes(list) ?? true);
  return new Set(tabs.map(([tab]) => tab));
}

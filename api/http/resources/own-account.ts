import { Ajv } from 'ajv';
import { inBox } from '../../db/core/transaction.ts';
import { grant, grantKey, grantView, removeGrant } from '../../records/grant.ts';
import { revokeSession, session, sessionView } from '../../records/session.ts';
import { passwordChangeSchema } from '../../schemas/account.ts';
import type { AccountView, PasswordChange } from '../../schemas/account.ts';
import { readSearch } from '../../records/search/parameters.ts';
import type { Searchable } from '../../records/search/search.ts';
import { untilConfirmed } from '../../records/write/conditions.ts';
import { changeUser } from '../../records/user-change.ts';
import { InvalidUser } from '../../records/user-document.ts';
import type { ApiContext } from '../server/api-context.ts';
import { partOfPath } from '../request/request-context.ts';
import type { Endpoint } from '../request/request-context.ts';
import type { RequestServices } from '../throttle/hash-sharer.ts';
import { withOwnAccount } from './account-gate.ts';
import { resourceRoutes, userRoutes } from './resource-routes.ts';

/** Sessions and grants that are shown. */
const MOST_SHOWN = 1000;

const unconditional = { ifMatch: undefined, ifNoneMatch: undefined };

/** The lists of the resource API. */
const lists = [...resourceRoutes, ...userRoutes].filter(({ method, path }) => method === 'GET' && !path.includes(':'));

/** `GET /account`: the active sessions and the grants of the signed-in user, and the lists that they may read. */
export function accountEndpoint(context: ApiContext): Endpoint {
  return withOwnAccount(context, async ({ box, user, mayList }, services) => {
    const readable = await Promise.all(lists.map(async (list) => ((await mayList(list)) ? [list.path] : [])));
    const [sessions, grants] = await Promise.all([
      rowsOf(services, box, session.search, `user=${String(user)}&status=active`),
      rowsOf(services, box, grant.search, `user=${String(user)}`),
    ]);
    const body: AccountView = {
      sessions: sessions.map(sessionView),
      grants: grants.map(grantView),
      lists: readable.flat(),
    };
    return { status: 200, body };
  });
}

/** `DELETE /account/sessions/:session`: revokes a session of the signed-in user. That of somebody else is not found. */
export function ownSessionEndpoint(context: ApiContext): Endpoint {
  return withOwnAccount(context, async ({ box, user, parameters }, services) => {
    const id = session.idOf(partOfPath(parameters, 'session') ?? '');
    if (id === undefined) return { status: 204 };
    const found = await inBox(services.pool, box, 'snapshot', (connection) =>
      session.read(connection, box, id, services.now()),
    );
    // The user of a session never changes.
    if (found?.user !== user) return { status: 204 };
    const ended = await revokeSession(services, box, found.id, unconditional);
    return ended === undefined ? { status: 204 } : { status: 200, body: sessionView(ended) };
  });
}

/** `DELETE /account/grants/:client`: withdraws what the signed-in user lets a client do. */
export function ownGrantEndpoint(context: ApiContext): Endpoint {
  return withOwnAccount(context, async ({ box, user, parameters }, services) => {
    const key = grantKey(`${String(user)}.${partOfPath(parameters, 'client') ?? ''}`);
    const removed = key && (await removeGrant(services, box, key, unconditional));
    return removed === undefined ? { status: 204 } : { status: 200, body: grantView(removed) };
  });
}

/**
 * `PUT /account/password`: changes the password of the signed-in user, which ends all that the user has begun. The
 * present password is needed whatever the box demands elsewhere: an unlocked screen is not enough.
 */
export function ownPasswordEndpoint(context: ApiContext): Endpoint {
  return withOwnAccount(context, async ({ box, settings, user, body, guessPassword }, services) => {
    const compatibility = { ...settings.compatibility, password_change_without_old: false };
    const caller = { settings: { ...settings, compatibility }, user, guessPassword };
    const requested = { form: 'document', value: passwordsIn(body) } as const;
    const change = { id: user, requested, caller, preconditions: unconditional };
    await untilConfirmed(() => changeUser(services, box, change));
    return { status: 204 };
  });
}

const isPasswordChange = new Ajv({
  validateSchema: false,
  allErrors: true,
  ownProperties: true,
}).compile<PasswordChange>(passwordChangeSchema);

/** Sentences about the fields of a change of the password, and about others. */
const sentences = new Map([
  ['password', 'must be the new password'],
  ['old_password', 'must be the password that is to be changed'],
  ['body', 'has another field than old_password and password'],
]);

/** Returns the two passwords of a body. Throws InvalidUser for any other field, which could change more. */
function passwordsIn(body: unknown): PasswordChange {
  if (isPasswordChange(body)) return body;
  const wrong = (isPasswordChange.errors ?? []).map(({ instancePath, params }) =>
    String(params['missingProperty'] ?? (instancePath.slice(1) || 'body')),
  );
  const faults = [...new Set(wrong)].map((path) => ({ path, message: sentences.get(path) ?? 'is not valid' }));
  throw new InvalidUser(faults, {});
}

/** Returns the first rows of a search. */
async function rowsOf<Row, Filters extends object>(
  services: RequestServices,
  box: string,
  searchable: Searchable<Row, Filters>,
  filter: string,
): Promise<readonly Row[]> {
  const query = new URLSearchParams(`${filter}&_total=none&_count=${String(MOST_SHOWN)}`);
  return (await searchable.find(services, box, readSearch(query, searchable))).rows;
}

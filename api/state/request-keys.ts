import type { RequestKey } from '../db/request/recorded-request.ts';
import type { Subject } from '../policy/policy-index.ts';
import { pathShape } from './path-shape.ts';
import type { NotedRequest } from './request-notes.ts';

/** Groups of a user under which a request is counted; those beyond it are left out. */
const mostGroups = 20;

/** Characters of a method and of a shape that are kept. */
const longest = { method: 32, shape: 512, app: 253 } as const;

/** Returns the keys under which a request is counted: one, or one for each group of its user. */
export function requestKeys({ box, subject, app, method, path, policy }: NotedRequest): readonly RequestKey[] {
  const { client = '' } = subject;
  const request = {
    app: app.slice(0, longest.app),
    method: method.toUpperCase().slice(0, longest.method),
    shape: pathShape(path, app === '').slice(0, longest.shape),
    policy,
  };
  return principalsOf(subject).map((principal) => ({ box, client, principal, ...request }));
}

function principalsOf({ user, withoutUserRights }: Subject): readonly string[] {
  if (user === undefined) return ['client'];
  if (withoutUserRights === true) return ['limited'];
  if (user.groupIds.length === 0) return ['user'];
  return user.groupIds.slice(0, mostGroups).map((id) => `group:${String(id)}`);
}

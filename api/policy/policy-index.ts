import type { AccessPolicy } from '../../crds/access-policy.ts';
import { CompiledPolicy } from './compile.ts';

/** Origin of a request, by id within the box. Without both parts it is unknown. */
export interface Subject {
  readonly client?: string | undefined;
  readonly user?: UserSubject | undefined;
  /**
   * The token does not carry the rights of its user: policies linked to the user or a group, and those for
   * `authenticated`, do not apply.
   */
  readonly withoutUserRights?: boolean | undefined;
}

/** A user with the groups it is in now. */
export interface UserSubject {
  readonly id: string | number;
  readonly groupIds: readonly (string | number)[];
  readonly groupNames: readonly string[];
}

/** The policies of one box, found by subject with one hash lookup for each of its ids. */
export interface PolicyIndex {
  /**
   * Returns the policies that may apply to a subject, in the order in which they are asked: those for an app behind a
   * gateway, or without `app` those for the own endpoints of the box. Linked policies come first, then those for
   * `authenticated` or `anyone`; in each part first those that do not look at the body, each group by id; none twice.
   */
  candidates(subject: Subject, app?: string): readonly CompiledPolicy[];
  /** Adds a policy, or replaces the one with its id: work in proportion to the links of both. */
  set(policy: AccessPolicy): void;
  /** Removes a policy; unknown ids are ignored. */
  remove(id: string): void;
  /** Yields the policies in no particular order. */
  all(): Iterable<AccessPolicy>;
  /** Number of policies. */
  readonly size: number;
}

/** Creates an empty index. One index holds one box, so that a link never reaches another. */
export function createPolicyIndex(): PolicyIndex {
  const policies = new Map<string, CompiledPolicy>();
  const lists = new Map<string, CompiledPolicy[]>();

  function remove(id: string): void {
    const old = policies.get(id);
    if (old === undefined) return;
    policies.delete(id);
    for (const key of keysOf(old.policy)) takeOut(lists, key, old);
  }

  return {
    get size() {
      return policies.size;
    },
    set(policy) {
      remove(policy.id);
      const compiled = new CompiledPolicy(policy);
      policies.set(policy.id, compiled);
      for (const key of keysOf(policy)) putIn(lists, key, compiled);
    },
    remove,
    *all() {
      for (const { policy } of policies.values()) yield policy;
    },
    candidates(subject, app) {
      const listed = (keys: readonly string[]): readonly SortedList[] =>
        (app === undefined ? keys : keysInApps([app, EVERY_APP], keys)).map((key) => lists.get(key) ?? []);
      return [...inOrder(listed(linkKeys(subject))), ...inOrder(listed(openKeys(subject)))];
    },
  };
}

const EVERY_APP = '*';

/** Checks whether a policy is for an app, or with undefined for the own endpoints of the box. */
export function isForApp({ apps }: AccessPolicy, app: string | undefined): boolean {
  return app === undefined ? apps === undefined : apps?.some((name) => name === app || name === EVERY_APP) === true;
}

/** Returns the keys that list policies for apps, which have no space and no capital letter in their names. */
function keysInApps(apps: readonly string[], keys: readonly string[]): string[] {
  return apps.flatMap((app) => keys.map((key) => `${app} ${key}`));
}

const AUTHENTICATED = 'authenticated';
const ANYONE = 'anyone';

/** Returns the keys that list a policy: for the own endpoints of the box, or for each of its apps. */
function keysOf(policy: AccessPolicy): Set<string> {
  const keys = subjectKeys(policy);
  return new Set(policy.apps === undefined ? keys : keysInApps(policy.apps, keys));
}

/** Returns the keys of its subjects. `linked` without links has none: a forgotten link never opens a box. */
function subjectKeys(policy: AccessPolicy): readonly string[] {
  switch (policy.subjects) {
    case 'authenticated':
      return [AUTHENTICATED];
    case 'anyone':
      return [ANYONE];
    case 'linked':
    case undefined:
      return (policy.link ?? []).map(({ resourceType, id }) => `${resourceType}/${id}`);
    default:
      // An unknown stored word applies to nobody.
      return [];
  }
}

function linkKeys({ client, user, withoutUserRights }: Subject): string[] {
  const keys = client === undefined ? [] : [`Client/${client}`];
  if (user === undefined || withoutUserRights === true) return keys;
  const groups = [...user.groupIds, ...user.groupNames].map((group) => `Group/${group}`);
  return [...keys, `User/${user.id}`, ...groups];
}

function openKeys({ client, user, withoutUserRights }: Subject): string[] {
  const isNobody = client === undefined && user === undefined;
  return isNobody || withoutUserRights === true ? [ANYONE] : [AUTHENTICATED, ANYONE];
}

type SortedList = readonly CompiledPolicy[];

/** Returns the policies of some lists in order, each once. */
function inOrder(lists: readonly SortedList[]): SortedList {
  const [first = [], ...others] = lists.filter((list) => list.length > 0);
  return others.length === 0 ? first : [...new Set([first, ...others].flat())].sort(byOrder);
}

function byOrder(one: CompiledPolicy, other: CompiledPolicy): number {
  return isBefore(one, other) ? -1 : 1;
}

/** Checks the order of policies: those that look at the head alone are asked first. */
function isBefore(one: CompiledPolicy, other: CompiledPolicy): boolean {
  const looks = one.needs !== 'head';
  return looks === (other.needs !== 'head') ? one.id < other.id : !looks;
}

function putIn(lists: Map<string, CompiledPolicy[]>, key: string, policy: CompiledPolicy): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [policy]);
  else list.splice(placeOf(list, policy), 0, policy);
}

function takeOut(lists: Map<string, CompiledPolicy[]>, key: string, policy: CompiledPolicy): void {
  const list = lists.get(key);
  if (list === undefined) return;
  const at = placeOf(list, policy);
  if (list[at] === policy) list.splice(at, 1);
  if (list.length === 0) lists.delete(key);
}

/** Returns the index of a policy, or for one, in a sorted list. Rows mostly come sorted, so the end is tried first. */
function placeOf(list: SortedList, policy: CompiledPolicy): number {
  const last = list.at(-1);
  if (last === undefined || isBefore(last, policy)) return list.length;
  let low = 0;
  let high = list.length - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const there = list[middle];
    if (there !== undefined && isBefore(there, policy)) low = middle + 1;
    else high = middle;
  }
  return low;
}

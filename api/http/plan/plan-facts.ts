import type { Connection } from '../../db/core/transaction.ts';
import { storedContents } from '../../db/resource/resource.ts';
import { groupsNamed } from '../../db/group.ts';
import type { Person } from '../../db/user.ts';
import { readPerson } from '../../db/user.ts';
import type { RequestParts } from '../../policy/request-object.ts';
import type { AskedToken } from '../resources/explained-request.ts';

/** Facts that policies see of the callers of a plan, besides the configuration that a replica holds. */
export interface PlanFacts {
  /** Whole bodies of clients, by id. */
  readonly clients: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
  /** By id. */
  readonly persons: ReadonlyMap<number, Person>;
  /** By name. */
  readonly groups: ReadonlyMap<string, NonNullable<Person['groups']>[number]>;
}

/** Callers whose facts are read. */
export interface PlanCallers {
  readonly clients: readonly string[];
  readonly users: readonly number[];
  readonly groups: readonly string[];
}

/** Returns the callers of requests, each once. */
export function callersOf(requests: readonly Pick<ReadyRequest, 'client' | 'user'>[]): PlanCallers {
  const users = requests.flatMap(({ user }) => (typeof user === 'object' ? [user] : []));
  return {
    clients: unique(requests.flatMap(({ client }) => client ?? [])),
    users: unique(users.flatMap((user) => ('id' in user ? [user.id] : []))),
    groups: unique(users.flatMap((user) => ('group' in user ? [user.group] : []))),
  };
}

function unique<T>(items: readonly T[]): readonly T[] {
  return [...new Set(items)];
}

/** Reads the facts of callers. Throws Outage. */
export async function readFacts(connection: Connection, box: string, callers: PlanCallers): Promise<PlanFacts> {
  const keys = callers.clients.map((id) => ({ kind: 'Client', id }) as const);
  const contents = await storedContents(connection, box, keys);
  const persons = new Map<number, Person>();
  for (const id of callers.users) {
    const person = await readPerson(connection, box, id);
    if (person !== undefined) persons.set(id, person);
  }
  const groups = await groupsNamed(connection, box, callers.groups);
  return {
    clients: new Map(
      keys.flatMap(({ id }) => {
        const body = contents.get(`Client/${id}`)?.body;
        return body === undefined ? [] : [[id, body] as const];
      }),
    ),
    persons,
    groups: new Map(groups.map((group) => [group.name, group])),
  };
}

/** The user in whose name a request is made: one by id, any of a group, or any without a group. */
export type PlannedUser = { readonly id: number } | { readonly group: string } | 'any';

/** A request that is ready to be decided. */
export interface ReadyRequest {
  /** App behind a gateway; undefined: the own endpoints of the box. */
  readonly app: string | undefined;
  readonly client: string | undefined;
  /** Undefined: the token is the client's own, or there is none. */
  readonly user: PlannedUser | undefined;
  readonly token: AskedToken;
  readonly parts: Omit<RequestParts, 'box' | 'time'>;
  /** Seconds since 1970. */
  readonly time: number;
}

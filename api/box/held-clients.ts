import type { Client } from '../../crds/client.ts';

/** A client with what a replica keeps beside it. */
interface Held {
  readonly client: Client;
}

/** The clients of a box in memory, and what requests look up among all of them. */
export interface HeldClients<State extends Held> {
  readonly all: ReadonlyMap<string, State>;
  /** Number of active clients for each origin that one of them lists: one lookup, however many clients there are. */
  readonly origins: ReadonlyMap<string, number>;
  put(id: string, client: State): void;
  remove(id: string): void;
}

/** Creates the clients of a box that has none. */
export function createHeldClients<State extends Held>(): HeldClients<State> {
  const all = new Map<string, State>();
  const origins = new Map<string, number>();

  function count(client: Client | undefined, by: 1 | -1): void {
    if (client === undefined || client.active === false) return;
    for (const origin of client.allowed_origins ?? []) {
      const total = (origins.get(origin) ?? 0) + by;
      if (total > 0) origins.set(origin, total);
      else origins.delete(origin);
    }
  }

  return {
    all,
    origins,
    put(id, client) {
      count(all.get(id)?.client, -1);
      count(client.client, 1);
      all.set(id, client);
    },
    remove(id) {
      count(all.get(id)?.client, -1);
      all.delete(id);
    },
  };
}

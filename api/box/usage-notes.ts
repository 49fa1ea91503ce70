import type { ClientUse } from '../db/session/client-usage.ts';

/** Uses of clients that a replica has yet to write. Times in milliseconds since 1970. */
export interface UsageNotes {
  /** Records an issued token: costs three lookups. */
  tokenIssued(box: string, client: string, now: number): void;
  /** Records that a client authenticated with its previous secret, whose stored form this is. */
  previousSecretUsed(box: string, client: string, stored: string, now: number): void;
  /** Removes and returns the uses since the last call. */
  take(): readonly ClientUse[];
  /** Puts back uses that could not be written. */
  putBack(uses: readonly ClientUse[]): void;
  /** Removes and returns the numbers of tokens issued in each box since the last call. */
  takeIssued(): ReadonlyMap<string, number>;
  /** Puts back counts that could not be reported. */
  putBackIssued(issued: ReadonlyMap<string, number>): void;
}

interface Note {
  token: number | undefined;
  previous: ClientUse['previous'];
}

/** Creates empty notes; only authenticated clients get one, so there are no more notes than clients. */
export function createUsageNotes(): UsageNotes {
  let boxes = new Map<string, Map<string, Note>>();
  let issued = new Map<string, number>();

  function noteOf(box: string, client: string): Note {
    let clients = boxes.get(box);
    if (clients === undefined) boxes.set(box, (clients = new Map<string, Note>()));
    let note = clients.get(client);
    if (note === undefined) clients.set(client, (note = { token: undefined, previous: undefined }));
    return note;
  }

  return {
    tokenIssued(box, client, now) {
      noteOf(box, client).token = now;
      issued.set(box, (issued.get(box) ?? 0) + 1);
    },
    previousSecretUsed(box, client, stored, now) {
      noteOf(box, client).previous = { stored, at: now };
    },
    take() {
      const taken = boxes;
      boxes = new Map();
      return [...taken].flatMap(([box, clients]) => [...clients].map(([client, note]) => ({ box, client, ...note })));
    },
    putBack(uses) {
      for (const { box, client, token, previous } of uses) {
        const note = noteOf(box, client);
        note.token ??= token;
        note.previous ??= previous;
      }
    },
    takeIssued() {
      const taken = issued;
      issued = new Map();
      return taken;
    },
    putBackIssued(taken) {
      for (const [box, count] of taken) issued.set(box, (issued.get(box) ?? 0) + count);
    },
  };
}

import type { ClientUse } from '../db/client-usage.ts';

/** What a replica remembers of the use of clients until it is written. Times in milliseconds since 1970. */
export interface UsageNotes {
  /** A token was issued: costs three lookups. */
  tokenIssued(box: string, client: string, now: number): void;
  /** A client authenticated with its previous secret, whose stored form this is. */
  previousSecretUsed(box: string, client: string, stored: string, now: number): void;
  /** Takes out what was noted since the last time. */
  take(): readonly ClientUse[];
  /** Puts back what could not be written. */
  putBack(uses: readonly ClientUse[]): void;
  /** Takes out how many tokens of each box were issued since the last time. */
  takeIssued(): ReadonlyMap<string, number>;
  /** Puts back counts that could not be reported. */
  putBackIssued(issued: ReadonlyMap<string, number>): void;
}

interface Note {
  token: number | undefined;
  previous: ClientUse['previous'];
}

/** Notes of nothing yet; only clients that have proven who they are get one, so there are no more than clients. */
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

import type { Subject } from '../policy/policy-index.ts';
import type { RequestKey } from '../db/request/recorded-request.ts';
import type { ClientUse } from '../db/session/client-usage.ts';

/** Placeholders for segments that name a record, each with a text of that form. */
const SAMPLES = {
  '{number}': '1',
  '{uuid}': '00000000-0000-7000-8000-000000000000',
  '{id}': 'id',
  '{rest}': 'rest',
} as const;

/** Segments of a shape; the ones after them are one `{rest}`. */
const mostSegments = 12;

/** Characters of a literal segment: a longer one names something. */
const longestLiteral = 40;

/**
 * Returns the shape of a path: each segment that names a record is a placeholder, such as `{number}` or `{id}`, so that
 * requests to different records are counted together, and no name of a record is kept. On the own endpoints of a box
 * every second segment names one, unless it is an operation such as `$explain`.
 */
export function pathShape(path: string, isOwnEndpoint: boolean): string {
  const segments = path.split('/', mostSegments + 2);
  const shapes = segments
    .slice(0, mostSegments + 1)
    .map((segment, index) => segmentShape(segment, isOwnEndpoint && index === 2));
  return [...shapes, ...(segments.length > mostSegments + 1 ? ['{rest}'] : [])].join('/');
}

/** Returns a path that has a shape. */
export function sampleOf(shape: string): string {
  return shape
    .split('/')
    .map((segment) => (isPlaceholder(segment) ? SAMPLES[segment] : segment))
    .join('/');
}

function isPlaceholder(segment: string): segment is keyof typeof SAMPLES {
  return Object.hasOwn(SAMPLES, segment);
}

function segmentShape(segment: string, isRecord: boolean): string {
  if (/^\d+$/.test(segment)) return '{number}';
  if (/^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i.test(segment)) return '{uuid}';
  if (isRecord && segment !== '' && !segment.startsWith('$')) return '{id}';
  return isName(segment) ? '{id}' : segment;
}

/** Checks whether a segment looks like the name of a record: an email, a key, a hash, or a long text. */
function isName(segment: string): boolean {
  if (segment.length > longestLiteral || segment.includes('@') || /[^\x20-\x7e]/.test(segment)) return true;
  return /^[\da-f]{8,}$/i.test(segment) || (segment.length >= 16 && /\d/.test(segment) && /[A-Za-z]/.test(segment));
}

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

/** A decided request, as it is noted: nothing of it is copied or computed. */
export interface NotedRequest {
  readonly box: string;
  readonly subject: Subject;
  /** App behind a gateway; empty: the own endpoints of the box. */
  readonly app: string;
  readonly method: string;
  /** Path as policies saw it, without its query. */
  readonly path: string;
  /** The policy that granted it; empty: none did. */
  readonly policy: string;
}

/** Decided requests that a replica has yet to record. */
export interface RequestNotes {
  /** Notes a request: costs two lookups. A request beyond a limit is dropped. */
  note(request: NotedRequest): void;
  /** Removes and returns the requests since the last call. */
  take(): readonly NotedRequest[];
}

/** Requests that are kept at most between two calls of `take`: of one client of a box, of a box, and in all. */
export interface NoteLimits {
  readonly ofClient: number;
  readonly ofBox: number;
  readonly inAll: number;
}

/** Enough for every client of a busy box to appear, and few enough that recording them takes a few milliseconds. */
const defaultNoteLimits: NoteLimits = { ofClient: 16, ofBox: 256, inAll: 1_024 };

interface BoxNotes {
  count: number;
  readonly clients: Map<string, number>;
}

/** Creates empty notes. */
export function createRequestNotes(limits: NoteLimits = defaultNoteLimits): RequestNotes {
  let noted: NotedRequest[] = [];
  let boxes = new Map<string, BoxNotes>();

  return {
    note(request) {
      if (noted.length >= limits.inAll) return;
      let box = boxes.get(request.box);
      if (box === undefined) boxes.set(request.box, (box = { count: 0, clients: new Map() }));
      if (box.count >= limits.ofBox) return;
      const { client = '' } = request.subject;
      const ofClient = box.clients.get(client) ?? 0;
      if (ofClient >= limits.ofClient) return;
      box.clients.set(client, ofClient + 1);
      box.count += 1;
      noted.push(request);
    },
    take() {
      const taken = noted;
      if (taken.length === 0) return taken;
      noted = [];
      boxes = new Map();
      return taken;
    },
  };
}

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

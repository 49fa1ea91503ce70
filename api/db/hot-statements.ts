/** A session about to be stored. Times in seconds since 1970; `hash` is null for a JWT. */
export interface NewSession {
  readonly box: string;
  /** The config version it was decided under: it is stored only if the box is still there. */
  readonly version: number;
  /** 32 hexadecimal digits of a UUIDv7. */
  readonly id: string;
  readonly bucket: number;
  readonly expiresAt: number;
  readonly type: GrantLetter;
  readonly client: string;
  /** SHA-256, 64 hexadecimal digits. */
  readonly hash: string | null;
  readonly remoteAddr: string | null;
  readonly user: number | null;
  readonly scope: string | null;
  readonly audience: readonly string[] | null;
  readonly userAgent: string | null;
}

/** The grant a session came from, as its column holds it. */
export type GrantLetter = 'c' | 'r' | 'i' | 'a' | 'p';

/** Which session is asked for: found only when the hash is that of its token (null: a JWT's). */
export interface SessionKey {
  readonly box: string;
  readonly bucket: number;
  readonly id: string;
  readonly hash: string | null;
}

/** The user of a session, as it is now. */
export interface Person {
  readonly id: number;
  /** As it was given. */
  readonly email: string;
  /** JSON text. */
  readonly data: string | null;
  /** Those it is in now, by id; null when there are none. */
  readonly groups:
    readonly { readonly id: number; readonly name: string; readonly description: string | null }[] | null;
}

/** What the check statement knows of a session. Times in seconds since 1970. */
export interface FoundSession {
  readonly version: number;
  readonly expiresAt: number;
  readonly type: GrantLetter;
  readonly client: string;
  /** Null for a client's own session; of a user's session that counts no more too, and then it has ended. */
  readonly user: Person | null;
  readonly scope: string | null;
  readonly audience: readonly string[] | null;
  readonly family: string | null;
  readonly ended: boolean;
}

/** Which refresh family is asked for: found only by a token of its own. */
export interface FamilyKey {
  readonly box: string;
  /** 32 hexadecimal digits. */
  readonly id: string;
  /** SHA-256 of the part that its tokens share, 64 hexadecimal digits. */
  readonly hash: string;
}

/** One use of an assertion by a request. */
export interface AssertionUse {
  readonly box: string;
  readonly client: string;
  /** SHA-256 of its jti, 64 hexadecimal digits. */
  readonly jti: string;
  /** UUID of the request: the same one may use it again, when it decides again. */
  readonly request: string;
  /** Seconds since 1970 after which no replica takes it for valid. */
  readonly expiresAt: number;
}

/** An entry of a client's `service_accounts`; each part as the schema has it, so that none needs to be quoted. */
export interface EntryKey {
  readonly box: string;
  readonly client: string;
  readonly namespace: string;
  readonly name: string;
}

/** What Postgres knows of an {@link EntryKey}. */
export interface KnownEntry {
  /** Whose ServiceAccount it is, and the version of what is known of that cluster. */
  readonly cluster: string;
  readonly version: number;
  /** Of the ServiceAccount that has been seen; undefined: none yet. */
  readonly uid: string | undefined;
}

/** An answer and the config version of its box at that moment; version undefined: there is no such box. */
export interface Versioned<T> {
  readonly version: number | undefined;
  readonly value: T;
}

/** The statements of the token and check paths. Each throws Outage when Postgres cannot answer soon. */
export interface HotStatements {
  /** Stores a session if its box is still at its version; compare the returned version to know. */
  issue(session: NewSession): Promise<number | undefined>;
  check(key: SessionKey): Promise<Versioned<FoundSession | undefined>>;
  /** Whether there is such a family that has not ended. */
  family(key: FamilyKey): Promise<Versioned<boolean>>;
  version(box: string): Promise<number | undefined>;
  /** Whether it is this request that uses the assertion first. */
  useAssertion(use: AssertionUse): Promise<boolean>;
  /** Undefined where there is no such client, or no cluster that it belongs to. */
  serviceAccount(key: EntryKey): Promise<KnownEntry | undefined>;
}

import { askToken, type Answer } from './ask-token.ts';
import type { AccountNow, Credential, CredentialReader } from './credential.ts';
import { readClient, type FoundClient } from './found-client.ts';
import type { Journal } from './journal.ts';
import type { HourStage } from './stage.ts';

/** A moment at which a status said something else than a replica. */
export interface Violation {
  readonly object: string;
  readonly what: readonly string[];
  /** The object as it was read after the answers. */
  readonly found: unknown;
  /** The last steps that concern the object. */
  readonly history: readonly string[];
}

/**
 * The outcome of a check. `idle`: the status promises nothing. `moved`: a replica disagreed, and so did the object when
 * it was read again, so that nothing follows.
 */
export type Outcome = 'right' | 'idle' | 'moved' | 'wrong';

/** Compares what statuses say with what both replicas answer. */
export interface Checker {
  /** Checks a Client as it is now. */
  check(box: string, name: string): Promise<Outcome>;
  /** Checks that a Client which has gone gets no token any more by the secret that it had last. */
  checkGone(client: FoundClient): Promise<Outcome>;
  /**
   * Checks whether the ServiceAccount that is there is not the one that authenticates the Client; undefined: not known.
   */
  isStranger(client: FoundClient): Promise<boolean | undefined>;
  readonly violations: readonly Violation[];
}

/** The parts that a checker works with. */
export interface CheckerOptions {
  readonly stage: HourStage;
  readonly journal: Journal;
  readonly reader: CredentialReader;
  /** Every secret that was ever declared for an id, the newest last. */
  readonly secretsOf: (box: string, id: string) => readonly string[];
}

interface Ask {
  readonly what: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly isAllowed: boolean;
  /** A scope that must not be granted: ignored if no client of the box lists it, otherwise refused. */
  readonly unlisted?: string;
  /** Uid of the ServiceAccount whose token is sent. */
  readonly account?: string | undefined;
}

const LOST: readonly string[] = ['ServiceAccountDeleted', 'ServiceAccountRecreated'];

/**
 * Creates a checker. What is Ready is asked of both replicas: what is declared gets a token, what an earlier generation
 * declared gets none. A disagreement is a violation only if the object is still the same one, in the same generation,
 * and its condition has not flipped, and if the Secret or ServiceAccount is still the same.
 */
export function createChecker({ stage, journal, reader, secretsOf }: CheckerOptions): Checker {
  const violations: Violation[] = [];
  /** By uid of a Client: the uid of the ServiceAccount that got a token for it last. */
  const pins = new Map<string, string>();
  /**
   * By uid of a Client that was Ready, whose deletion waits for the row since then (decision 17): its secret, where no
   * other object may declare the same one.
   */
  const ownSecrets = new Map<string, string>();
  /** Clients and pins of which a status has said that they are lost. */
  const lost = new Set<string>();

  const pinOf = ({ uid }: FoundClient, { declared }: AccountNow): string | undefined => declared ?? pins.get(uid);
  const lostKey = (client: FoundClient, account: AccountNow): string =>
    `${client.uid} ${account.declared ?? ''} ${String(pinOf(client, account))}`;

  function asksOf(client: FoundClient, { fields = {}, secret, account }: Credential): readonly Ask[] {
    const { box, id, spec } = client;
    const grants: readonly unknown[] = Array.isArray(spec['grant_types']) ? spec['grant_types'] : [];
    const isOn = spec['active'] !== false && grants.includes('client_credentials');
    const pin = account === undefined ? undefined : pinOf(client, account);
    const isAllowed = isOn && (pin === undefined || pin === account?.uid);
    const scopes: readonly unknown[] = Array.isArray(spec['scope']) ? spec['scope'] : [];
    const scope = scopes.length === 0 ? {} : { scope: scopes.join(' ') };
    const unlisted = ['write', 'read'].find((one) => !scopes.includes(one));
    const withdrawn = secretsOf(box, id).filter((one) => one !== secret);
    return [
      { what: 'what it declares', fields: { ...fields, ...scope }, isAllowed, account: account?.uid },
      ...(unlisted === undefined
        ? []
        : [
            {
              what: `scope ${unlisted}, which it does not list`,
              fields: { ...fields, scope: unlisted },
              isAllowed: false,
              unlisted,
            },
          ]),
      ...withdrawn.slice(-2).map((text) => ({
        what: `secret ${String(secretsOf(box, id).indexOf(text))} of its id, which it does not declare`,
        fields: { client_secret: text },
        isAllowed: false,
      })),
    ];
  }

  /** Asks both replicas; what they answered otherwise than expected. */
  async function disagreements({ box, id, uid }: FoundClient, asks: readonly Ask[]): Promise<string[]> {
    const answers = stage.replicas.flatMap(({ url }, nth) =>
      asks.map(async (asked) => {
        const { what, fields, isAllowed, account } = asked;
        const answer = await askToken(url, box, id, fields);
        if (account !== undefined && isAllowed && tellsOfPin(answer)) pins.set(uid, account);
        if (isAsExpected(answer, asked)) return [];
        const expected = isAllowed ? 'a token' : 'a refusal';
        return [
          `replica ${String(nth)}, asked with ${what}: ${String(answer.status)} ${answer.error}, expected ${expected}`,
        ];
      }),
    );
    return (await Promise.all(answers)).flat();
  }

  function report(about: string, what: readonly string[], found: unknown): Outcome {
    violations.push({ object: about, what, found, history: journal.of(about) });
    return 'wrong';
  }

  async function checkReady(client: FoundClient): Promise<Outcome> {
    const credential = await reader.read(client);
    const { account, fields } = credential;
    if (fields === undefined && account !== undefined) return 'idle';
    const asks = asksOf(client, credential);
    const wrong = fields === undefined ? ['there is no Secret that it declares'] : await disagreements(client, asks);
    if (account !== undefined && lost.has(lostKey(client, account)) && pinOf(client, account) !== account.uid)
      wrong.push('it is Ready again, although its ServiceAccount is lost');
    const { secret } = credential;
    if (wrong.length === 0 && secret !== undefined && client.spec['secretRef'] === undefined)
      ownSecrets.set(client.uid, secret);
    if (wrong.length === 0) return 'right';
    const now = await readClient(stage.plane, client.box, client.name);
    if (now === undefined || !isSamePromise(client, now)) return 'moved';
    if ((await reader.read(now)).version !== credential.version) return 'moved';
    return report(`${client.box}/${client.name}`, wrong, now);
  }

  /** The status says that a ServiceAccount is lost: its token is refused, and so is that of another one of its name. */
  async function checkLost(client: FoundClient): Promise<Outcome> {
    const { account, fields, version } = await reader.read(client);
    if (account === undefined) return 'idle';
    lost.add(lostKey(client, account));
    const pin = pinOf(client, account);
    const former = pin === undefined ? undefined : reader.tokenOf(pin);
    const isOther = pin !== undefined && pin !== account.uid;
    const wrong = await disagreements(client, [
      ...(former === undefined ? [] : [{ what: 'the lost ServiceAccount', fields: former, isAllowed: false }]),
      ...(fields === undefined || !isOther ? [] : [{ what: 'the one created again', fields, isAllowed: false }]),
    ]);
    if (wrong.length === 0) return 'right';
    const now = await readClient(stage.plane, client.box, client.name);
    if (now === undefined || !isSamePromise(client, now)) return 'moved';
    if ((await reader.read(now)).version !== version) return 'moved';
    return report(`${client.box}/${client.name}`, wrong, now);
  }

  return {
    violations,
    async check(box, name) {
      const client = await readClient(stage.plane, box, name);
      if (client === undefined || client.isGoing) return 'idle';
      if (client.ready?.status === 'True') return checkReady(client);
      return client.ready !== undefined && LOST.includes(client.ready.reason) ? checkLost(client) : 'idle';
    },
    async checkGone(client) {
      const client_secret = ownSecrets.get(client.uid);
      if (client_secret === undefined) return 'idle';
      const wrong = await disagreements(client, [
        { what: 'the secret of a Client that is gone', fields: { client_secret }, isAllowed: false },
      ]);
      return wrong.length === 0 ? 'right' : report(`${client.box}/${client.name}`, wrong, 'it is gone');
    },
    async isStranger(client) {
      if (client.spec['service_accounts'] === undefined) return false;
      const { account } = await reader.read(client);
      if (account === undefined) return false;
      const pin = pinOf(client, account);
      return pin === undefined ? undefined : pin !== account.uid;
    },
  };
}

/**
 * Checks whether an answer says that the ServiceAccount which was sent is the pinned one: it got a token, or had got
 * one.
 */
function tellsOfPin({ status, error }: Answer): boolean {
  return status === 200 || error.includes('This ServiceAccount was deleted');
}

/** A refusal is one that RFC 6749 §5.2 knows, and no failure of the server. */
function isAsExpected({ status, scope }: Answer, { isAllowed, unlisted }: Ask): boolean {
  if (isAllowed) return status === 200;
  const isIgnored = status === 200 && unlisted !== undefined && !scope.split(' ').includes(unlisted);
  return status === 400 || status === 401 || isIgnored;
}

/** Checks whether an object has had the same condition Ready since, for the same generation. */
function isSamePromise(one: FoundClient, now: FoundClient): boolean {
  return (
    !now.isGoing &&
    now.uid === one.uid &&
    now.generation === one.generation &&
    now.ready?.status === one.ready?.status &&
    now.ready?.reason === one.ready?.reason &&
    now.ready?.since === one.ready?.since
  );
}

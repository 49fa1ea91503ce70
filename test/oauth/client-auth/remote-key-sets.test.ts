import { expect } from 'chai';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import { Outage } from '../../../api/db/core/outage.ts';
import { fetchText, createRemoteKeySets, fetchLimits } from '../../../api/oauth/client-auth/remote-key-sets.ts';
import type { RemoteKeySets } from '../../../api/oauth/client-auth/remote-key-sets.ts';
import { Problem } from '../../../api/problem.ts';
import { createFairQueue, shareUsedUp } from '../../../api/shares/fair-queue.ts';
import { eventually } from '../../support/eventually.ts';
import { startApi } from '../../support/api.ts';
import type { TestApi } from '../../support/api.ts';
import { assertion, makeSigner, proof } from '../assertions.ts';
import type { Signer } from '../assertions.ts';
import { sendForm } from '../requests.ts';
import type { Reply } from '../requests.ts';
import { portOf } from '../../../program/environment.ts';

const issuer = 'http://boxgate.test/boxes/default';

/** A server of keys that does what a case wants it to, and counts what it is asked. */
interface KeyServer {
  readonly host: string;
  answer: RequestListener;
  asked: number;
  close(): void;
}

async function startKeyServer(): Promise<KeyServer> {
  const server: Server = createServer((request, response) => {
    keyServer.asked += 1;
    keyServer.answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = portOf(server);
  const keyServer: KeyServer = {
    host: `127.0.0.1:${String(port)}`,
    answer: (_request, response) => response.end('{"keys":[]}'),
    asked: 0,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return keyServer;
}

describe('a client whose keys are at its jwks_uri', () => {
  let listed: KeyServer;
  let unlisted: KeyServer;
  let api: TestApi;
  let key: Signer;
  let clients = 0;

  before(async () => {
    [listed, unlisted] = await Promise.all([startKeyServer(), startKeyServer()]);
    api = await startApi({ environment: { BOXGATE_JWKS_HOSTS: `keys.example.com, ${listed.host}` } });
    key = await makeSigner('ES256');
  });
  after(async () => {
    await api.stop();
    listed.close();
    unlisted.close();
  });
  beforeEach(() => {
    listed.asked = unlisted.asked = 0;
  });

  const served = (): RequestListener => (_request, response) => response.end(JSON.stringify({ keys: [key.publicJwk] }));

  /** Asks for a token as a new client whose keys are there. */
  async function ask(uri: string, times = 1): Promise<readonly Reply[]> {
    const id = `client-${String((clients += 1))}`;
    await api.declare('default', [{ kind: 'Client', id, grant_types: ['client_credentials'], jwks_uri: uri }]);
    const url = `${api.url}/boxes/default/auth/token`;
    const one = async () =>
      sendForm(url, { grant_type: 'client_credentials', ...proof(await assertion(key, id, issuer)) });
    return Promise.all(Array.from({ length: times }, one));
  }

  it('is authenticated by them, which are fetched once for all who wait, and kept', async () => {
    listed.answer = served();
    for (const { status } of await ask(`http://${listed.host}/once`, 10)) expect(status).to.equal(200);
    expect(listed.asked).to.equal(1);
    const [again] = await ask(`http://${listed.host}/once`);
    expect([again?.status, listed.asked]).to.deep.equal([200, 1]);
  });

  it('C-12 is refused, and nothing is fetched, where the installation does not list the host', async () => {
    unlisted.answer = served();
    const hosts = [unlisted.host, unlisted.host.replace('127.0.0.1', 'localhost'), `127.0.0.1`];
    for (const host of hosts) {
      const [reply] = await ask(`http://${host}/keys`);
      expect([reply?.status, reply?.body['error_description']]).to.deep.equal([401, 'Client authentication failed']);
    }
    expect(unlisted.asked).to.equal(0);
  });

  it('R-52 is authenticated while forty clients of another box have keys at addresses that hang', async () => {
    let hanging = 0;
    listed.answer = (request, response) => {
      if (request.url?.startsWith('/hangs/') === true) hanging += 1;
      else served()(request, response);
    };
    const ids = Array.from({ length: 40 }, (_, index) => `hangs-${String(index)}`);
    const grant = { kind: 'Client', grant_types: ['client_credentials'] } as const;
    await api.declare(
      'attacker',
      ids.map((id) => ({ ...grant, id, jwks_uri: `http://${listed.host}/hangs/${id}` })),
    );
    const attack = ids.map(async (id) => {
      const proven = proof(await assertion(key, id, issuer.replace('default', 'attacker')));
      return sendForm(`${api.url}/boxes/attacker/auth/token`, { grant_type: 'client_credentials', ...proven });
    });
    await eventually('fetches hang', () => hanging > 0);
    const [reply] = await ask(`http://${listed.host}/of-the-victim`);
    expect(reply?.status).to.equal(200);
    const told = await Promise.all(attack);
    expect([429, 503]).to.include.members([...new Set(told.map(({ status }) => status))]);
  });

  it('C-12 is not sent on: a redirect is not followed', async () => {
    unlisted.answer = served();
    listed.answer = (_request, response) => response.writeHead(302, { Location: `http://${unlisted.host}/keys` }).end();
    const [reply] = await ask(`http://${listed.host}/redirect`);
    expect([reply?.status, unlisted.asked]).to.deep.equal([503, 0]);
  });

  const useless: Record<string, RequestListener> = {
    'that never ends': (_request, response) => response.write('{"keys":['),
    'that never comes': () => undefined,
    'of a megabyte': (_request, response) => response.end(`{"keys":[],"x":"${'x'.repeat(1024 * 1024)}"}`),
    'that is no JSON': (_request, response) => response.end('<html>'),
    'without keys': (_request, response) => response.end('{}'),
    'with keys that are none': (_request, response) => response.end('{"keys":[1, null]}'),
    'that breaks off': (_request, response) => {
      response.writeHead(200, { 'Content-Length': '100' }).write('{');
      response.destroy();
    },
    'of an error': (_request, response) => response.writeHead(500).end(),
  };
  for (const [what, answer] of Object.entries(useless)) {
    it(`C-12 is told to try again, soon, after an answer ${what}`, async () => {
      listed.answer = answer;
      const [reply] = await ask(`http://${listed.host}/${what.replaceAll(' ', '-')}`);
      expect(reply?.status).to.equal(503);
      expect(reply?.headers.get('retry-after')).to.equal('1');
    });
  }

  it('R-15 is refused with a key that holds a private member, or that is an RSA key of less than 2048 bits', async () => {
    const { publicJwk } = await makeSigner('RS256');
    const weak = { ...publicJwk, n: publicJwk.n?.slice(0, 171) };
    const sets = { private: [{ ...key.publicJwk, d: 'AQAB' }], prime: [{ ...key.publicJwk, p: 'AQAB' }], weak: [weak] };
    for (const [name, keys] of Object.entries(sets)) {
      listed.answer = (_request, response) => response.end(JSON.stringify({ keys }));
      const [reply] = await ask(`http://${listed.host}/${name}`);
      expect(reply?.status, name).to.equal(401);
    }
    listed.answer = (_request, response) => response.end(JSON.stringify({ keys: [weak, key.publicJwk] }));
    const [mixed] = await ask(`http://${listed.host}/mixed`);
    expect(mixed?.status, 'a good key beside a weak one').to.equal(200);
  });

  it('C-12 is refused with a key set without a key that fits, and the server not asked again for each try', async () => {
    listed.answer = (_request, response) => response.end('{"keys":[]}');
    for (const { status } of await ask(`http://${listed.host}/empty`, 5)) expect(status).to.equal(401);
    expect(listed.asked).to.equal(1);
  });
});

describe('key sets that are fetched', () => {
  const uri = 'https://keys.example.com/set';
  let now = 0;
  let asked: string[] = [];
  let answer: () => string;
  let sets: RemoteKeySets;

  beforeEach(() => {
    now = 1_000_000;
    asked = [];
    answer = () => '{"keys":[]}';
    sets = createRemoteKeySets({
      hosts: ['keys.example.com', 'localhost:8080'],
      now: () => now,
      queue: createFairQueue({ resource: 'fetches', noun: 'a fetch' }, fetchLimits),
      fetchText: async (url) => {
        asked.push(url.href);
        return Promise.resolve(answer());
      },
    });
  });

  const outageOf = async (work: Promise<unknown>) => (await work.catch((error: unknown) => error)) instanceof Outage;
  const fail = (): string => {
    throw new Error('away');
  };

  it('count for five minutes', async () => {
    const first = await sets.keys(uri, 'a');
    now += 5 * 60_000 - 1;
    expect(await sets.keys(uri, 'a')).to.equal(first);
    now += 1;
    expect(await sets.keys(uri, 'a')).not.to.equal(first);
    expect(asked).to.have.length(2);
  });

  it('are asked for again when none of them fits, at most once in 15 seconds', async () => {
    const first = await sets.keys(uri, 'a');
    expect(await sets.refetchedKeys(uri, 'a')).to.equal(undefined);
    now += 15_000;
    expect(await sets.refetchedKeys(uri, 'a')).not.to.equal(first);
    expect(await sets.refetchedKeys(uri, 'a')).to.equal(undefined);
    expect(asked).to.have.length(2);
  });

  it('count for an hour while their host is away, and no longer', async () => {
    const first = await sets.keys(uri, 'a');
    answer = fail;
    now += 30 * 60_000;
    expect(await sets.keys(uri, 'a')).to.equal(first);
    expect(await sets.keys(uri, 'a'), 'without asking again at once').to.equal(first);
    expect(asked).to.have.length(2);
    now += 30 * 60_000;
    expect(await outageOf(sets.keys(uri, 'a'))).to.equal(true);
  });

  it('that could not be fetched are not asked for again at once', async () => {
    answer = fail;
    expect(await outageOf(sets.keys(uri, 'a'))).to.equal(true);
    expect(await outageOf(sets.keys(uri, 'a'))).to.equal(true);
    expect(await sets.refetchedKeys(uri, 'a')).to.equal(undefined);
    expect(asked).to.have.length(1);
    now += 15_000;
    answer = () => '{"keys":[]}';
    expect(await sets.keys(uri, 'a')).to.be.a('function');
  });

  it('are of at most a thousand addresses at once', async () => {
    for (let n = 0; n <= 1000; n += 1) await sets.keys(`${uri}/${String(n)}`, 'a');
    await sets.keys(`${uri}/1`, 'a');
    expect(asked).to.have.length(1001);
    await sets.keys(`${uri}/0`, 'a');
    expect(asked).to.have.length(1002);
  });

  it('R-52 of one box never push out those of another, however many it has', async () => {
    await sets.keys(uri, 'victim');
    for (let n = 0; n < 1500; n += 1) await sets.keys(`${uri}/${String(n)}`, 'attacker');
    asked = [];
    await sets.keys(uri, 'victim');
    expect(asked).to.deep.equal([]);
  });

  const elsewhere = [
    'https://keys.example.com:8443/set',
    'https://other.example.com/set',
    'https://keys.example.com.evil.example/set',
    'https://keys.example.com@evil.example/set',
    'https://someone@keys.example.com/set',
    'http://keys.example.com/set',
    'ftp://keys.example.com/set',
    'file:///etc/passwd',
    'http://localhost/set',
    'https://169.254.169.254/latest/meta-data',
    'nonsense',
  ];
  for (const address of elsewhere) {
    it(`C-12 are not fetched from ${address}`, async () => {
      expect(await sets.keys(address, 'a')).to.equal(undefined);
      expect(await sets.refetchedKeys(address, 'a')).to.equal(undefined);
      expect(asked).to.deep.equal([]);
    });
  }

  it('may be on loopback without TLS, when that is listed', async () => {
    expect(await sets.keys('http://localhost:8080/set', 'a')).to.be.a('function');
  });
});

describe('key sets whose fetches wait', () => {
  const uri = 'https://keys.example.com/set';
  let now = 0;
  let asked = 0;
  let sets: RemoteKeySets;
  /** The fetches in line, by box; one that is refused gets the error that the queue gives its box. */
  let line: Map<string, { start(): void; refuse(): void }>;

  beforeEach(() => {
    now = 1_000_000;
    asked = 0;
    line = new Map();
    sets = createRemoteKeySets({
      hosts: ['keys.example.com'],
      now: () => now,
      queue: {
        run: ({ box }, work) =>
          new Promise((resolve, reject) => {
            const refuse = (): void => reject(shareUsedUp(`a fetch of ${box}`));
            line.set(box, { start: () => void work().then(resolve, reject), refuse });
          }),
      },
      fetchText: () => {
        asked += 1;
        return Promise.resolve('{"keys":[]}');
      },
    });
  });

  const refusalOf = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'none',
      (error: unknown) => (error instanceof Problem ? error.message : String(error)),
    );

  it('R-52 wait in the line of each box, so that none is refused because of another one', async () => {
    const greedy = refusalOf(sets.keys(uri, 'greedy'));
    const victim = sets.keys(uri, 'victim');
    line.get('greedy')?.refuse();
    expect(await greedy).to.contain('a fetch of greedy');
    line.get('victim')?.start();
    expect(await victim).to.be.a('function');
    expect(asked).to.equal(1);
  });

  it('are fetched once for all boxes and requests', async () => {
    const [first, second, third] = [sets.keys(uri, 'a'), sets.keys(uri, 'a'), sets.keys(uri, 'b')];
    expect(line.size).to.equal(2);
    line.get('b')?.start();
    const keys = await third;
    line.get('a')?.start();
    expect([await first, await second]).to.deep.equal([keys, keys]);
    expect(asked).to.equal(1);
  });

  it('R-52 are used for an hour while the box uses its share of fetches', async () => {
    const first = sets.keys(uri, 'a');
    line.get('a')?.start();
    const keys = await first;
    now += 59 * 60_000;
    const kept = sets.keys(uri, 'a');
    line.get('a')?.refuse();
    expect(await kept).to.equal(keys);
    const again = refusalOf(sets.refetchedKeys(uri, 'a'));
    line.get('a')?.refuse();
    expect(await again, 'a key that they lack may be there by now').to.contain('a fetch of a');
    now += 60_000;
    const old = refusalOf(sets.keys(uri, 'a'));
    line.get('a')?.refuse();
    expect(await old).to.contain('a fetch of a');
  });
});

describe('fetchText', () => {
  it('sends nothing along but what it wants', async () => {
    const server = await startKeyServer();
    let headers: readonly string[] = [];
    server.answer = ({ rawHeaders }, response) => {
      headers = rawHeaders.filter((_, index) => index % 2 === 0);
      response.end('text');
    };
    expect(await fetchText(new URL(`http://${server.host}/x`))).to.equal('text');
    expect(headers).to.have.members(['Accept', 'Host', 'Connection']);
    server.close();
  });
});

import { expect } from 'chai';
import { calculateJwkThumbprint, createLocalJWKSet, jwtVerify } from 'jose';
import type { JSONWebKeySet } from 'jose';
import { randomBytes } from 'node:crypto';
import { generateClientSecret } from '../../../api/credentials/client-secret.ts';
import { introspect } from '../../../api/oauth/session/introspection.ts';
import { keySet } from '../../../api/oauth/metadata.ts';
import type { OAuthServices } from '../../../api/oauth/services.ts';
import { token } from '../../../api/oauth/token/endpoint.ts';
import { basic, headerOf } from '../requests.ts';
import { formRequest, makeWorld, outcome, patiently } from '../world.ts';
import type { World } from '../world.ts';
import { NO_CHECKS } from '../no-checks.ts';

const hour = 3_600_000;
const day = 24 * hour;

describe('signing keys', () => {
  const secret = generateClientSecret();
  const start = Math.floor(Date.now() / 1000) * 1000;
  let world: World;
  let boxes = 0;

  before(async () => {
    world = await makeWorld();
  });
  after(() => world.end());
  beforeEach(() => {
    world.clock.now = start;
  });

  /** A box of its own, with a client of JWTs that live for an hour unless told otherwise. */
  async function newBox(signing: object = {}, settings: object = {}): Promise<string> {
    boxes += 1;
    const box = `keys-${String(boxes)}`;
    const auth = { client_credentials: { token_format: 'jwt', access_token_expiration: 3600, ...settings } };
    const client = { kind: 'Client', grant_types: ['client_credentials'], secret } as const;
    const own = { kind: 'Box', id: box, signing } as const;
    await world.declare(box, own, { ...client, id: 'app', auth }, { ...client, id: 'opaque' });
    return box;
  }

  async function issue(box: string, services = world.services, id = 'app'): Promise<string> {
    const request = formRequest({ grant_type: 'client_credentials' }, { box, authorization: basic(id, secret) });
    return (await token(request, services, NO_CHECKS))?.access_token ?? '';
  }

  async function published(box: string): Promise<JSONWebKeySet> {
    const found = await world.services.states.decide(box, async (state) => [...keySet(state).keys]);
    return { keys: found ?? [] };
  }

  async function kids(box: string): Promise<readonly (string | undefined)[]> {
    return (await published(box)).keys.map(({ kid }) => kid);
  }

  async function version(box: string): Promise<number> {
    return (await world.services.states.decide(box, async (state) => state.version)) ?? 0;
  }

  /** As a resource server does: with nothing but the published keys. */
  async function verify(text: string, box: string): Promise<string | undefined> {
    const { payload } = await jwtVerify(text, createLocalJWKSet(await published(box)), {
      issuer: `https://boxgate.test/boxes/${box}`,
      audience: `https://boxgate.test/boxes/${box}`,
      typ: 'at+jwt',
      requiredClaims: ['exp', 'iat', 'jti', 'sub', 'client_id'],
      currentDate: new Date(world.clock.now),
    });
    return payload.sub;
  }

  async function lives(text: string, box: string): Promise<boolean> {
    const request = formRequest({ token: text }, { box, authorization: basic('opaque', secret) });
    return (await introspect(request, world.services, NO_CHECKS))?.active === true;
  }

  async function upkeep(box: string, services: OAuthServices = world.services): Promise<boolean> {
    const settings = await services.states.decide(box, async (state) => state.settings);
    if (settings === undefined) throw new Error('no such box');
    return services.keys.upkeep(box, settings, world.clock.now);
  }

  const algorithms = {
    ES256: { kty: 'EC', public: ['crv', 'x', 'y'] },
    RS256: { kty: 'RSA', public: ['e', 'n'] },
    EdDSA: { kty: 'OKP', public: ['crv', 'x'] },
  };
  for (const [algorithm, expected] of Object.entries(algorithms)) {
    it(`of ${algorithm} sign tokens that jose verifies with what is published, the public part only`, async () => {
      const box = await newBox({ algorithm });
      const text = await issue(box);
      expect(headerOf(text)['alg']).to.equal(algorithm);
      expect(await verify(text, box)).to.equal('app');
      expect(await lives(text, box)).to.equal(true);
      const { keys } = await published(box);
      expect(keys).to.have.length(1);
      for (const key of keys) {
        expect(key).to.have.all.keys('kty', 'kid', 'alg', 'use', ...expected.public);
        expect(key).to.include({
          kty: expected.kty,
          alg: algorithm,
          use: 'sig',
          kid: await calculateJwkThumbprint(key),
        });
        if (key.n !== undefined) expect(Buffer.from(key.n, 'base64url')).to.have.length(3072 / 8);
      }
    });
  }

  it('are made once, however many tokens wait for the first one, on two replicas', async () => {
    const box = await newBox();
    const replicas = [world.services, world.replica()];
    const texts = await Promise.all(
      Array.from({ length: 40 }, (_, index) => patiently(() => issue(box, replicas[index % 2]))),
    );
    expect(new Set(texts.map((text) => headerOf(text)['kid'])).size).to.equal(1);
    expect((await published(box)).keys).to.have.length(1);
  });

  it('are not made for opaque tokens', async () => {
    const box = await newBox();
    await issue(box, world.services, 'opaque');
    expect(await kids(box)).to.deep.equal([]);
  });

  it('rotate with an overlap: published before use, kept until the last token is over', async () => {
    const box = await newBox({ rotation_period: 86_400 }, { access_token_expiration: 10 * 86_400 });
    const old = await issue(box);
    const [first] = await kids(box);

    world.clock.now = start + 12 * hour - 1000;
    expect(await upkeep(box)).to.equal(false);
    world.clock.now = start + 12 * hour;
    expect(await upkeep(box)).to.equal(true);
    const [, second] = await kids(box);
    expect(second).to.be.a('string');
    expect(headerOf(await issue(box))['kid'], 'published, not used yet').to.equal(first);

    world.clock.now = start + day;
    const young = await issue(box);
    expect(headerOf(young)['kid']).to.equal(second);
    for (const text of [old, young]) {
      expect(await verify(text, box)).to.equal('app');
      expect(await lives(text, box)).to.equal(true);
    }

    // Half a day in, the first key signed a token of ten days; a day more than needed is kept.
    world.clock.now = start + 10.5 * day;
    await upkeep(box);
    expect(await kids(box)).to.include(first);
    world.clock.now = start + 12 * day;
    await upkeep(box);
    expect(await kids(box)).not.to.include(first);
    expect(await lives(old, box)).to.equal(false);
  });

  it('are not dropped under a living token, however long it lives', async () => {
    const box = await newBox({ rotation_period: 3600 }, { access_token_expiration: 50 * 86_400 });
    const text = await issue(box);
    for (let hours = 1; hours < 50 * 24; hours += 90) {
      world.clock.now = start + hours * hour;
      await upkeep(box);
      expect(await verify(text, box)).to.equal('app');
    }
  });

  it('of an algorithm that the box gave up retire at the end of their period, and verify their last token', async () => {
    const box = await newBox({ rotation_period: 30 * 86_400 });
    const old = await issue(box);
    await world.declare(box, { kind: 'Box', id: box, signing: { algorithm: 'EdDSA', rotation_period: 30 * 86_400 } });
    const young = await issue(box);
    expect(headerOf(young)['alg']).to.equal('EdDSA');
    for (const text of [old, young]) expect(await verify(text, box)).to.equal('app');
    world.clock.now = start + 3 * day;
    await upkeep(box);
    expect(await kids(box)).to.have.members([headerOf(old)['kid'], headerOf(young)['kid']]);
    world.clock.now = start + 30 * day;
    await upkeep(box);
    world.clock.now = start + 31 * day;
    await upkeep(box);
    expect(await kids(box)).not.to.include(headerOf(old)['kid']);
  });

  describe('under a wrong encryption key', () => {
    it('sign nothing, and the error names the setting and shows no key', async () => {
      const box = await newBox();
      await issue(box);
      const wrong = randomBytes(32);
      const stranger = world.replica({ encryptionKey: wrong });
      const error = await outcome(issue(box, stranger)).catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(Error);
      expect(String(error)).to.contain('BOXGATE_ENCRYPTION_KEY');
      expect(JSON.stringify(error) + String(error)).not.to.contain(wrong.toString('base64'));
    });

    it('still verify, and opaque tokens are issued', async () => {
      const box = await newBox();
      const text = await issue(box);
      const stranger = world.replica({ encryptionKey: randomBytes(32) });
      expect(await issue(box, stranger, 'opaque')).to.match(/^bgt_/);
      const request = formRequest({ token: text }, { box, authorization: basic('opaque', secret) });
      expect(await introspect(request, stranger, NO_CHECKS)).to.include({ active: true });
    });
  });

  it('X-11 a hundred requests at once that find no key make one, however dear it is', async () => {
    const box = await newBox({ algorithm: 'RS256' });
    const before = await version(box);
    await Promise.all(Array.from({ length: 100 }, () => upkeep(box)));
    expect(await kids(box)).to.have.length(1);
    // Each attempt would have moved the configuration.
    const { rows } = await world.owner.query(
      'SELECT version FROM boxgate.box_version WHERE box = $1 AND version > $2',
      [box, before],
    );
    expect(rows).to.have.length(1);
  });
});

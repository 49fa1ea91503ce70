import { expect } from 'chai';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { authorize, mayList } from '../../../api/http/access/authorize.ts';
import type { RequestedAction } from '../../../api/http/access/authorize.ts';
import { readTokenRequest, token } from '../../../api/oauth/token/endpoint.ts';
import { Problem } from '../../../api/problem.ts';
import type { StateCache } from '../../../api/box/state-cache.ts';
import { makeWorld } from '../../oauth/world.ts';
import type { World } from '../../oauth/world.ts';
import { NO_CHECKS } from '../../oauth/no-checks.ts';

const client = { kind: 'Client', grant_types: ['client_credentials'], secret: 'a-secret' } as const;
const linked = (id: string) => [{ resourceType: 'Client', id }];

describe('authorization', () => {
  let world: World;
  /** Count of reads of the body. */
  let read = 0;
  /** Count of decisions, each with one statement. */
  let decisions = 0;

  before(async () => {
    world = await makeWorld();
    await world.declare(
      'shop',
      { ...client, id: 'bare' },
      { ...client, id: 'reader' },
      { ...client, id: 'careful' },
      { ...client, id: 'writer' },
      { ...client, id: 'seeker' },
      {
        kind: 'AccessPolicy',
        id: 'reads',
        engine: 'matcho',
        link: linked('reader'),
        matcho: { 'request-method': 'get' },
      },
      {
        kind: 'AccessPolicy',
        id: 'all-but-one',
        engine: 'matcho',
        link: linked('careful'),
        matcho: { uri: { $not: '/Client/hidden' } },
      },
      {
        kind: 'AccessPolicy',
        id: 'by-body',
        engine: 'matcho',
        link: linked('writer'),
        matcho: { body: { name: 'good' } },
      },
      {
        kind: 'AccessPolicy',
        id: 'ends',
        engine: 'complex',
        link: linked('seeker'),
        or: [{ engine: 'cel', expression: "'x'.contains(uri)" }, { engine: 'allow' }],
      },
    );
    await world.declare(
      'off',
      { kind: 'Box', id: 'off', active: false },
      { kind: 'AccessPolicy', id: 'any', engine: 'allow', subjects: 'anyone' },
      { kind: 'AccessPolicy', id: 'by-body', engine: 'matcho', subjects: 'anyone', matcho: { body: 'present?' } },
    );
    await world.declare('open', { kind: 'AccessPolicy', id: 'any', engine: 'allow', subjects: 'anyone' });
  });
  after(() => world.end());
  beforeEach(() => {
    read = 0;
    decisions = 0;
  });

  function countingDecisions({ services: { states } }: World): StateCache {
    return {
      size: states.size,
      holds: (box) => states.holds(box),
      quota: states.quota,
      blank: states.blank,
      decide(box, attempt) {
        decisions += 1;
        return states.decide(box, attempt);
      },
    };
  }

  function requestFor(box: string, path: string): RequestedAction {
    const request = new IncomingMessage(new Socket());
    request.method = 'GET';
    const resource = { resourceType: 'Client' } as const;
    const query = new URLSearchParams();
    return { box, request, path, query, remoteAddr: '127.0.0.1', resource, readRest: undefined };
  }

  /** The policy that grants, or the code of the refusal. */
  async function ask(
    id: string | undefined,
    path: string,
    over: { box?: string; body?: unknown } = {},
  ): Promise<string> {
    const { box = 'shop', body } = over;
    const bearer = id === undefined ? undefined : await tokenOf(id);
    const readRest = async () => {
      read += 1;
      return { body };
    };
    const asked = { ...requestFor(box, path), readRest };
    return authorize(bearer, asked, { ...world.services, states: countingDecisions(world) }).then(
      ({ policy }) => policy,
      (error: unknown) => (error instanceof Problem ? error.code : String(error)),
    );
  }

  async function tokenOf(id: string): Promise<string> {
    if (id === 'nobody') return 'bgt_never-given-out';
    const answer = await token(
      readTokenRequest({
        box: 'shop',
        contentType: 'application/x-www-form-urlencoded',
        authorization: `Basic ${btoa(`${id}:a-secret`)}`,
        body: Buffer.from('grant_type=client_credentials'),
        remoteAddr: null,
      }),
      world.services,
      NO_CHECKS,
    );
    return answer?.access_token ?? '';
  }

  it('R-05 reads the body of nobody whom no policy concerns: it may be long, and hard to read', async () => {
    expect(await ask(undefined, '/Client')).to.equal('unauthenticated');
    expect(await ask('bare', '/Client')).to.equal('forbidden');
    expect(await ask('nobody', '/Client')).to.equal('unauthenticated');
    expect({ read, decisions }).to.deep.equal({ read: 0, decisions: 3 });
  });

  it('R-05 decides once, without the body, where a policy grants that does not look at it', async () => {
    expect(await ask('reader', '/Client')).to.equal('reads');
    expect(await ask(undefined, '/Client', { box: 'open' })).to.equal('any');
    expect({ read, decisions }).to.deep.equal({ read: 0, decisions: 2 });
  });

  it('R-05 decides again once the body is there', async () => {
    await ask('writer', '/Client', { body: { name: 'good' } });
    expect({ read, decisions }).to.deep.equal({ read: 1, decisions: 2 });
  });

  it('shows it to the policies of who it concerns', async () => {
    expect(await ask('writer', '/Client', { body: { name: 'good' } })).to.equal('by-body');
    expect(await ask('writer', '/Client', { body: { name: 'bad' } })).to.equal('forbidden');
    expect(await ask('writer', '/Client', { body: undefined })).to.equal('forbidden');
    expect(read).to.equal(3);
  });

  it('E-03 does not grant by a policy whose evaluation was ended, whatever rule comes after it', async () => {
    expect(await ask('seeker', '/Client/short')).to.equal('ends');
    expect(await ask('seeker', `/Client/${'x'.repeat(300)}`)).to.equal('forbidden');
  });

  it('lets in whom a policy for anyone lets in, known or not', async () => {
    expect(await ask(undefined, '/Client', { box: 'open' })).to.equal('any');
  });

  it('R-59 lets nobody in, and reads no body, in a box that is disabled', async () => {
    expect(await ask(undefined, '/Client', { box: 'off', body: {} })).to.equal('unauthenticated');
    expect({ read, decisions }).to.deep.equal({ read: 0, decisions: 1 });
  });

  it('R-59 shows no policies to anyone after the box was disabled', async () => {
    const policies = { path: '/AccessPolicy', kind: 'AccessPolicy' } as const;
    const shows = (box: string): Promise<boolean | undefined> =>
      world.services.states.decide(box, (state) =>
        mayList({ ...requestFor(box, '/AccessPolicy/$explain'), ...policies }, undefined, state, world.services),
      );
    expect([await shows('open'), await shows('off')]).to.deep.equal([true, false]);
  });

  for (const path of ['/Client/hidden', '/Client/%68idden', '/Client/%68%69%64%64%65%6e', '/Client/hidden?x=1']) {
    it(`knows ${path} for what it is, however it is written`, async () => {
      expect(await ask('careful', path)).to.equal('forbidden');
      expect(await ask('careful', '/Client/another')).to.equal('all-but-one');
    });
  }

  it('knows no box that is not there', async () => {
    expect(await ask(undefined, '/Client', { box: 'none' })).to.equal('not-found');
  });
});

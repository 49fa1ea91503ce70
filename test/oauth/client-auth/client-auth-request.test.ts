import { expect } from 'chai';
import fc from 'fast-check';
import { parseBasic, readClientCredentials } from '../../../api/oauth/client-auth/client-auth-request.ts';
import { errorOf, refusalOf } from '../refusal.ts';
import { basic } from '../requests.ts';

function credentials(authorization: string | undefined, fields: Readonly<Record<string, string>> = {}) {
  const { id, ids, secrets, method } = readClientCredentials(authorization, new Map(Object.entries(fields)));
  return { id, ids, secrets: secrets.map((secret) => secret.reveal()), method };
}

/** RFC 6749 appendix B: what an exact client puts into Basic. */
function encoded(text: string): string {
  return encodeURIComponent(text).replaceAll('%20', '+');
}

const ids = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._~-]{0,20}$/);
const secrets = fc.stringMatching(/^[\x20-\x7e]{1,40}$/);

describe('the credentials of a client', () => {
  it('in Basic are read as they were sent, whatever the secret holds', () => {
    fc.assert(
      fc.property(ids, secrets, (id, secret) => {
        const read = credentials(basic(id, secret));
        expect(read).to.deep.include({ id, method: 'basic' });
        expect(read.secrets).to.include(secret);
      }),
    );
  });

  it('in Basic are read percent-decoded too, once (RFC 6749 section 2.3.1)', () => {
    fc.assert(
      fc.property(ids, secrets, (id, secret) => {
        const read = credentials(basic(encoded(id), encoded(secret)));
        expect(read.ids).to.include(id);
        expect(read.secrets).to.include(secret);
      }),
    );
  });

  it('in Basic have two readings at most: a flood of them costs no more', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.string(), (id, secret) => {
        fc.pre(!id.includes(':') && !`${id}${secret}`.includes('\0'));
        const read = credentials(basic(id, secret));
        expect(Math.max(read.ids.length, read.secrets.length)).to.be.at.most(2);
      }),
    );
  });

  it('in Basic never crash on any header', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.uint8Array(), (text, bytes) => {
        for (const header of [text, `Basic ${text}`, `Basic ${Buffer.from(bytes).toString('base64')}`]) {
          expect(refusalOf(() => parseBasic(header)) ?? 'invalid_client').to.equal('invalid_client');
        }
      }),
    );
  });

  const broken: Record<string, string> = {
    'bad base64': 'Basic ###',
    'characters that are not base64': 'Basic YTpi!Yg==',
    base64url: `Basic ${Buffer.from('a:\u00ff\u00fe?>').toString('base64url')}-_`,
    'base64 with bits that count for nothing': 'Basic YTpiYz',
    'padding in the middle': 'Basic YQ==OmI=',
    'no colon': `Basic ${btoa('justanid')}`,
    'an empty id': `Basic ${btoa(':secret')}`,
    nothing: 'Basic ',
    'no credentials at all': 'Basic',
    'bytes that are no UTF-8': `Basic ${Buffer.from([0x61, 0x3a, 0xff]).toString('base64')}`,
    NUL: `Basic ${btoa('a:b\0c')}`,
    'another scheme': 'Bearer abc',
    Digest: 'Digest username="a"',
    'an empty header': '',
  };
  for (const [what, header] of Object.entries(broken)) {
    it(`T-04 are refused with ${what}`, () => {
      expect(refusalOf(() => credentials(header))).to.equal('invalid_client');
    });
  }

  const good: Record<string, { header: string; id: string; secret: string }> = {
    'colons in the secret': { header: basic('a', 'b:c::d'), id: 'a', secret: 'b:c::d' },
    'a colon in the secret, encoded': { header: basic('a', 'b%3Ac'), id: 'a', secret: 'b:c' },
    'a percent sign that is none': { header: basic('a', '100%'), id: 'a', secret: '100%' },
    'an escape meant literally': { header: basic('a', '%41'), id: 'a', secret: '%41' },
    'an escape meant as one': { header: basic('a', '%41'), id: 'a', secret: 'A' },
    'a plus sign meant literally': { header: basic('a', 'x+y'), id: 'a', secret: 'x+y' },
    'a plus sign meant as a blank': { header: basic('a', 'x+y'), id: 'a', secret: 'x y' },
    'an id with an escape': { header: basic('my%2Dapp', 's'), id: 'my-app', secret: 's' },
    'the scheme in lower case': { header: `basic ${btoa('a:b')}`, id: 'a', secret: 'b' },
    'base64 without padding': { header: `Basic ${btoa('a:b').replace(/=+$/, '')}`, id: 'a', secret: 'b' },
    'blanks at the ends of the secret': { header: basic('a', ' b '), id: 'a', secret: ' b ' },
  };
  for (const [what, { header, id, secret }] of Object.entries(good)) {
    it(`T-04 are read with ${what}`, () => {
      const read = credentials(header);
      expect(read.ids).to.include(id);
      expect(read.secrets).to.include(secret);
    });
  }

  it('T-04 are decoded once: an escape that was encoded twice stays an escape', () => {
    expect(credentials(basic('a%253Ab', 's')).ids).to.deep.equal(['a%253Ab', 'a%3Ab']);
  });

  it('in Basic with an empty secret name a client only: empty never equals empty', () => {
    expect(credentials(basic('a', ''))).to.deep.equal({ id: 'a', ids: ['a'], secrets: [], method: 'none' });
    expect(credentials(basic('my%2Dapp', ''), { client_id: 'my-app' }).ids).to.deep.equal(['my%2Dapp', 'my-app']);
    expect(readClientCredentials(basic('a', ''), new Map()).isEmptyBasic).to.equal(true);
    expect(readClientCredentials(undefined, new Map([['client_id', 'a']])).isEmptyBasic).to.equal(undefined);
  });

  it('in the body are taken as they are', () => {
    const body = { client_id: 'a', client_secret: 'b%41+' };
    expect(credentials(undefined, body)).to.deep.equal({ id: 'a', ids: ['a'], secrets: ['b%41+'], method: 'body' });
  });

  it('without a secret name a client only', () => {
    expect(credentials(undefined, { client_id: 'a' })).to.deep.include({ id: 'a', secrets: [], method: 'none' });
  });

  it('X-09 are refused when header and body both hold a secret (RFC 6749 section 2.3)', () => {
    const both = () => credentials(basic('a', 'b'), { client_id: 'a', client_secret: 'b' });
    expect(refusalOf(both)).to.equal('invalid_request');
  });

  it('may name the client of the header in the body too, and no other', () => {
    expect(credentials(basic('a', 'b'), { client_id: 'a' }).method).to.equal('basic');
    expect(refusalOf(() => credentials(basic('a', 'b'), { client_id: 'c' }))).to.equal('invalid_request');
  });

  it('are asked for when nobody is named', () => {
    expect(refusalOf(() => credentials(undefined))).to.equal('invalid_client');
    expect(refusalOf(() => credentials(undefined, { client_secret: 'b' }))).to.equal('invalid_client');
  });

  /** Not signed by anybody: that is validated later. */
  const assertionOf = (claims: object) =>
    `${[{ alg: 'ES256' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.x`;
  const type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
  const proofOf = (claims: object) => ({ client_assertion_type: type, client_assertion: assertionOf(claims) });
  const pod = proofOf({ sub: 'system:serviceaccount:shop:app' });

  it('in an assertion name the client by themselves, and a ServiceAccount does not (RFC 7521 section 4.2)', () => {
    for (const rest of [{}, { client_id: 'a' }]) {
      expect(credentials(undefined, { ...rest, ...proofOf({ sub: 'a' }) })).to.deep.include({
        ...{ id: 'a', secrets: [], method: 'assertion' },
      });
    }
    expect(credentials(undefined, { client_id: 'b', ...pod })).to.deep.include({ id: 'b', method: 'assertion' });
    expect(refusalOf(() => credentials(undefined, pod))).to.equal('invalid_client');
    expect(refusalOf(() => credentials(undefined, { client_id: 'b', ...proofOf({ sub: 'a' }) }))).to.equal(
      'invalid_client',
    );
  });

  for (const proof of [proofOf({ sub: 'a' }), pod]) {
    it(`X-09 are refused with an assertion and a secret: ${proof === pod ? 'that of a pod' : 'its own'}`, () => {
      const secret = { client_id: 'a', client_secret: 'b' };
      expect(refusalOf(() => credentials(undefined, { ...secret, ...proof }))).to.equal('invalid_request');
      expect(refusalOf(() => credentials(basic('a', 'b'), { ...proof }))).to.equal('invalid_request');
    });
  }

  it('are not read from an assertion by halves', () => {
    for (const name of ['client_assertion', 'client_assertion_type'] as const) {
      const half = { client_id: 'a', [name]: proofOf({ sub: 'a' })[name] };
      expect(errorOf(() => credentials(undefined, half))).to.deep.include({
        code: 'invalid_request',
        message: 'client_assertion and client_assertion_type belong together',
      });
    }
  });

  it('never crash on any assertion', () => {
    const part = fc.oneof(
      fc.string(),
      fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value)).toString('base64url')),
      fc.record({ alg: fc.constant('ES256'), sub: fc.jsonValue() }).map((value) => {
        return Buffer.from(JSON.stringify(value)).toString('base64url');
      }),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 5 }), fc.option(fc.string()), (parts, id) => {
        const fields = { client_assertion_type: type, client_assertion: parts.join('.') };
        const sent = id === null ? fields : { ...fields, client_id: id };
        expect(refusalOf(() => credentials(undefined, sent)) ?? 'invalid_client').to.equal('invalid_client');
      }),
    );
  });
});

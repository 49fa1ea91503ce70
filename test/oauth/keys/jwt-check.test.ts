import { expect } from 'chai';
import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { CompactEncrypt, SignJWT } from 'jose';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { uuidText } from '../../../program/text.ts';
import { bucketOf } from '../../../api/db/session/bucket.ts';
import { readJwtAccessToken } from '../../../api/oauth/keys/verified-jwts.ts';
import { createKeyRing } from '../../../api/box/key-ring.ts';
import { keyRow, sampleSealing } from '../../box/sample-changes.ts';
import { portOf } from '../../../program/environment.ts';
import { base64url, claims, header, id, issuer, now, ours, ring, seconds, signed, signedText } from './sample-jwts.ts';

const strangers = generateKeyPairSync('ec', { namedCurve: 'P-256' });
function hmac(key: string | Buffer): string {
  const text = `${base64url(JSON.stringify({ ...header, alg: 'HS256' }))}.${base64url(JSON.stringify(claims))}`;
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`;
}

function read(text: string, at = now) {
  return readJwtAccessToken(text, ring, issuer, at);
}

describe('the check of a JWT', () => {
  it('gives the session and the bucket of a token of ours, which another library signed', async () => {
    const token = await new SignJWT(claims).setProtectedHeader(header).sign(ours);
    const times = { issuedAt: seconds, expiresAt: seconds + 300 };
    const publicKey = ring.all[0]?.publicKey;
    const found = { id, bucket: bucketOf(seconds, seconds + 300), kid: 'our-key', publicKey, ...times };
    expect(await read(token)).to.deep.equal(found);
    expect(await read(signed())).to.deep.equal(found);
  });

  it('takes a token until the very end, and up to a minute before its own time', async () => {
    expect(await read(signed(), now + 299_999)).not.to.equal(undefined);
    expect(await read(signed(), now + 300_000)).to.equal(undefined);
    expect(await read(signed(), now - 60_000)).not.to.equal(undefined);
    expect(await read(signed(), now - 61_000)).to.equal(undefined);
  });

  describe('T-30 refuses', () => {
    let listener: Server;
    let port: number;
    let connections = 0;

    before(async () => {
      listener = createServer((_request, response) => void response.end('{}'));
      listener.on('connection', () => (connections += 1));
      await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
      port = portOf(listener);
    });
    after(() => {
      listener.close();
    });

    const publicPem = ring.all[0]?.publicKey.export({ format: 'pem', type: 'spki' }) ?? '';
    const tokens: Record<string, () => string | Promise<string>> = {
      'alg none without a signature': () => unsigned('none'),
      'alg None without a signature': () => unsigned('None'),
      'alg none with our signature': () => signed({ header: { alg: 'none' } }),
      'HS256 keyed with our public key as PEM': () => hmac(publicPem),
      'HS256 keyed with our public key as a JWK': () => hmac(JSON.stringify(ring.all[0]?.publicJwk)),
      'HS256 keyed with nothing': () => hmac(''),
      'another algorithm of the same family': () => signed({ header: { alg: 'ES384' } }),
      'no algorithm': () => signed({ header: { alg: undefined } }),
      "a stranger's key": () => signed({ key: strangers.privateKey }),
      "a stranger's key, embedded": () =>
        signed({ header: { jwk: strangers.publicKey.export({ format: 'jwk' }) }, key: strangers.privateKey }),
      "a stranger's key at an address": () =>
        signed({ header: { jku: `http://127.0.0.1:${String(port)}/jwks.json` }, key: strangers.privateKey }),
      "a stranger's certificate at an address": () =>
        signed({ header: { x5u: `http://127.0.0.1:${String(port)}/cert.pem` }, key: strangers.privateKey }),
      'no kid': () => signed({ header: { kid: undefined } }),
      'a kid that is a path': () => signed({ header: { kid: '../../our-key' } }),
      'a kid that is SQL': () => signed({ header: { kid: "our-key' OR '1'='1" } }),
      'a kid that is a number': () => signed({ header: { kid: 0 } }),
      'a kid that is a list': () => signed({ header: { kid: ['our-key'] } }),
      'a kid that every object has': () => signed({ header: { kid: '__proto__' } }),
      'an unknown critical extension': () => signed({ header: { crit: ['magic'], magic: true } }),
      'a payload that is not encoded': () => signed({ header: { crit: ['b64'], b64: false } }),
      'typ JWT': () => signed({ header: { typ: 'JWT' } }),
      'no typ, as an id_token has none': () => signed({ header: { typ: undefined } }),
      'typ logout+jwt': () => signed({ header: { typ: 'logout+jwt' } }),
      'a JWE': () =>
        new CompactEncrypt(Buffer.from(JSON.stringify(claims)))
          .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A128GCM', kid: 'our-key' })
          .encrypt(ring.all[0]?.publicKey ?? strangers.publicKey),
      'a header member twice, the last one ours': () =>
        signedText(
          `{"alg":"none","alg":"ES256","typ":"at+jwt","kid":"our-key"}`,
          JSON.stringify(claims),
          strangers.privateKey,
        ),
      'a header that is a list': () => signedText('[]', JSON.stringify(claims)),
      'a header that is null': () => signedText('null', JSON.stringify(claims)),
      'a payload that is a string': () => signedText(JSON.stringify(header), '"x"'),
      'a payload that is a list': () => signedText(JSON.stringify(header), '[]'),
      'a payload that is no JSON': () => signedText(JSON.stringify(header), '{'),
      'a payload changed afterwards': () => changedPayload(signed()),
      'no signature': () => signed().replace(/[^.]+$/, ''),
      'a signature in DER': () => derSigned(),
      'a signature cut short': () => signed().slice(0, -4),
      'a signature of zeros': () => signed().replace(/[^.]+$/, 'A'.repeat(86)),
      'two parts': () => signed().split('.').slice(0, 2).join('.'),
      'four parts': () => `${signed()}.x`,
      'a blank before it': () => ` ${signed()}`,
      'a line end behind it': () => `${signed()}\n`,
      'blanks within it': () => signed().replace('.', ' .'),
      padding: () => signed().replace('.', '=.'),
      '3 MB': () => signed({ claims: { padding: 'x'.repeat(3 * 2 ** 20) } }),
      'more than a header holds': () => signed({ claims: { padding: 'x'.repeat(13_000) } }),
      'three megabytes of dots': () => '.'.repeat(3 * 2 ** 20),
    };
    for (const [what, token] of Object.entries(tokens)) {
      it(what, async () => {
        expect(await read(await token())).to.equal(undefined);
      });
    }

    it('all of it without asking anybody', () => {
      expect(connections).to.equal(0);
    });
  });

  describe('T-31 refuses a truly signed token', () => {
    const rows: Record<string, object> = {
      'without exp': { exp: undefined },
      'without iat': { iat: undefined },
      'without jti': { jti: undefined },
      'without sub': { sub: undefined },
      'without client_id': { client_id: undefined },
      'without aud': { aud: undefined },
      'without iss': { iss: undefined },
      'of another box': { iss: 'https://boxgate.test/boxes/other' },
      'of an issuer with a slash more': { iss: `${issuer}/` },
      'that is over': { exp: seconds - 1 },
      'whose exp is a text': { exp: '9999999999' },
      'whose time comes in an hour': { nbf: seconds + 3600 },
      'from the future': { iat: seconds + 3600, exp: seconds + 7200 },
      'whose jti is no UUID': { jti: 'x' },
      'whose jti is a UUID of another version': { jti: '0190f3a0-0000-4000-8000-000000000000' },
      'whose jti is SQL': { jti: `${uuidText(id)}'--` },
    };
    for (const [what, over] of Object.entries(rows)) {
      it(what, async () => {
        expect(await read(signed({ claims: over }))).to.equal(undefined);
      });
    }

    it('whose key is no longer published', async () => {
      const later = createKeyRing([keyRow('the-next-key')], sampleSealing, 'default');
      expect(await readJwtAccessToken(signed(), later, issuer, now)).to.equal(undefined);
    });
  });
});

function unsigned(alg: string): string {
  return `${base64url(JSON.stringify({ ...header, alg }))}.${base64url(JSON.stringify(claims))}.`;
}

function changedPayload(token: string): string {
  const [head = '', , signature = ''] = token.split('.');
  return `${head}.${base64url(JSON.stringify({ ...claims, sub: 'admin' }))}.${signature}`;
}

function derSigned(): string {
  const text = `${base64url(JSON.stringify(header))}.${base64url(JSON.stringify(claims))}`;
  return `${text}.${sign('sha256', Buffer.from(text), ours).toString('base64url')}`;
}

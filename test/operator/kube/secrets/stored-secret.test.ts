import { expect } from 'chai';
import { inspect } from 'node:util';
import { PASSWORD_BYTES } from '../../../../crds/secret-text.ts';
import {
  brief,
  secretNovelty,
  storedSecret,
  type StoredSecret,
} from '../../../../operator/kube/secrets/stored-secret.ts';

const metadata = { namespace: 'shop', name: 'app', uid: 'u', resourceVersion: '7' };
const base64 = (text: string): string => Buffer.from(text).toString('base64');

function stored(body: object): StoredSecret {
  return storedSecret({ metadata, type: 'Opaque', ...body }) ?? expect.fail('is no Secret');
}

describe('a stored Secret', () => {
  const secret = stored({ data: { password: base64('hunter2–東'), long: 'x'.repeat(9_000) } });

  it('shows nothing of its content when it is printed', () => {
    const printed = `${inspect(secret, { depth: 9, showHidden: true })}${JSON.stringify(secret)}`;
    expect(printed).to.include('shop').and.not.include('password');
    expect(Object.values(secret)).to.deep.equal(['shop', 'app', 'u', '7', '7']);
  });

  it('has its values as they were, long ones by their beginning and their digest', () => {
    expect(secret.content.data).to.deep.equal({ password: base64('hunter2–東'), long: brief('x'.repeat(9_000)) });
    expect(secret.declared().entries.get('password')?.reveal()).to.equal('hunter2–東');
    expect(secret.declared().entries.get('constructor')).to.equal(undefined);
  });

  it('has the longest password whole, and of a longer value too much for a password', () => {
    const textOf = (bytes: number) =>
      stored({ data: { text: base64('x'.repeat(bytes)) } })
        .declared()
        .entries.get('text');
    expect(textOf(PASSWORD_BYTES)?.reveal()).to.equal('x'.repeat(PASSWORD_BYTES));
    for (const bytes of [PASSWORD_BYTES + 1, PASSWORD_BYTES + 5, 100_000]) {
      expect(Buffer.byteLength(textOf(bytes)?.reveal() ?? '')).to.be.above(PASSWORD_BYTES);
    }
  });

  it('says nothing new in another order, and keeps the values that clients refer to', () => {
    const one = stored({ data: { a: base64('1'), b: base64('2') } });
    const other = stored({ data: { b: base64('2'), a: base64('1') }, metadata: { ...metadata, resourceVersion: '8' } });
    expect(secretNovelty.isSame(one, other)).to.equal(true);
    const value = one.declared().entries.get('a');
    const carried = secretNovelty.carry(one, other);
    expect(carried.declared().entries.get('a')).to.equal(value);
    expect([carried.resourceVersion, carried.version]).to.deep.equal(['8', '7']);
    expect(secretNovelty.isSame(one, stored({ data: { a: base64('1'), b: base64('3') } }))).to.equal(false);
  });
});

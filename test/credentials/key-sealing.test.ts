import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { createKeySealing } from '../../api/credentials/key-sealing.ts';

describe('the sealing of private keys', () => {
  const plain = Buffer.from('the private part of a key');
  const [old, young] = [randomBytes(32), randomBytes(32)];

  it('gives back what it sealed, for what it belongs to', () => {
    const sealing = createKeySealing([young]);
    expect(sealing.open(sealing.seal(plain, 'box/kid'), 'box/kid').equals(plain)).to.equal(true);
  });

  it('shows nothing of it and never seals twice alike', () => {
    const sealing = createKeySealing([young]);
    const sealed = sealing.seal(plain, 'box/kid');
    expect(sealed.includes(plain.subarray(0, 8))).to.equal(false);
    expect(sealed.equals(sealing.seal(plain, 'box/kid'))).to.equal(false);
  });

  it('opens with an older key what was sealed before the change, and seals with the new one', () => {
    const sealed = createKeySealing([old]).seal(plain, 'box/kid');
    const changed = createKeySealing([young, old]);
    expect(changed.open(sealed, 'box/kid').equals(plain)).to.equal(true);
    expect(createKeySealing([young]).open(changed.seal(plain, 'x'), 'x').equals(plain)).to.equal(true);
  });

  it('says which setting is wrong when the key is another one, and shows neither key nor content', () => {
    const sealed = createKeySealing([old]).seal(plain, 'box/kid');
    expect(() => createKeySealing([young]).open(sealed, 'box/kid'))
      .to.throw(Error, /BOXGATE_ENCRYPTION_KEY is not the key it was sealed with/)
      .that.satisfies(({ message, cause }: Error) => {
        const shown = `${message} ${String(cause)}`;
        return [old, young, plain].every((secret) => !shown.includes(secret.toString('base64')));
      });
  });

  it('does not open a key in another place: one copied over to another box signs nothing there', () => {
    const sealing = createKeySealing([young]);
    expect(() => sealing.open(sealing.seal(plain, 'box/kid'), 'other/kid')).to.throw(Error);
  });

  it('does not open what changed in any byte, or was cut short', () => {
    const sealing = createKeySealing([young]);
    const sealed = sealing.seal(plain, 'box/kid');
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8(changed.readUInt8(at) ^ 0x80, at);
      expect(() => sealing.open(changed, 'box/kid')).to.throw(Error);
      expect(() => sealing.open(sealed.subarray(0, at), 'box/kid')).to.throw(Error);
    }
  });
});

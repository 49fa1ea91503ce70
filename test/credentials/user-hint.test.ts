import { expect } from 'chai';
import { createUserHints } from '../../api/credentials/user-hint.ts';

const [old, young] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const about = { box: 'shop', client: 'app', user: 17 };

describe('a user hint', () => {
  const hints = createUserHints([old]);
  const text = hints.make(about);

  it('names its user', () => {
    expect(hints.find(text, about)).to.equal(17);
    expect(encodeURIComponent(text)).to.equal(text);
  });

  for (const [what, other] of Object.entries({
    'another client': { ...about, client: 'other' },
    'another box': { ...about, box: 'shop2' },
  })) {
    it(`names nobody for ${what}`, () => {
      expect(hints.find(text, other)).to.equal(undefined);
    });
  }

  const [user = '', mac = ''] = text.split('.');
  for (const forged of [
    '',
    '.',
    user,
    `${user}.`,
    `18.${mac}`,
    `017.${mac}`,
    `${text}x`,
    `${text}.${mac}`,
    `-17.${mac}`,
  ]) {
    it(`names nobody when it is ${JSON.stringify(forged)}`, () => {
      expect(hints.find(forged, about)).to.equal(undefined);
    });
  }

  it('stays valid while the key of the installation is rotated, and ends with it', () => {
    expect(createUserHints([young, old]).find(text, about)).to.equal(17);
    expect(createUserHints([young]).find(text, about)).to.equal(undefined);
  });
});

import { expect } from 'chai';
import { plainText } from '../../program/text.ts';

const cases: [title: string, text: string, plain: string][] = [
  ['leaves text as it is', 'examples/größe.yaml: 1 of 2', 'examples/größe.yaml: 1 of 2'],
  ['shows escape sequences instead of sending them', 'a\u001b[2Jb', 'a\\x1b[2Jb'],
  ['shows line ends', 'a\nb\r', 'a\\x0ab\\x0d'],
  ['shows what turns text around', 'a\u202eb', 'a\\u202eb'],
];

describe('plainText', () => {
  for (const [title, text, plain] of cases) {
    it(title, () => {
      expect(plainText(text)).to.equal(plain);
    });
  }
});

import { expect } from 'chai';
import { toCompactJson, fromCompactJson } from '../../../../operator/kube/secrets/compact-json.ts';

describe('packed', () => {
  const cases: readonly (readonly [title: string, value: unknown])[] = [
    ['an empty object', {}],
    ['a text beyond Latin-1', { message: 'not there: Client/café – 東京 🔑' }],
    ['half of a pair of surrogates', { message: '\ud83d' }],
    ['lists, numbers, nothing', [1, -0.5, true, null, ['', {}]]],
    ['a member that is called __proto__', JSON.parse('{"__proto__":{"a":1}}')],
    ['every control character', { text: String.fromCharCode(...Array.from({ length: 32 }, (_, nth) => nth)) }],
    ['what looks like a phrase, and is one', { message: '","message":"', uid: '","uid":"' }],
  ];
  for (const [title, value] of cases) {
    it(`comes back as it was: ${title}`, () => {
      expect(JSON.stringify(fromCompactJson(toCompactJson(value)))).to.equal(JSON.stringify(value));
    });
  }

  it('is the same text for equal values, and another one for others', () => {
    const status = (policies: number) => ({ conditions: [{ type: 'Ready', status: 'True' }], policies });
    expect(toCompactJson(status(1))).to.equal(toCompactJson(status(1)));
    expect(toCompactJson(status(1))).to.not.equal(toCompactJson(status(2)));
  });

  it('takes of what is usual a few characters', () => {
    const condition = { lastTransitionTime: '2026-05-06T07:08:09Z', message: '', observedGeneration: 1 };
    const usual = { conditions: [{ ...condition, reason: 'Ready', status: 'True', type: 'Ready' }] };
    expect(toCompactJson(usual)).to.match(/^.2026-05-06T07:08:09Z.."\}\]\}$/s);
  });
});

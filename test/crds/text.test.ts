import { expect } from 'chai';
import fc from 'fast-check';
import { faultSentence } from '../../crds/fault.ts';
import { textFaults } from '../../crds/text.ts';
import { checkManifest } from '../../crds/manifest.ts';
import { checkResource } from '../../crds/validate.ts';
import { manifest } from './objects/row.ts';

function nested(levels: number, open: string, close: string): unknown {
  return JSON.parse(`${open.repeat(levels)}null${close.repeat(levels)}`);
}

function refuses(details: unknown): string[] {
  const checked = checkResource('Client', { id: 'app', grant_types: ['client_credentials'], details });
  return checked.ok ? [] : checked.faults.map(faultSentence);
}

describe('textFaults', () => {
  it('X-03 stops at a depth of a million without recursing', () => {
    const message = 'must not nest deeper than 64 levels';
    for (const deep of [nested(1_000_000, '[', ']'), nested(1_000_000, '{"a":', '}')]) {
      expect(textFaults(deep)).to.deep.equal([{ path: '', message }]);
      for (const kind of ['Client', 'AccessPolicy', 'Box', 'Group'] as const) {
        expect(checkResource(kind, deep)).to.deep.equal({ ok: false, faults: [{ path: '', message }] });
        expect(checkResource(kind, { id: 'app', details: deep }).ok).to.be.false;
        expect(checkManifest({ ...manifest(kind, {}), spec: deep }).ok).to.be.false;
      }
      expect(refuses(deep)).to.deep.equal([message]);
      expect(checkManifest(manifest('Client', { details: deep })).ok).to.be.false;
      expect(checkManifest(manifest('AccessPolicy', { engine: 'matcho', matcho: deep })).ok).to.be.false;
    }
  });

  it('lets 63 levels of free data pass', () => {
    expect(refuses(nested(62, '{"a":', '}'))).to.deep.equal([]);
  });

  for (const key of ['__proto__', 'constructor', 'prototype']) {
    it(`X-07 refuses ${key} as a name at any depth and pollutes nothing`, () => {
      const hostile: unknown = JSON.parse(`{"a":[{"b":{"${key}":{"polluted":true}}}]}`);
      expect(refuses(hostile)).to.deep.equal([`details.a[0].b.${key} must not be used as a name`]);
      const whole: unknown = JSON.parse(`{"id":"app","grant_types":["client_credentials"],"${key}":{"polluted":true}}`);
      const checked = checkResource('Client', whole);
      expect(checked.ok ? [] : checked.faults.map(faultSentence)).to.deep.equal([`${key} must not be used as a name`]);
      expect(checkManifest(manifest('Client', { details: hostile })).ok).to.be.false;
      expect(Reflect.get({}, 'polluted')).to.equal(undefined);
    });
  }

  it('X-07 takes toString for an unknown field, and for plain data where data is free', () => {
    expect(refuses({ toString: 'x', hasOwnProperty: 1 })).to.deep.equal([]);
    const checked = checkResource('Client', {
      id: 'app',
      grant_types: ['client_credentials'],
      toString: 'x',
      valueOf: 1,
    });
    expect(checked.ok ? [] : checked.faults.map(faultSentence)).to.deep.equal([
      'toString is not a known field',
      'valueOf is not a known field',
    ]);
  });

  const nul = 'must not contain the character NUL';
  const half = 'must not contain half of a surrogate pair';
  const texts: [string, unknown, string[]][] = [
    ['a NUL', { note: 'a\0b' }, [`details.note ${nul}`]],
    ['a NUL in a name', { 'a\0': 1 }, [`details["a\\u0000"] ${nul}`]],
    ['a high surrogate alone', { list: ['ok', '\ud83d'] }, [`details.list[1] ${half}`]],
    ['a low surrogate alone', { note: '\ude00!' }, [`details.note ${half}`]],
    ['surrogates the wrong way round', { note: '\ude00\ud83d' }, [`details.note ${half}`]],
    ['half a surrogate in a name', { '\ud83d': 1 }, [`details["\\ud83d"] ${half}`]],
    ['a whole pair', { note: '😀', '😀': '😀' }, []],
    ['two faults', { one: '\0', two: ['\ud800'] }, [`details.two[0] ${half}`, `details.one ${nul}`]],
  ];
  for (const [title, details, expected] of texts) {
    it(`X-08 free data with ${title}`, () => {
      expect(refuses(details)).to.deep.equal(expected);
    });
  }

  it('X-08 names the field of a resource, whatever its pattern', () => {
    for (const text of ['\0', 'a\ud800']) {
      for (const field of ['id', 'secret', 'name', 'description', 'jwks_uri', 'revoke_sessions_before']) {
        const checked = checkResource('Client', { id: 'app', grant_types: ['client_credentials'], [field]: text });
        expect(checked.ok ? [] : checked.faults.map(({ path }) => path), field).to.deep.equal([field]);
      }
    }
  });

  it('refuses an object or a list of more than 20,000 members', () => {
    const wide = Object.fromEntries(Array.from({ length: 20_001 }, (_, i) => [`m${i}`, 0]));
    expect(refuses({ a: { b: wide } })).to.deep.equal(['details.a.b must have at most 20000 entries']);
  });

  it('finds nothing in JSON that Postgres can hold, and something in what it cannot', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3, depthSize: 'small', stringUnit: 'binary' }), (value) => {
        const text = JSON.stringify(value);
        const bad =
          text.includes('\\u0000') || /\\ud[89a-f]/.test(text) || /"(__proto__|constructor|prototype)":/.test(text);
        expect(textFaults(value).length > 0).to.equal(bad);
      }),
      { numRuns: 40 },
    );
  });
});

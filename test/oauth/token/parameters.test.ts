import { expect } from 'chai';
import fc from 'fast-check';
import { parseParameters } from '../../../api/oauth/token/parameters.ts';
import { errorOf, refusalOf } from '../refusal.ts';

const form = 'application/x-www-form-urlencoded';
const json = 'application/json';

function read(type: string, body: string | Buffer): Record<string, string> {
  return Object.fromEntries(parseParameters(type, Buffer.from(body)));
}

/**
 * Text that may stand in a parameter: no NUL, no half of a surrogate pair, and not empty (which counts as left out).
 */
const values = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !text.includes('\0'));
const parameters = fc.dictionary(values, values, { noNullPrototype: true });

describe('the parameters of a request', () => {
  it('are what a form holds, however it was encoded', () => {
    fc.assert(
      fc.property(parameters, (fields) => {
        expect(read(form, new URLSearchParams(fields).toString())).to.deep.equal(fields);
        const percent = Object.entries(fields).map((pair) => pair.map(encodeURIComponent).join('='));
        expect(read(form, percent.join('&'))).to.deep.equal(fields);
      }),
    );
  });

  it('are the strings of a JSON object', () => {
    fc.assert(
      fc.property(parameters, (fields) => {
        expect(read(json, JSON.stringify(fields))).to.deep.equal(fields);
      }),
    );
  });

  it('are refused or read, but never crash on any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.constantFrom(form, json), (bytes, type) => {
        const error = errorOf(() => parseParameters(type, Buffer.from(bytes)));
        expect(error?.status ?? 400).to.equal(400);
      }),
    );
  });

  const forms: Record<string, { body: string | Buffer; read: Record<string, string> }> = {
    'an empty body': { body: '', read: {} },
    'ampersands only': { body: '&&&', read: {} },
    'a name without a value': { body: 'a&b=1', read: { b: '1' } },
    'an empty value, which counts as left out (RFC 6749 section 3.2)': { body: 'a=&b=1', read: { b: '1' } },
    'a plus sign, which is a blank': { body: 'a=1+2', read: { a: '1 2' } },
    'an encoded plus sign': { body: 'a=1%2B2', read: { a: '1+2' } },
    'equals signs in a value': { body: 'a=b=c==', read: { a: 'b=c==' } },
    'an encoded name': { body: '%61=1', read: { a: '1' } },
    'UTF-8 as it is': { body: 'a=pässwörd', read: { a: 'pässwörd' } },
    'names of every object': {
      body: '__proto__=1&constructor=2',
      read: Object.fromEntries([
        ['__proto__', '1'],
        ['constructor', '2'],
      ]),
    },
  };
  for (const [what, row] of Object.entries(forms)) {
    it(`are read from a form with ${what}`, () => {
      expect(Object.entries(read(form, row.body))).to.deep.equal(Object.entries(row.read));
    });
  }

  const badForms: Record<string, string | Buffer> = {
    'a name twice': 'a=1&a=2',
    'a name twice, once encoded': 'a=1&%61=2',
    'a name twice, once empty': 'a=&a=2',
    'a broken escape': 'a=%zz',
    'half an escape': 'a=%4',
    'a byte that is no UTF-8': Buffer.from([0x61, 0x3d, 0xff]),
    'an overlong slash': 'a=%c0%af',
    'an encoded surrogate': 'a=%ed%a0%80',
    NUL: 'a=%00',
    'NUL in a name': 'a%00b=1',
    'a raw NUL': 'a=\0',
  };
  for (const [what, body] of Object.entries(badForms)) {
    it(`X-08 are refused in a form with ${what}`, () => {
      expect(refusalOf(() => read(form, body))).to.equal('invalid_request');
    });
  }

  const jsons: Record<string, { body: string; read: Record<string, string> }> = {
    'an empty string, which counts as left out': { body: '{"a":"","b":"1"}', read: { b: '1' } },
    'members that nobody knows, of any type': {
      body: '{"a":1,"b":["x"],"c":{"d":null},"scope":"s"}',
      read: { scope: 's' },
    },
    'a name that is in a value too': {
      body: '{"client_id":"client_id","scope":"\\"scope\\":"}',
      read: { client_id: 'client_id', scope: '"scope":' },
    },
    'a name that stands deeper down too': {
      body: '{"scope":"s","more":{"scope":"t","x":[{"scope":"u"}]}}',
      read: { scope: 's' },
    },
    // E-23.
    'a byte order mark': { body: '\ufeff{"a":"1"}', read: { a: '1' } },
    'blanks everywhere': { body: ' { "a" : "1" , "b" : "2" } ', read: { a: '1', b: '2' } },
    escapes: { body: '{"\\u0061":"\\u00e4\\n"}', read: { a: 'ä\n' } },
  };
  for (const [what, row] of Object.entries(jsons)) {
    it(`are read from JSON with ${what}`, () => {
      expect(read(json, row.body)).to.deep.equal(row.read);
    });
  }

  const badJsons: Record<string, string | Buffer> = {
    nothing: '',
    'broken JSON': '{"a":',
    'a trailing comma': '{"a":"1",}',
    'an array': '["a"]',
    'a string': '"a"',
    'a number': '1',
    null: 'null',
    'text behind the object': '{} {}',
    'bytes that are no UTF-8': Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x22, 0x22, 0x7d]),
    NUL: '{"a":"\\u0000"}',
    'half of a surrogate pair': '{"a":"\\ud800"}',
    'a number for a string': '{"client_id":1}',
    'null for a string': '{"audience":null}',
    'an array for a string': '{"audience":["a"]}',
    'an object for a string': '{"client_secret":{"$ne":null}}',
    'true for a string': '{"client_secret":true}',
    'a depth without end': '['.repeat(8000),
    'depth in a known member': `{"scope":${'['.repeat(4000)}${']'.repeat(4000)}}`,
  };
  for (const [what, body] of Object.entries(badJsons)) {
    it(`X-03 are refused in JSON with ${what}`, () => {
      expect(refusalOf(() => read(json, body))).to.equal('invalid_request');
    });
  }

  const repeated = {
    'in a row': '{"grant_type":"a","grant_type":"b"}',
    'far apart': '{"grant_type":"a","x":{"y":"z"},"grant_type":"a"}',
    'once with an escape': '{"grant_type":"a","grant\\u005ftype":"b"}',
    'behind a value that ends in an escaped quote': '{"a":"\\\\\\"","a":"b"}',
    'as a name that nobody knows': '{"other":1,"other":2}',
    'as the prototype': '{"__proto__":"a","__proto__":"b"}',
  };
  for (const [how, body] of Object.entries(repeated)) {
    it(`X-06 are refused in JSON when a name stands twice ${how}`, () => {
      expect(refusalOf(() => read(json, body))).to.equal('invalid_request');
    });
  }

  it('do not reach a prototype by any name', () => {
    const map = parseParameters(json, Buffer.from('{"__proto__":"polluted","constructor":"x"}'));
    expect(map.get('__proto__')).to.equal('polluted');
    expect(Reflect.get({}, 'polluted')).to.equal(undefined);
    expect(parseParameters(json, Buffer.from('{}')).get('constructor')).to.equal(undefined);
  });

  const types: Record<string, number | undefined> = {
    [form]: undefined,
    [`${form}; charset=utf-8`]: undefined,
    [`${form};charset="UTF-8"`]: undefined,
    'Application/X-WWW-Form-Urlencoded': undefined,
    [`${form}; boundary=x`]: undefined,
    [`${form}; charset=utf8`]: undefined,
    [`${json}; charset=utf8`]: 400,
    [`${form}; charset=iso-8859-1`]: undefined,
    [`${form};charset="ISO-8859-15"`]: undefined,
    [`${form}; charset=windows-1252`]: undefined,
    [`${form}; charset=US-ASCII`]: undefined,
    [`${form}; charset=utf-7`]: 415,
    [`${form}; charset=utf-16`]: 415,
    [`${form}; charset=x-iso-8859-1`]: 415,
    [`${form}; charset`]: 415,
    [`${json}; charset=iso-8859-1`]: 415,
    'text/plain': 415,
    'multipart/form-data; boundary=x': 415,
    'application/jsonp': 415,
    '': 415,
  };
  for (const [type, status] of Object.entries(types)) {
    it(`X-04 of the type "${type}" are ${String(status ?? 'read')}`, () => {
      expect(errorOf(() => parseParameters(type, Buffer.from('a=1')))?.status).to.equal(status);
    });
  }

  it('X-04 in another charset are read while all of them is ASCII, which percent-encoding makes it', () => {
    const type = `${form}; charset=iso-8859-1`;
    expect(read(type, 'a=p%C3%A4ss')).to.deep.equal({ a: 'päss' });
    for (const body of ['a=päss', Buffer.from('a=päss', 'latin1')]) {
      expect(errorOf(() => read(type, body))?.status).to.equal(415);
    }
  });

  it('X-04 without a type are refused with what is accepted', () => {
    expect(errorOf(() => parseParameters(undefined, Buffer.from('a=1')))?.message)
      .to.contain(form)
      .and.to.contain(json);
  });

  it('never show a value in the sentence that refuses them', () => {
    for (const body of ['canary=1&canary=2&x=%zz', 'a=canary&a=%ff', 'client_secret=canary%00']) {
      expect(errorOf(() => read(form, body))?.message).not.to.match(/canary%|=canary/);
    }
  });
});

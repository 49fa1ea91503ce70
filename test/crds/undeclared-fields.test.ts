import { expect } from 'chai';
import { fieldsBeyond, withoutUndeclared } from '../../crds/unimplemented-fields.ts';

const text = { type: 'string' };
const schema = {
  type: 'object',
  properties: {
    name: text,
    auth: { type: 'object', properties: { code: text } },
    link: { type: 'array', items: { type: 'object', properties: { id: text } } },
    details: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    labels: { type: 'object', additionalProperties: text },
  },
};

describe('fields that a schema does not declare', () => {
  it('R-55: are taken out wherever they are, and named', () => {
    const value = {
      name: 'a',
      next: 1,
      auth: { code: 'x', later: true },
      link: [{ id: '1', since: 2 }, { id: '2' }, { id: '3', since: 4 }],
      details: { own: { next: 1 } },
      labels: { next: 'x' },
    };
    expect(withoutUndeclared(value, schema, () => true)).to.deep.equal({
      value: {
        name: 'a',
        auth: { code: 'x' },
        link: [{ id: '1' }, { id: '2' }, { id: '3' }],
        details: { own: { next: 1 } },
        labels: { next: 'x' },
      },
      dropped: ['next', 'auth.later', 'link[].since'],
    });
  });

  it('R-55: stay where they are not asked for: a misspelt field is refused as ever', () => {
    const value = { name: 'a', nmae: 'b', next: 1 };
    expect(withoutUndeclared(value, schema, (path) => path === 'next')).to.deep.equal({
      value: { name: 'a', nmae: 'b' },
      dropped: ['next'],
    });
  });

  it('R-55: are never reached through a prototype, and what is no object is left alone', () => {
    for (const value of [null, 'x', 7, [], { constructor: 1 }]) {
      expect(withoutUndeclared(value, schema, () => false)).to.deep.equal({ value, dropped: [] });
    }
  });

  it('R-55: of one schema and not another are told by their paths', () => {
    const newer = {
      ...schema,
      properties: {
        ...schema.properties,
        next: { type: 'object', properties: { inner: text } },
        auth: { type: 'object', properties: { code: text, later: text } },
        link: { type: 'array', items: { type: 'object', properties: { id: text, since: text } } },
        details: { type: 'object', properties: { known: text } },
      },
    };
    expect(fieldsBeyond(newer, schema)).to.deep.equal(['auth.later', 'link[].since', 'next']);
    expect(fieldsBeyond(schema, newer)).to.deep.equal([]);
    expect(fieldsBeyond(schema, undefined)).to.deep.equal([]);
  });
});

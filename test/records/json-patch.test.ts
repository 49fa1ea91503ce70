import { expect } from 'chai';
import fc from 'fast-check';
import { Problem } from '../../api/problem.ts';
import { jsonPatch } from '../../api/records/patch.ts';

function outcome(document: unknown, operations: readonly unknown[]): unknown {
  try {
    return jsonPatch(document, operations);
  } catch (error) {
    if (error instanceof Problem) return `${error.code} ${error.faults[0]?.path ?? ''}`;
    throw error;
  }
}

describe('jsonPatch', () => {
  const applied: readonly (readonly [string, unknown, readonly unknown[], unknown])[] = [
    // RFC 6902, appendix A.
    ['A.1', { foo: 'bar' }, [{ op: 'add', path: '/baz', value: 'qux' }], { baz: 'qux', foo: 'bar' }],
    ['A.2', { foo: ['bar', 'baz'] }, [{ op: 'add', path: '/foo/1', value: 'qux' }], { foo: ['bar', 'qux', 'baz'] }],
    ['A.3', { baz: 'qux', foo: 'bar' }, [{ op: 'remove', path: '/baz' }], { foo: 'bar' }],
    ['A.4', { foo: ['bar', 'qux', 'baz'] }, [{ op: 'remove', path: '/foo/1' }], { foo: ['bar', 'baz'] }],
    ['A.5', { baz: 'qux', foo: 'bar' }, [{ op: 'replace', path: '/baz', value: 'boo' }], { baz: 'boo', foo: 'bar' }],
    [
      'A.6',
      { foo: { bar: 'baz', waldo: 'fred' }, qux: { corge: 'grault' } },
      [{ op: 'move', from: '/foo/waldo', path: '/qux/thud' }],
      { foo: { bar: 'baz' }, qux: { corge: 'grault', thud: 'fred' } },
    ],
    [
      'A.7',
      { foo: ['all', 'grass', 'cows', 'eat'] },
      [{ op: 'move', from: '/foo/1', path: '/foo/3' }],
      { foo: ['all', 'cows', 'eat', 'grass'] },
    ],
    [
      'A.8',
      { baz: 'qux', foo: ['a', 2, 'c'] },
      [
        { op: 'test', path: '/baz', value: 'qux' },
        { op: 'test', path: '/foo/1', value: 2 },
      ],
      { baz: 'qux', foo: ['a', 2, 'c'] },
    ],
    ['A.10', { foo: 'bar' }, [{ op: 'add', path: '/child', value: { x: {} } }], { foo: 'bar', child: { x: {} } }],
    ['A.11', { foo: 'bar' }, [{ op: 'add', path: '/baz', value: 'qux', xyz: 123 }], { foo: 'bar', baz: 'qux' }],
    ['A.14', { '/': 9, '~1': 10 }, [{ op: 'test', path: '/~01', value: 10 }], { '/': 9, '~1': 10 }],
    ['A.16', { foo: ['bar'] }, [{ op: 'add', path: '/foo/-', value: ['abc'] }], { foo: ['bar', ['abc']] }],
    ['the whole document', { a: 1 }, [{ op: 'replace', path: '', value: { b: 2 } }], { b: 2 }],
    ['the empty name', { '': 1 }, [{ op: 'replace', path: '/', value: 2 }], { '': 2 }],
    [
      'a copy',
      { a: { b: [1] } },
      [
        { op: 'copy', from: '/a', path: '/c' },
        { op: 'add', path: '/c/b/-', value: 2 },
      ],
      { a: { b: [1] }, c: { b: [1, 2] } },
    ],
    ['a copy of the whole', { a: 1 }, [{ op: 'copy', from: '', path: '/b' }], { a: 1, b: { a: 1 } }],
    ['a move onto itself', { a: 1 }, [{ op: 'move', from: '/a', path: '/a' }], { a: 1 }],
    ['an add over a member', { a: 1 }, [{ op: 'add', path: '/a', value: null }], { a: null }],
    [
      'a test in another order of members',
      { a: { b: 1, c: 2 } },
      [{ op: 'test', path: '/a', value: { c: 2, b: 1 } }],
      { a: { b: 1, c: 2 } },
    ],
    ['a digit as a name', { '0': 'a' }, [{ op: 'remove', path: '/0' }], {}],
    ['no operation', { a: 1 }, [], { a: 1 }],
  ];
  for (const [title, document, operations, result] of applied) {
    it(`applies ${title}`, () => {
      const before = structuredClone(document);
      expect(outcome(document, operations)).to.deep.equal(result);
      expect(document).to.deep.equal(before);
    });
  }

  const refused: readonly (readonly [string, unknown, readonly unknown[], string])[] = [
    ['a failing test (A.9)', { baz: 'qux' }, [{ op: 'test', path: '/baz', value: 'bar' }], 'conflict [0].path'],
    ['a missing parent (A.12)', { foo: 'bar' }, [{ op: 'add', path: '/baz/bat', value: 'qux' }], 'conflict [0].path'],
    [
      'a string for a number (A.15)',
      { '/': 9, '~1': 10 },
      [{ op: 'test', path: '/~01', value: '10' }],
      'conflict [0].path',
    ],
    ['an unknown operation (A.13)', {}, [{ op: 'plus', path: '/a', value: 1 }], 'not-parsable [0].op'],
    ['no operation name', {}, [{ path: '/a', value: 1 }], 'not-parsable [0].op'],
    ['an operation that is no object', {}, ['add'], 'not-parsable [0]'],
    ['an operation that is null', {}, [null], 'not-parsable [0]'],
    ['no value', {}, [{ op: 'add', path: '/a' }], 'not-parsable [0].value'],
    ['no path', {}, [{ op: 'add', value: 1 }], 'not-parsable [0].path'],
    ['a path without slash', {}, [{ op: 'add', path: 'a', value: 1 }], 'not-parsable [0].path'],
    ['a path with a bad escape', {}, [{ op: 'add', path: '/a~2', value: 1 }], 'not-parsable [0].path'],
    ['no from', { a: 1 }, [{ op: 'copy', path: '/b' }], 'not-parsable [0].from'],
    [
      'the second one',
      { a: 1 },
      [
        { op: 'test', path: '/a', value: 1 },
        { op: 'remove', path: '/b' },
      ],
      'conflict [1].path',
    ],
    ['removing what is not there', { a: 1 }, [{ op: 'remove', path: '/b' }], 'conflict [0].path'],
    ['removing the whole', { a: 1 }, [{ op: 'remove', path: '' }], 'conflict [0].path'],
    ['replacing what is not there', { a: 1 }, [{ op: 'replace', path: '/b', value: 1 }], 'conflict [0].path'],
    ['an index beyond the end', { a: [1] }, [{ op: 'add', path: '/a/2', value: 1 }], 'conflict [0].path'],
    ['replacing behind the end', { a: [1] }, [{ op: 'replace', path: '/a/1', value: 1 }], 'conflict [0].path'],
    ['replacing at the end sign', { a: [1] }, [{ op: 'replace', path: '/a/-', value: 1 }], 'conflict [0].path'],
    ['an index with a leading zero', { a: [1, 2] }, [{ op: 'remove', path: '/a/01' }], 'conflict [0].path'],
    ['an index that is no number', { a: [1] }, [{ op: 'remove', path: '/a/length' }], 'conflict [0].path'],
    ['a negative index', { a: [1] }, [{ op: 'remove', path: '/a/-1' }], 'conflict [0].path'],
    ['a member of a string', { a: 'text' }, [{ op: 'copy', from: '/a/length', path: '/b' }], 'conflict [0].path'],
    ['moving into a child', { a: { b: 1 } }, [{ op: 'move', from: '/a', path: '/a/b' }], 'conflict [0].path'],
    [
      'more than a thousand operations',
      {},
      Array.from({ length: 1001 }, () => ({ op: 'test', path: '', value: {} })),
      'invalid ',
    ],
    // inherited members are no members.
    [
      'a path through an inherited method',
      {},
      [{ op: 'add', path: '/toString/polluted', value: 1 }],
      'conflict [0].path',
    ],
    [
      'a path through the constructor',
      {},
      [{ op: 'add', path: '/constructor/prototype/polluted', value: 1 }],
      'conflict [0].path',
    ],
    ['a path through the prototype', {}, [{ op: 'add', path: '/__proto__/polluted', value: 1 }], 'conflict [0].path'],
    ['a copy of an inherited method', {}, [{ op: 'copy', from: '/hasOwnProperty', path: '/a' }], 'conflict [0].path'],
    ['removing an inherited method', {}, [{ op: 'remove', path: '/toString' }], 'conflict [0].path'],
  ];
  for (const [title, document, operations, result] of refused) {
    it(`refuses ${title}`, () => {
      expect(outcome(document, operations)).to.equal(result);
      expect(Object.getOwnPropertyNames(Object.prototype)).to.not.include('polluted');
    });
  }

  it('X-07 makes an own member of a name that is also inherited', () => {
    const result = jsonPatch({}, [{ op: 'add', path: '/__proto__', value: { polluted: 1 } }]);
    expect(Object.keys(result ?? {})).to.deep.equal(['__proto__']);
    expect(Object.getPrototypeOf(result)).to.equal(Object.prototype);
  });

  it('X-11 takes copies of 131,072 characters in all, and not one more', () => {
    const copyOf = (length: number) => () =>
      jsonPatch({ a: 'x'.repeat(length - 2) }, [{ op: 'copy', from: '/a', path: '/b' }]);
    expect(copyOf(131_072)).not.to.throw();
    expect(copyOf(131_073)).to.throw(Problem);
  });

  it('refuses copies that double the document again and again', () => {
    const doubling = Array.from({ length: 40 }, (_, index) => ({
      op: 'copy',
      from: '/a',
      path: `/a/x${String(index)}`,
    }));
    expect(outcome({ a: { text: 'x'.repeat(1000) } }, doubling)).to.match(/^invalid/);
    const wide = Array.from({ length: 40 }, (_, index) => ({ op: 'copy', from: '', path: `/x${String(index)}` }));
    expect(outcome({ a: 'x'.repeat(1000) }, wide)).to.match(/^invalid/);
    const deep = [
      { op: 'add', path: '/a', value: {} },
      ...Array.from({ length: 900 }, () => ({ op: 'copy', from: '/a', path: '/a/a' })),
    ];
    expect(outcome({}, deep)).to.match(/^invalid/);
  });

  it('takes any operations to a document or a problem', () => {
    const name = fc.constantFrom('', '/a', '/a/0', '/a/-', '/b/c', '/~0', '/~', 'x', '/toString');
    const operation = fc.record(
      {
        op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test', 'x'),
        path: name,
        from: name,
        value: fc.jsonValue({ maxDepth: 2 }),
      },
      { requiredKeys: ['op', 'path'] },
    );
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 8 }), (operations) => {
        outcome({ a: [1, { x: 1 }], b: { c: 1 } }, operations);
      }),
      { numRuns: 1000 },
    );
  });
});

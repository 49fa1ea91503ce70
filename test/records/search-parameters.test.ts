import { expect } from 'chai';
import fc from 'fast-check';
import { Problem } from '../../api/problem.ts';
import {
  readPageMark,
  writeCursor,
  readElementsOnly,
  readSearch,
  refuseParameters,
} from '../../api/records/search/parameters.ts';
import { accessPolicy } from '../../api/records/access-policy.ts';
import { client } from '../../api/records/client.ts';
import { session } from '../../api/records/session.ts';

const definitions = { Client: client.search, AccessPolicy: accessPolicy.search, Session: session.search };
type Kind = keyof typeof definitions;

function read(kind: Kind, query: string) {
  return readSearch<object>(new URLSearchParams(query), definitions[kind]);
}

function refusal(kind: Kind, query: string): string {
  try {
    read(kind, query);
  } catch (error) {
    if (error instanceof Problem) return `${error.code}: ${error.message}`;
    throw error;
  }
  return 'accepted';
}

describe('the parameters of a search', () => {
  it('has defaults', () => {
    expect(read('Client', '')).to.deep.include({
      count: 100,
      page: undefined,
      elements: undefined,
      total: 'estimate',
      result: 'bundle',
      filters: {},
    });
    expect(read('Client', '').sort).to.deep.include({ text: 'id', field: 'id', descending: false });
    expect(read('Session', '').sort).to.deep.include({ text: '-created_at', field: 'created_at', descending: true });
  });

  const accepted: readonly (readonly [Kind, string, object])[] = [
    ['Client', '_count=1', { count: 1 }],
    ['Client', '_count=1000', { count: 1000 }],
    ['Client', '_page=3', { page: { at: 'number', number: 3 } }],
    ['Client', '_page=last', { page: { at: 'last' } }],
    ['Client', '_elements=id,name', { elements: new Set(['id', 'name']) }],
    ['Client', '_total=none&_result=array', { total: 'none', result: 'array' }],
    ['Client', '_total=accurate', { total: 'accurate' }],
    [
      'Client',
      'id=a&name=b%20c&active=false&grant_types=implicit',
      { filters: { id: 'a', name: 'b c', active: false, grantType: 'implicit' } },
    ],
    [
      'AccessPolicy',
      'engine=allow&subjects=linked&link=Client/x',
      { filters: { engine: 'allow', subjects: 'linked', link: { resourceType: 'Client', id: 'x' } } },
    ],
    [
      'Session',
      'client=a&user=7&type=implicit&status=active',
      { filters: { client: 'a', user: 7, type: 'i', status: 'active' } },
    ],
    ['Session', 'client=Client/a&user=User/7', { filters: { client: 'a', user: 7 } }],
    [
      'Session',
      'created_at=ge2026-01-01&created_at=lt2026-01-02',
      { filters: { createdAt: { from: Date.UTC(2026, 0, 1), to: Date.UTC(2026, 0, 2) } } },
    ],
    ['Session', 'expires_at=lt2026-01-02', { filters: { expiresAt: { from: undefined, to: Date.UTC(2026, 0, 2) } } }],
  ];
  for (const [kind, query, expected] of accepted) {
    it(`reads ${kind}?${query}`, () => {
      expect(read(kind, query)).to.deep.include(expected);
    });
  }

  const refused: readonly (readonly [Kind, string, RegExp])[] = [
    ['Client', 'nmae=a', /nmae is not a known parameter; known are id, name/],
    ['Client', 'client=a', /client is not a known parameter/],
    ['Client', '__proto__=a', /__proto__ is not a known parameter/],
    ['Client', 'toString=a', /toString is not a known parameter/],
    ['Client', '%3Cscript%3E=a', /A parameter of the query is not a known parameter/],
    ['Client', 'name=a&name=b', /name must not be given twice/],
    ['Client', '_count=1&_count=2', /_count must not be given twice/],
    ['Session', 'status=active&status=active', /status must not be given twice/],
    ['Session', 'created_at=ge2026-01-01&'.repeat(5), /created_at must not be given more than 4 times/],
    ['Client', '_count=0', /_count must be a number from 1 to 1000/],
    ['Client', '_count=1001', /_count must be/],
    ['Client', '_count=-1', /_count must be/],
    ['Client', '_count=1e2', /_count must be/],
    ['Client', '_count=', /_count must be/],
    ['Client', '_count=10;drop table', /_count must be/],
    ['Client', '_page=0', /_page must be/],
    ['Client', '_page=-1', /_page must be/],
    ['Client', '_page=abc', /_page must be/],
    ['Client', '_sort=name', /_sort must be one of id, created_at/],
    ['Client', '_sort=id;drop', /_sort must be one of/],
    ['Client', '_sort=--id', /_sort must be one of/],
    ['Client', '_sort=toString', /_sort must be one of/],
    ['Session', '_sort=expires_at', /_sort must be one of created_at, id/],
    ['Client', '_elements=secret', /_elements must be a list of fields/],
    ['Client', '_elements=', /_elements must be/],
    ['Client', '_elements=id,,name', /_elements must be/],
    ['Session', '_elements=token_hash', /_elements must be/],
    ['Client', '_total=all', /_total must be one of none, estimate, accurate/],
    ['Client', '_result=csv', /_result must be one of bundle, array/],
    ['Client', 'active=yes', /active must be one of true, false/],
    ['Client', 'name=', /name must have 1 to 1024 characters/],
    ['Client', `name=${'x'.repeat(1025)}`, /name must have 1 to 1024 characters/],
    ['Client', 'name=%00', /name must be UTF-8 text/],
    ['Client', 'name=%ff', /name must be UTF-8 text/],
    ['AccessPolicy', 'link=x', /link must be one of Client, User, Group, a slash and an id/],
    ['AccessPolicy', 'link=Session/x', /link must be/],
    ['Session', 'user=abc', /user must be a number/],
    ['Session', 'user=1;drop', /user must be a number/],
    ['Session', 'user=99999999999999999999', /user must be a number/],
    ['Session', 'type=x', /type must be one of client_credentials, refresh_token/],
    ['Session', 'status=dead', /status must be one of active, expired, closed, revoked/],
    ['Session', 'id=a', /id must be the id of a session/],
  ];
  for (const [kind, query, message] of refused) {
    it(`refuses ${kind}?${query.slice(0, 60)}`, () => {
      expect(refusal(kind, query))
        .to.match(/^bad-request/)
        .and.match(message);
    });
  }

  it('takes any query to a request or a problem', () => {
    const names = fc.constantFrom(
      'id',
      'name',
      'client',
      'created_at',
      '_count',
      '_page',
      '_sort',
      '_elements',
      '_total',
      'x',
    );
    const queries = fc.array(fc.tuple(fc.oneof(names, fc.string()), fc.string({ unit: 'binary' })), { maxLength: 5 });
    fc.assert(
      fc.property(queries, fc.constantFrom<Kind>('Client', 'AccessPolicy', 'Session'), (pairs, kind) => {
        refusal(kind, new URLSearchParams(pairs).toString());
      }),
      { numRuns: 1000 },
    );
  });

  it('takes no parameter with a change, and _elements only with a read', () => {
    const known = { elements: new Set(['id', 'name']) };
    expect(() => refuseParameters(new URLSearchParams('a=1'))).to.throw(Problem, 'a is not a known parameter');
    expect(() => refuseParameters(new URLSearchParams(''))).to.not.throw();
    expect(() => readElementsOnly(new URLSearchParams('name=1'), known)).to.throw(Problem, 'known is _elements');
    expect(readElementsOnly(new URLSearchParams('_elements=name'), known)).to.deep.equal(new Set(['name']));
    expect(readElementsOnly(new URLSearchParams(''), known)).to.equal(undefined);
    const without = { ...known, controls: ['_count'] };
    expect(() => readElementsOnly(new URLSearchParams('_elements=id'), without)).to.throw(Problem, 'takes none');
  });
});

describe('a cursor', () => {
  const form = { sort: '-id', key: [/^[\w.~-]{1,128}$/] };

  it('comes back as it was written', () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[A-Za-z0-9][\w.~-]{0,127}$/),
        fc.constantFrom('after' as const, 'before' as const),
        (id, at) => {
          expect(readPageMark(writeCursor(at, '-id', [id]), form)).to.deep.equal({ at, key: [id] });
        },
      ),
    );
  });

  const refused: Readonly<Record<string, string>> = {
    'of another order': writeCursor('after', 'id', ['a']),
    'with too many parts': writeCursor('after', '-id', ['a', 'b']),
    'without a key': writeCursor('after', '-id', []),
    'with a key of another form': writeCursor('after', '-id', ["a' OR 1=1 --"]),
    'with a NUL': writeCursor('after', '-id', ['a\0']),
    'in another direction': Buffer.from('["sideways","-id","a"]').toString('base64url'),
    'of numbers': Buffer.from('["after","-id",1]').toString('base64url'),
    'that is an object': Buffer.from('{"length":3}').toString('base64url'),
    'that is no JSON': Buffer.from('x').toString('base64url'),
    'that is no base64url': '****',
    'that is empty': '',
  };
  for (const [title, text] of Object.entries(refused)) {
    it(`${title} is refused`, () => {
      expect(() => readPageMark(text, form))
        .to.throw(Problem)
        .with.property('code', 'bad-request');
    });
  }
});

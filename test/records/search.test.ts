import { expect } from 'chai';
import fc from 'fast-check';
import type { Page, Span } from '../../api/db/core/keyset.ts';
import { Problem } from '../../api/problem.ts';
import { bundleHead, linksOf, withElements, search } from '../../api/records/search/search.ts';
import type { SearchResult, SearchStatements } from '../../api/records/search/search.ts';
import { readSearch } from '../../api/records/search/parameters.ts';
import type { SearchDefinition } from '../../api/records/search/parameters.ts';

const definition: SearchDefinition<object> = {
  elements: new Set(['id']),
  sorts: { id: [{ column: 'id', type: 'text' }] },
  sort: 'id',
  filters: {},
  ranges: {},
};

/** A list of sorted keys behind the statements that Postgres answers otherwise. */
function listed(length: number): SearchStatements<string> {
  const ascending = Array.from({ length }, (_, index) => String(index).padStart(6, '0'));
  return {
    count: (most) => Promise.resolve(Math.min(length, most ?? length)),
    keyOf: (row) => [row],
    read(span: Span): Promise<Page<string>> {
      const list = span.descending ? ascending.toReversed() : ascending;
      const inDirection = span.backward ? list.toReversed() : list;
      const begin = span.from === undefined ? 0 : inDirection.indexOf(span.from[0] ?? '') + 1;
      const found = inDirection.slice(begin + span.offset, begin + span.offset + span.limit + 1);
      const rows = found.slice(0, span.limit);
      return Promise.resolve({ rows: span.backward ? rows.toReversed() : rows, more: found.length > span.limit });
    },
  };
}

function page(query: string, statements: SearchStatements<string>): Promise<SearchResult<string>> {
  return search(readSearch(new URLSearchParams(query), definition), statements);
}

async function walk(
  query: string,
  statements: SearchStatements<string>,
  way: 'next' | 'previous',
): Promise<string[][]> {
  const pages: string[][] = [];
  let mark: string | undefined = way === 'next' ? '' : 'last';
  while (mark !== undefined) {
    const result: SearchResult<string> = await page(`${query}${mark === '' ? '' : `&_page=${mark}`}`, statements);
    pages.push([...result.rows]);
    mark = result[way];
  }
  return pages;
}

describe('search', () => {
  it('shows every row once, whether the pages are followed forward, backward or by number', async () => {
    const cases = fc.record({
      length: fc.integer({ min: 0, max: 60 }),
      count: fc.integer({ min: 1, max: 20 }),
      sort: fc.constantFrom('id', '-id'),
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ length, count, sort }) => {
        const statements = listed(length);
        const query = `_count=${String(count)}&_sort=${sort}`;
        const forward = await walk(query, statements, 'next');
        const backward = await walk(query, statements, 'previous');
        const numbers = Array.from({ length: Math.ceil(length / count) }, (_, index) => index + 1);
        const numbered = await Promise.all(
          numbers.map((number) => page(`${query}&_page=${String(number)}`, statements)),
        );
        const all = (
          await statements.read({ limit: 100, offset: 0, descending: sort === '-id', backward: false }, undefined)
        ).rows;
        expect(forward.flat()).to.deep.equal(all);
        expect(backward.toReversed()).to.deep.equal(forward);
        expect(numbered.map(({ rows }) => rows)).to.deep.equal(length === 0 ? [] : forward);
      }),
    );
  });

  it('leads back to where it came from', async () => {
    const statements = listed(30);
    const second = await page(`_count=10&_page=${(await page('_count=10', statements)).next ?? ''}`, statements);
    const first = await page(`_count=10&_page=${second.previous ?? ''}`, statements);
    expect([first.rows[0], first.previous]).to.deep.equal(['000000', undefined]);
    expect((await page(`_count=10&_page=${first.next ?? ''}`, statements)).rows).to.deep.equal(second.rows);
  });

  it('counts exactly up to ten thousand, and beyond only when told so', async () => {
    const totalOf = async (query: string, length: number) => (await page(query, listed(length))).total;
    expect(await totalOf('', 10_000)).to.equal(10_000);
    expect(await totalOf('', 10_001)).to.equal(undefined);
    expect(await totalOf('_total=accurate', 10_001)).to.equal(10_001);
    expect(await totalOf('_total=none', 1)).to.equal(undefined);
  });

  it('goes to the last page of a list that is too long to count', async () => {
    const { rows, next } = await page('_count=10&_page=last', listed(10_003));
    expect([rows[0], rows.at(-1), next]).to.deep.equal(['009993', '010002', undefined]);
  });

  it('takes page numbers up to the ten thousandth row', async () => {
    const statements = listed(20_000);
    expect((await page('_count=1000&_page=10', statements)).rows.at(-1)).to.equal('009999');
    let refused: unknown;
    await page('_count=1000&_page=11', statements).catch((error: unknown) => (refused = error));
    expect(refused)
      .to.be.instanceOf(Problem)
      .with.property('message')
      .that.matches(/follow the link next/);
  });

  it('leads back from beyond the end', async () => {
    expect(await page('_count=10&_page=9', listed(30))).to.deep.include({
      rows: [],
      previous: 'last',
      next: undefined,
    });
    expect(await page('', listed(0))).to.deep.include({ rows: [], previous: undefined, next: undefined });
  });
});

describe('a bundle', () => {
  const query = new URLSearchParams('name=a%20b&_page=x&_count=2');

  it('has links on the address of the search, with its parameters', () => {
    const result = { rows: [], total: 5, previous: 'p', next: 'n' };
    expect(linksOf('https://box.example/Client', query, result)).to.deep.equal([
      { relation: 'self', url: 'https://box.example/Client?name=a+b&_count=2&_page=x' },
      { relation: 'first', url: 'https://box.example/Client?name=a+b&_count=2' },
      { relation: 'previous', url: 'https://box.example/Client?name=a+b&_count=2&_page=p' },
      { relation: 'next', url: 'https://box.example/Client?name=a+b&_count=2&_page=n' },
      { relation: 'last', url: 'https://box.example/Client?name=a+b&_count=2&_page=last' },
    ]);
  });

  it('leaves out the links to pages that are not there', () => {
    const links = linksOf('https://b/Client', new URLSearchParams(), {
      rows: [],
      total: 0,
      previous: undefined,
      next: undefined,
    });
    expect(links.map(({ relation, url }) => `${relation} ${url}`)).to.deep.equal([
      'self https://b/Client',
      'first https://b/Client',
      'last https://b/Client?_page=last',
    ]);
  });

  it('has a total only when it is known', () => {
    expect(bundleHead([], 1)).to.deep.equal({ resourceType: 'Bundle', type: 'searchset', total: 1, link: [] });
    expect(bundleHead([], undefined)).to.not.have.property('total');
  });

  it('shows the asked fields, and always what a resource is', () => {
    const view = { resourceType: 'Client', id: 'a', name: 'n', scope: ['x'] };
    expect(withElements(view, new Set(['name']))).to.deep.equal({ resourceType: 'Client', id: 'a', name: 'n' });
    expect(withElements(view, undefined)).to.equal(view);
  });
});

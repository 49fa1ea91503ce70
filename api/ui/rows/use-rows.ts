import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Answer } from '../connection/answer.ts';
import { sortedPath, withQuery } from '../connection/api-path.ts';
import type { ApiPath } from '../connection/api-path.ts';
import { findUser } from '../connection/find-user.ts';
import { objectsOf } from '../connection/members.ts';
import { useUi } from '../context.ts';
import { inOrder, matching, nextPage, rowOf, united } from './row-source.ts';
import type { Column, Row, RowSource, Sort } from './row-source.ts';

/** A table while it is shown. */
export interface Rows {
  /** Path of the list, for a person who may not read it. */
  readonly path: string;
  readonly columns: readonly Column[];
  readonly sort: Sort | undefined;
  /** Sorts by a column; in the other direction if the rows are sorted by it already. */
  readonly sortBy: (column: number) => void;
  readonly filter: string;
  readonly setFilter: (text: string) => void;
  /** Rows that the filter matches. */
  readonly shown: readonly Row[];
  /** True if the API has rows that were not read. */
  readonly hasMore: boolean;
  readonly isReading: boolean;
  /** The answer that ended the reading too early. */
  readonly problem: Answer | undefined;
  readonly readMore: () => void;
  readonly retry: () => void;
  /** Shows a record that was saved. */
  readonly put: (row: Row) => void;
  /** Removes a record that was deleted. */
  readonly remove: (id: string) => void;
}

/** Rows that the list keeps in memory when it reads all pages. */
const MOST_ROWS = 20_000;

/** Milliseconds without a key before the API is asked. */
const QUIET = 120;

/** Reads a list, sorts it, and narrows it while text is typed: first what was read, then by a search of the API. */
export function useRows(source: RowSource): Rows {
  const { useMore = asTheyAre } = source;
  const [sort, setSort] = useState(source.sorted);
  const field = source.readsAll || sort === undefined ? undefined : source.columns[sort.column]?.sort;
  const path = field === undefined ? source.path : sortedPath(source.path, field, sort?.isDescending === true);
  const reading = useReading(source, path);
  const { next } = reading;
  const [filter, setFilter] = useState('');
  const text = filter.trim();
  const { found, forget } = useFound(source, next === undefined && !isEmailOfUser(source, text) ? '' : text);
  const all = useMore(useMemo(() => united(reading.rows, found), [reading.rows, found]));
  const shown = useMemo(() => {
    const own = new Set(found.map(({ id }) => id));
    const others = all.filter(({ id }) => own.has(id));
    return inOrder(united(matching(all, filter), others), sort);
  }, [all, filter, found, sort]);
  const remove = (id: string): void => {
    reading.remove(id);
    forget(id);
  };
  const sortBy = (column: number): void => {
    setSort({ column, isDescending: sort?.column === column && !sort.isDescending });
  };
  const list = { path: withQuery(source.path, ''), columns: source.columns, hasMore: next !== undefined };
  return { ...reading, ...list, sort, sortBy, remove, filter, setFilter, shown };
}

function asTheyAre(rows: readonly Row[]): readonly Row[] {
  return rows;
}

/** Checks whether a text may be the email of a user whose records are asked for: no row has it. */
function isEmailOfUser({ findByUser }: RowSource, text: string): boolean {
  return findByUser !== undefined && /.@./.test(text);
}

interface Read {
  readonly rows: readonly Row[];
  /** The next page; undefined after the last one. */
  readonly next: ApiPath | undefined;
  readonly isReading: boolean;
  readonly problem: Answer | undefined;
}

const nothingRead: Read = { rows: [], next: undefined, isReading: true, problem: undefined };

/** Reads the pages of a list: all of them, or one at a time. */
function useReading(source: RowSource, first: ApiPath) {
  const { say, request } = useUi();
  const [read, setRead] = useState(nothingRead);
  const aborting = useRef<AbortController | undefined>(undefined);

  async function readFrom(path: ApiPath, before: readonly Row[], signal: AbortSignal): Promise<void> {
    let [rows, next]: [readonly Row[], ApiPath | undefined] = [before, path];
    do {
      const answer = await request({ method: 'GET', path: next, signal });
      if (answer.kind !== 'done') {
        setRead({ rows, next, isReading: false, problem: answer });
        return;
      }
      rows = united(
        rows,
        objectsOf(answer.body).map((record) => rowOf(source, record, say)),
      );
      next = nextPage(path, answer.headers.get('Link'));
      setRead({ rows, next, isReading: next !== undefined && source.readsAll, problem: undefined });
    } while (next !== undefined && source.readsAll && rows.length < MOST_ROWS);
    setRead({ rows, next, isReading: false, problem: undefined });
  }

  /** The rows stay until the first page is there: a header that was pressed keeps the focus. */
  function begin(path: ApiPath, before: readonly Row[]): void {
    aborting.current?.abort();
    const controller = new AbortController();
    aborting.current = controller;
    setRead((last) => ({ ...last, isReading: true, problem: undefined }));
    // It rejects only when it was aborted.
    readFrom(path, before, controller.signal).catch(() => undefined);
  }

  useEffect(() => {
    begin(first, []);
    return () => aborting.current?.abort();
  }, [source, first]);

  return {
    ...read,
    readMore: () => {
      if (read.next !== undefined) begin(read.next, read.rows);
    },
    retry: () => {
      begin(read.next ?? first, read.next === undefined ? [] : read.rows);
    },
    put: (row: Row) => {
      setRead((last) => ({ ...last, rows: replaced(last.rows, row) }));
    },
    remove: (id: string) => {
      setRead((last) => ({ ...last, rows: last.rows.filter((row) => row.id !== id) }));
    },
  };
}

function replaced(rows: readonly Row[], row: Row): readonly Row[] {
  return rows.some(({ id }) => id === row.id) ? rows.map((one) => (one.id === row.id ? row : one)) : [row, ...rows];
}

const none: readonly Row[] = [];

/** Rows that a search has found; `forget` removes one of them. */
interface Found {
  readonly found: readonly Row[];
  readonly forget: (id: string) => void;
}

/** Asks the API for rows that a text matches; the last answer stays until the next one. '' asks nothing. */
function useFound(source: RowSource, text: string): Found {
  const { say, request } = useUi();
  const [found, setFound] = useState<{ readonly text: string; readonly rows: readonly Row[] }>({
    text: '',
    rows: none,
  });
  useEffect(() => {
    const { find, findByUser } = source;
    const isEmail = isEmailOfUser(source, text);
    const given = text === '' || isEmail ? undefined : find?.(text);
    if (given === undefined && !isEmail) return undefined;
    const controller = new AbortController();
    const byEmail = async (): Promise<ApiPath | undefined> => {
      const { id } = await findUser(text, request, controller.signal);
      return id === undefined ? undefined : findByUser?.(id);
    };
    const ask = async (): Promise<void> => {
      const path = given ?? (await byEmail());
      if (path === undefined) return;
      const answer = await request({ method: 'GET', path, signal: controller.signal });
      // An answer that is none leaves what is read already: the list itself reports the problem.
      if (answer.kind === 'done')
        setFound({ text, rows: objectsOf(answer.body).map((record) => rowOf(source, record, say)) });
    };
    const timer = setTimeout(() => {
      ask().catch(() => undefined);
    }, QUIET);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [source, text]);
  return {
    found: found.text === text && text !== '' ? found.rows : none,
    forget: (id) => {
      setFound((last) => ({ ...last, rows: last.rows.filter((row) => row.id !== id) }));
    },
  };
}

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Answer } from '../connection/answer.ts';
import type { ApiPath } from '../connection/api-path.ts';
import { findUser } from '../connection/find-user.ts';
import { objectsOf } from '../connection/members.ts';
import { useUi } from '../context.ts';
import { matching, nextPage, united } from './row-source.ts';
import type { Row, RowSource } from './row-source.ts';

/** A list while it is shown. */
export interface Rows {
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

/**
 * Reads a list and narrows it while text is typed: what is read at once, the rest by a search of the API. `useTitles`
 * is a hook that gives the rows better titles, which the filter then matches.
 */
export function useRows(source: RowSource, useTitles: UseTitles = asTheyAre): Rows {
  const reading = useReading(source);
  const { next } = reading;
  const [filter, setFilter] = useState('');
  const text = filter.trim();
  const { found, forget } = useFound(source, next === undefined && !isEmailOfUser(source, text) ? '' : text);
  const titled = useTitles(useMemo(() => united(reading.rows, found), [reading.rows, found]));
  const shown = useMemo(() => {
    const own = new Set(found.map(({ id }) => id));
    return united(
      matching(titled, filter),
      titled.filter(({ id }) => own.has(id)),
    );
  }, [titled, filter, found]);
  const remove = (id: string): void => {
    reading.remove(id);
    forget(id);
  };
  return { ...reading, remove, filter, setFilter, shown, hasMore: next !== undefined };
}

/** Hook that returns rows with other titles. */
export type UseTitles = (rows: readonly Row[]) => readonly Row[];

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
function useReading(source: RowSource) {
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
        objectsOf(answer.body).map((record) => source.rowOf(record, say)),
      );
      next = nextPage(path, answer.headers.get('Link'));
      setRead({ rows, next, isReading: next !== undefined && source.readsAll, problem: undefined });
    } while (next !== undefined && source.readsAll && rows.length < MOST_ROWS);
    setRead({ rows, next, isReading: false, problem: undefined });
  }

  function begin(path: ApiPath, before: readonly Row[]): void {
    aborting.current?.abort();
    const controller = new AbortController();
    aborting.current = controller;
    setRead((last) => ({ ...last, rows: before, isReading: true, problem: undefined }));
    // It rejects only when it was aborted.
    readFrom(path, before, controller.signal).catch(() => undefined);
  }

  useEffect(() => {
    begin(source.path, []);
    return () => aborting.current?.abort();
  }, [source]);

  return {
    ...read,
    readMore: () => {
      if (read.next !== undefined) begin(read.next, read.rows);
    },
    retry: () => {
      begin(read.next ?? source.path, read.next === undefined ? [] : read.rows);
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
        setFound({ text, rows: objectsOf(answer.body).map((record) => source.rowOf(record, say)) });
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

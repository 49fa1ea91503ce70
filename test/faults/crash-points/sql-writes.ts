import type { Write } from './write-log.ts';

/**
 * Reads the statements of one connection in their order: what each writes, and the commits of transactions that have
 * written something. Undefined for what only reads. `bytes` is the whole of what was asked, its parameters too.
 */
export function sqlWriteReader(writers: ReadonlySet<string>): (statement: string, bytes: Buffer) => Write | undefined {
  let transaction: { readonly box: string | undefined; readonly written: string[] } | undefined;

  return (statement, bytes) => {
    if (/^BEGIN\b/.test(statement)) {
      transaction = { box: /boxgate\.box = '([^']+)'/.exec(statement)?.[1], written: [] };
      return undefined;
    }
    if (/^(COMMIT|ROLLBACK)\b/.test(statement)) {
      const over = transaction;
      transaction = undefined;
      if (over === undefined || over.written.length === 0 || statement.startsWith('ROLLBACK')) return undefined;
      return { what: `SQL COMMIT of ${over.written.join(', ')}`, box: over.box };
    }
    const written = writtenBy(statement, writers);
    if (written === undefined) return undefined;
    // How much a client is used is told now and then; what is not told is lost, and nothing depends on it.
    if (written === 'note_usage') return undefined;
    transaction?.written.push(written);
    return { what: `SQL ${written}`, box: transaction?.box ?? boxIn(bytes) };
  };
}

function writtenBy(statement: string, writers: ReadonlySet<string>): string | undefined {
  const tables = [...statement.matchAll(/\b(INSERT INTO|UPDATE|DELETE FROM)\s+boxgate\.(\w+)/g)];
  const functions = [...statement.matchAll(/\bboxgate\.(\w+)\(/g)].filter(([, name = '']) => writers.has(name));
  const names = [...tables, ...functions].map(([, ...words]) => words.join(' '));
  return names.length === 0 ? undefined : names.join(' and ');
}

/** A batch is about the boxes in its first parameter, an array: one, where nobody else is busy. */
function boxIn(bytes: Buffer): string | undefined {
  return /\{"([a-z0-9-]+)"/.exec(bytes.toString('latin1'))?.[1];
}

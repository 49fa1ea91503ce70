import { KINDS } from '../crds/kind.ts';
import type { ObjectEvent } from '../operator/events.ts';
import type { ObjectStatus } from '../operator/object-status.ts';
import { curlSubject, type CurlSubject } from './curl.ts';
import type { FolderProblem } from './folder-reader.ts';
import { plainText } from './plain-text.ts';
import { createProgress, type Progress, type ProgressOutput } from './progress.ts';
import { isGood, statusTables } from './status-table.ts';

/** Where `boxgate dev` prints: results to the one, everything on the way to the other. */
export interface DevStreams {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: ProgressOutput;
}

/** Everything that `boxgate dev` prints, and what it knows from having printed it. */
export interface DevOutput {
  readonly progress: Progress;
  /** A line of results. */
  result(line: string): void;
  /** A sentence on the way. */
  note(sentence: string): void;
  statuses(changed: readonly ObjectStatus[], gone: readonly ObjectStatus[]): void;
  /** An event that somebody should look at. */
  event(event: ObjectEvent): void;
  /** Prints problems that were not there before, and says when the last one is solved. */
  problems(now: readonly FolderProblem[]): void;
  /** A pass that failed; the same sentence again is not printed again. */
  failure(sentence: string): void;
  /** Whether every object is Ready and nothing of the folder is in doubt. */
  readonly isAllGood: boolean;
  /** A client to show a token for: the first in the order of files. */
  readonly curlSubject: CurlSubject | undefined;
}

/** Output on two streams; `now` in milliseconds. */
export function createDevOutput({ stdout, stderr }: DevStreams, now: () => number): DevOutput {
  const progress = createProgress(stderr, now);
  const bad = new Set<string>();
  /** Of ten thousand, one is kept: the first in the order of files. */
  let first: { readonly key: string; readonly place: string; readonly subject: CurlSubject } | undefined;
  let problems = new Set<string>();
  let lastFailure = '';

  function note(sentence: string): void {
    progress.clear();
    stderr.write(`${plainText(sentence)}\n`);
  }

  function remember(status: ObjectStatus): void {
    const key = `${status.namespace}/${status.kind}/${status.name}`;
    if (isGood(status)) bad.delete(key);
    else bad.add(key);
    const subject = curlSubject(status);
    const { place } = status;
    if (first?.key === key) first = undefined;
    if (subject !== undefined && (first === undefined || place < first.place)) first = { key, place, subject };
  }

  return {
    progress,
    note,
    result(line) {
      progress.clear();
      stdout.write(`${line}\n`);
    },
    statuses(changed, gone) {
      changed.forEach(remember);
      progress.clear();
      if (changed.length > 0) stdout.write(`${statusTables(changed)}\n`);
      for (const { kind, namespace, name } of gone) {
        bad.delete(`${namespace}/${kind}/${name}`);
        if (first?.key === `${namespace}/${kind}/${name}`) first = undefined;
        stdout.write(`${KINDS[kind].singular}.boxgate.dev "${name}" deleted from ${namespace}\n`);
      }
      lastFailure = '';
    },
    event({ object, type, reason, message }) {
      // The table of statuses has that one in a line of its own.
      if (type === 'Warning' && reason !== 'InlineSecret')
        note(`${object.namespace}: ${object.kind} ${object.name}: ${reason}: ${message}`);
    },
    problems(found) {
      const sentences = new Set(found.map(sentenceOf));
      for (const sentence of sentences) if (!problems.has(sentence)) note(sentence);
      if (problems.size > 0 && sentences.size === 0) note('Every file can be read again.');
      problems = sentences;
    },
    failure(sentence) {
      if (sentence !== lastFailure) note(sentence);
      lastFailure = sentence;
    },
    get isAllGood() {
      return bad.size === 0 && problems.size === 0;
    },
    get curlSubject() {
      return first?.subject;
    },
  };
}

function sentenceOf({ file, line, message, blocks }: FolderProblem): string {
  const place = line === 0 ? file : `${file}:${String(line)}`;
  const consequence = blocks ? '. What was there stays as it is, and nothing of the folder is removed' : '';
  return `${place}: ${message}${consequence}`;
}

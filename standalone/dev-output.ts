import path from 'node:path';
import { KINDS } from '../crds/kind.ts';
import type { ObjectEvent } from '../operator/events.ts';
import type { ObjectStatus } from '../operator/object-status.ts';
import { chosenSubject, generatedSubject, type CurlSubject } from './curl.ts';
import { firstOf, keyOf } from './first-of.ts';
import type { FolderProblem } from './folder-reader.ts';
import type { CreatedSecret } from './generated-secrets.ts';
import { grouped, plainText } from './plain-text.ts';
import { createProgress, type Progress, type ProgressOutput } from './progress.ts';
import { shortPath } from './short-path.ts';
import { accountSubject, type AccountSubject } from './sign-in-hint.ts';
import { aligned, isGood, statusTables } from './status-table.ts';

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
  /** A pass of a box that failed (an empty name: what concerns no single box); the same sentence again is not printed again. */
  failure(box: string, reason: string): void;
  /** Prints which boxes could not be applied, as far as their last pass failed, and why. */
  unapplied(boxes: ReadonlySet<string>): void;
  /** Names the files of secrets that were generated just now; paths relative to `cwd` where that is shorter. */
  secretFiles(box: string, created: readonly CreatedSecret[], cwd: string): void;
  /** Prints that a box is out of service, because nothing of it is declared any more. */
  suspended(box: string): void;
  /** Whether the folder has declared anything. */
  readonly hasObjects: boolean;
  /** Whether every object is Ready and nothing of the folder is in doubt. */
  readonly isAllGood: boolean;
  /** Clients to show a token for, with a generated secret and with a chosen one: the first ones in the order of files. */
  readonly generatedSubject: CurlSubject | undefined;
  readonly chosenSubject: CurlSubject | undefined;
  /** Somebody to sign in as: the first one in the order of files. */
  readonly accountSubject: AccountSubject | undefined;
}

/** Files that are named one by one. */
const mostFiles = 20;

/** Output on two streams; `now` in milliseconds. */
export function createDevOutput({ stdout, stderr }: DevStreams, now: () => number): DevOutput {
  const progress = createProgress(stderr, now);
  const bad = new Set<string>();
  const firsts = {
    generated: firstOf(generatedSubject),
    chosen: firstOf(chosenSubject),
    account: firstOf(accountSubject),
  };
  let problems = new Set<string>();
  let lastFailure = '';
  let isAnyDeclared = false;
  const failures = new Map<string, string>();

  function note(sentence: string): void {
    progress.clear();
    stderr.write(`${plainText(sentence)}\n`);
  }

  function print(lines: readonly string[]): void {
    progress.clear();
    stdout.write(lines.map((line) => `${plainText(line)}\n`).join(''));
  }

  function remember(status: ObjectStatus): void {
    if (isGood(status)) bad.delete(keyOf(status));
    else bad.add(keyOf(status));
    for (const first of Object.values(firsts)) first.note(status);
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
      isAnyDeclared ||= changed.length > 0;
      progress.clear();
      if (changed.length > 0) stdout.write(`${statusTables(changed)}\n`);
      for (const status of gone) {
        const { kind, namespace, name } = status;
        bad.delete(keyOf(status));
        for (const first of Object.values(firsts)) first.forget(status);
        stdout.write(`${KINDS[kind].singular}.boxgate.dev "${name}" deleted from ${namespace}\n`);
      }
      lastFailure = '';
    },
    event({ object, type, reason, message, isInStatus }) {
      // The table of statuses has that one in a line of its own.
      if (type === 'Warning' && isInStatus !== true)
        note(`${object.namespace}: ${object.kind} ${object.name}: ${reason}: ${message}`);
    },
    problems(found) {
      const sentences = new Set(found.map(sentenceOf));
      for (const sentence of sentences) if (!problems.has(sentence)) note(sentence);
      if (problems.size > 0 && sentences.size === 0) note('Every file can be read again.');
      problems = sentences;
    },
    failure(box, reason) {
      failures.set(box, reason);
      const sentence = `${box === '' ? '' : `${box}: `}${reason}; it is tried again`;
      if (sentence !== lastFailure) note(sentence);
      lastFailure = sentence;
    },
    ...notices(print, failures),
    get hasObjects() {
      return isAnyDeclared;
    },
    get isAllGood() {
      return bad.size === 0 && problems.size === 0;
    },
    get generatedSubject() {
      return firsts.generated.value;
    },
    get chosenSubject() {
      return firsts.chosen.value;
    },
    get accountSubject() {
      return firsts.account.value;
    },
  };
}

/** Creates the notices about single boxes; `failures` is why their last pass failed. */
function notices(
  print: (lines: readonly string[]) => void,
  failures: ReadonlyMap<string, string>,
): Pick<DevOutput, 'unapplied' | 'secretFiles' | 'suspended'> {
  const headings = ['NAMESPACE', 'REASON', 'MESSAGE'];
  return {
    unapplied(boxes) {
      const rows = [...boxes].sort().map((box) => [box, 'NotApplied', failures.get(box) ?? 'unknown']);
      if (rows.length > 0) print(aligned([headings, ...rows]));
    },
    secretFiles(box, created, cwd) {
      print(fileLines(box, created, cwd));
    },
    suspended(box) {
      const message = 'Nothing in the folder declares it any more: it serves nothing, and its tokens are refused';
      print(aligned([headings, [box, 'Suspended', message]]));
    },
  };
}

function fileLines(box: string, created: readonly CreatedSecret[], cwd: string): readonly string[] {
  const named = created.slice(0, mostFiles).map(({ client, file }) => {
    return `The generated secret of Client ${box}/${client} is in ${shortPath(file, cwd)}`;
  });
  const rest = created.slice(mostFiles).at(-1);
  if (rest === undefined) return named;
  const more = grouped(created.length - mostFiles);
  return [...named, `… and ${more} more generated secrets are in ${shortPath(path.dirname(rest.file), cwd)}`];
}

function sentenceOf({ file, line, message, blocks }: FolderProblem): string {
  const place = line === 0 ? file : `${file}:${String(line)}`;
  const consequence = blocks ? '. What was there stays as it is, and nothing of the folder is removed' : '';
  return `${place}: ${message}${consequence}`;
}

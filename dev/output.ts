import path from 'node:path';
import { KINDS } from '../crds/kind.ts';
import type { ObjectEvent } from '../operator/status/status.ts';
import type { ObjectStatus } from '../operator/status/object-status.ts';
import {
  chosenSubject,
  firstOf,
  generatedSubject,
  keyOf,
  type CurlSubject,
  shortPath,
  accountSubject,
  type AccountSubject,
} from './hints.ts';
import type { FolderProblem } from './folder/reader.ts';
import type { CreatedSecret } from './folder/generated-secrets.ts';
import { grouped, plainText } from '../program/text.ts';
import { aligned, isGood, statusTables } from './status-table.ts';

/** Display of the progress of long work. */
interface Progress {
  /** Shows `done` of `of`; the last call has both equal. */
  report(what: string, done: number, of: number): void;
  /** Ends the line that is being rewritten, before anything else is printed. */
  clear(): void;
}

/** Stream for the progress; on a terminal a line can be rewritten. */
interface ProgressOutput {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

/** Milliseconds between two lines if a line cannot be rewritten, and before the first one. */
const linePeriod = 2_000;
const rewritePeriod = 100;

/** Shows progress on one line of a terminal, or as a plain line now and then. Short work prints nothing. */
export function createProgress(output: ProgressOutput, now: () => number): Progress {
  const isTerminal = output.isTTY === true;
  const period = isTerminal ? rewritePeriod : linePeriod;
  let last: number | undefined;
  let said = false;

  function clear(): void {
    if (isTerminal && said) output.write('\r\u001b[K');
    said = false;
  }

  return {
    clear,
    report(what, done, of) {
      last ??= now();
      const isOver = done >= of;
      if (isOver ? !said : now() - last < period) {
        if (isOver) last = undefined;
        return;
      }
      const text = `${what}: ${grouped(done)} of ${grouped(of)}`;
      output.write(isTerminal ? `\r${text}\u001b[K` : `${text}\n`);
      said = true;
      last = now();
      if (!isOver) return;
      clear();
      last = undefined;
    },
  };
}

/** Streams that `boxgate dev` prints to: results to `stdout`, everything else to `stderr`. */
export interface DevStreams {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: ProgressOutput;
}

/** Output of `boxgate dev`, and the facts that follow from it. */
export interface DevOutput {
  readonly progress: Progress;
  /** Prints a line of results. */
  result(line: string): void;
  /** Prints a sentence that is no result. */
  readonly note: (sentence: string) => void;
  statuses(changed: readonly ObjectStatus[], gone: readonly ObjectStatus[]): void;
  /** Prints an event if it needs attention. */
  event(event: ObjectEvent): void;
  /** Prints new problems, and says when the last one is solved. */
  problems(now: readonly FolderProblem[]): void;
  /** Prints the failure of a pass of a box (empty name: of no single box), unless it repeats the last one. */
  failure(box: string, reason: string): void;
  /** Prints the boxes that could not be applied, with the reason of their last failure. */
  unapplied(boxes: ReadonlySet<string>): void;
  /** Prints the files of secrets that were generated just now; paths relative to `cwd` if that is shorter. */
  secretFiles(box: string, created: readonly CreatedSecret[], cwd: string): void;
  /** Prints that a box is out of service, because nothing in it is declared any more. */
  suspended(box: string): void;
  /** True if the folder has declared anything. */
  readonly hasObjects: boolean;
  /** True if every object is Ready or suspended, and the folder has no problems. */
  readonly isAllGood: boolean;
  /**
   * Returns the clients to show a token request for, with a generated and with a chosen secret, and the person to sign
   * in as: the first ones in the order of files.
   */
  subjects(): {
    readonly generated: CurlSubject | undefined;
    readonly chosen: CurlSubject | undefined;
    readonly account: AccountSubject | undefined;
  };
}

/** Maximum number of files that are named individually. */
const mostFiles = 20;

/** Creates the output on two streams; `now` in milliseconds. */
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
      // Names of files and objects are text of others.
      stdout.write(`${line.split('\n').map(plainText).join('\n')}\n`);
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
      // The table of statuses already shows an event that is in a status.
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
    subjects: () => ({
      generated: firsts.generated.value,
      chosen: firsts.chosen.value,
      account: firsts.account.value,
    }),
  };
}

/** Creates the notices about single boxes; `failures` has the reason of each box's last failure. */
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
  if (!blocks) return `${place}: ${message}`;
  const end = message.endsWith('?') ? '' : '.';
  return `${place}: ${message}${end} What was there stays as it is, and nothing of the folder is removed`;
}

import { reasonOf } from '../client/manifest/walk.ts';
import { plainText } from '../../program/text.ts';

/**
 * Exit codes: done; refused by the box; command line not understood; the box not reached, or a file of boxctl or the
 * output not readable or writable; access only gained or any lost by a plan (a difference of `diff` counts as the
 * first); interrupted (128 + SIGINT).
 */
export const EXIT = {
  done: 0,
  refused: 1,
  usage: 2,
  unreachable: 3,
  gained: 10,
  lost: 11,
  interrupted: 130,
} as const;

/** Reason why a command cannot be carried out, as text for the person who typed it, and the exit code. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: number;

  constructor(exitCode: number, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** A file of boxctl, or the output, that cannot be read or written. */
export class StorageError extends CliError {
  constructor(message: string) {
    super(EXIT.unreachable, message);
  }
}

/** Returns the error for a command line that is not understood. */
export function usageError(message: string): CliError {
  return new CliError(EXIT.usage, message);
}

/**
 * Waits for work on a file of boxctl. Throws StorageError with its path and the reason if the file system refuses it.
 */
export async function onFile<T>(doing: 'read' | 'written', file: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw new StorageError(`${plainText(file)} cannot be ${doing}: ${fileReason(error)}`);
  }
}

/** Returns the reason of an error of the file system, as words. */
export function fileReason(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : '';
  return code === 'ENOTDIR' || code === 'EEXIST' ? 'a part of its path is no folder' : reasonOf(error);
}

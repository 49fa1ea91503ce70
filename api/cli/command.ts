import type { Environment } from '../../program/environment.ts';
import type { BoxAddress } from './current-box.ts';
import type { BoxClient } from './box-client.ts';
import type { OptionValues } from './option-values.ts';
import type { Column } from '../schemas/columns.ts';
import type { Format } from './output.ts';
import type { State } from './state-file.ts';
import type { Terminal } from './terminal.ts';

/** Input of a command. */
export interface Invocation {
  /** Arguments after the command's words. */
  readonly args: readonly string[];
  readonly values: OptionValues;
  readonly terminal: Terminal;
  /** Returns the address of the current box. Throws CliError if none is chosen. */
  readonly address: () => Promise<BoxAddress>;
  /** Returns the caller of the current box's endpoints, which signs in first. Throws CliError. */
  readonly box: () => Promise<BoxClient>;
  readonly state: State;
  readonly environment: Environment;
  /** Prints a result, by default in the format that the command names. */
  readonly print: (value: unknown, otherwise: Format, columns: readonly Column[]) => Promise<void>;
  /** Prints the record that was created or changed in the format of --output; without that option, the sentence. */
  readonly confirm: (sentence: string, record: unknown, columns: readonly Column[]) => Promise<void>;
}

/** An option of a command. */
export interface CommandOption {
  readonly type: 'string' | 'boolean';
  readonly multiple?: boolean;
  /** One letter that stands for it: `-o`. */
  readonly short?: string;
  /** The value in a help text: `<email>`. */
  readonly value?: string;
  readonly summary: string;
}

/** A command of boxctl. */
export interface Command {
  /** Words that name it: `user new`. */
  readonly name: string;
  /** Its arguments in a help text. */
  readonly synopsis?: string;
  readonly summary: string;
  readonly examples: readonly string[];
  readonly options?: Readonly<Record<string, CommandOption>>;
  /** Forms of --output besides the common ones, which the command writes itself. */
  readonly formats?: readonly string[];
  /** Common forms of --output that the command does not have. */
  readonly withoutFormats?: readonly Format[];
  /** True if it prints no record: it has no --output then. */
  readonly hasNoRecord?: boolean;
  /** Least and most arguments after the words. */
  readonly arguments: readonly [least: number, most: number];
  /** True if a token that was requested for the command stays valid after it. */
  readonly keepsToken?: boolean;
  /** Carries it out. Throws CliError. */
  readonly run: (invocation: Invocation) => Promise<void>;
}

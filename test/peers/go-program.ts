import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { goPeerFile } from '../../tools/needs/go-peers.ts';
import type { GoPeer } from '../../tools/needs/go-peers.ts';

/** A program in Go that trusts the certificate of a box. */
export interface GoProgram {
  /** Lines of its standard output, each as it comes. */
  readonly lines: AsyncIterator<string, undefined>;
  /** Lines of its standard error so far. */
  readonly said: readonly string[];
  readonly hasEnded: () => boolean;
  write(line: string): void;
  stop(): Promise<void>;
}

/** Starts a Go program of the tests. Throws where `make needs` has not built it. */
export function startGoProgram(
  peer: GoPeer,
  parameters: readonly string[],
  { ca, ...variables }: Readonly<Record<string, string>> & { readonly ca: string },
): GoProgram {
  const program = goPeerFile(peer, process.env);
  if (!existsSync(program)) throw new Error(`no ${peer.name}: run make needs`);
  const folder = mkdtempSync(path.join(tmpdir(), `boxgate-${peer.name}-`));
  const trusted = path.join(folder, 'ca.pem');
  writeFileSync(trusted, ca);
  const env = { PATH: process.env['PATH'], HOME: folder, SSL_CERT_FILE: trusted, ...variables };
  const child = spawn(program, parameters, { stdio: 'pipe', env });
  const ended = once(child, 'exit');
  const said: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => said.push(line));
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  return {
    lines: createInterface({ input: child.stdout })[Symbol.asyncIterator](),
    said,
    hasEnded,
    write: (line) => child.stdin.write(`${line}\n`),
    async stop() {
      if (!hasEnded()) {
        child.kill('SIGTERM');
        await ended;
      }
      rmSync(folder, { recursive: true });
    },
  };
}

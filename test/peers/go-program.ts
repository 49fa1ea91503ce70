import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { goPeerFile } from '../../tools/needs/go-peers.ts';
import type { GoPeer } from '../../tools/needs/go-peers.ts';
import { startChild } from '../support/child-program.ts';
import type { ChildProgram } from '../support/child-program.ts';

/** A program in Go that trusts the certificate of a box. */
export interface GoProgram extends ChildProgram {
  /** Lines of its standard output, each as it comes. */
  readonly lines: AsyncIterator<string, undefined>;
}

/** Starts a Go program of the tests. Throws if `make needs` has not built it. */
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
  const child = startChild(program, parameters, { env: { HOME: folder, SSL_CERT_FILE: trusted, ...variables } });
  return {
    ...child,
    lines: createInterface({ input: child.output })[Symbol.asyncIterator](),
    async stop() {
      await child.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

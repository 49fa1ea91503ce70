import { expect } from 'chai';
import { Readable } from 'node:stream';
import { lines } from '../../../../operator/kube/client/watch.ts';

/** The lines of a stream that comes in these parts. */
async function linesOf(parts: Iterable<string | Buffer>): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const line of lines(Readable.from([...parts].map((part) => Buffer.from(part))), 60_000)) {
    found.push(line.toString());
  }
  return found;
}

const failure = (parts: Iterable<string>): Promise<unknown> => linesOf(parts).catch((error: unknown) => error);

describe('lines of a watch', () => {
  it('are put together from parts, also where a part ends within a line, a sign or at its end', async () => {
    expect(await linesOf(['one\ntwo\n', 'th', 're', 'e\n\nfour', '\n'])).to.deep.equal(['one', 'two', 'three', 'four']);
    const bytes = Buffer.from('grün\nblau\n');
    expect(await linesOf(Array.from(bytes, (byte) => Buffer.from([byte])))).to.deep.equal(['grün', 'blau']);
  });

  it('are refused where the last one has no end, or one is longer than any object', async () => {
    expect(String(await failure(['one\ntw', 'o']))).to.contain('ended within a line');
    const part = 'x'.repeat(2 ** 20);
    expect(String(await failure(Array.from({ length: 17 }, () => part)))).to.contain('a line of a watch has no end');
  });

  it('R-53 cost about as much where one has many parts: what was searched is not searched again', async () => {
    const part = 'x'.repeat(2_047);
    const parts = (end: string): readonly string[] => Array.from({ length: 4_000 }, () => part + end);
    const cpu = async (stream: readonly string[], count: number): Promise<number> => {
      const began = process.cpuUsage();
      expect(await linesOf(stream)).to.have.length(count);
      const { user, system } = process.cpuUsage(began);
      return user + system;
    };
    const many = await cpu(parts('\n'), 4_000);
    const one = await cpu([...parts('x'), '\n'], 1);
    // Searched again with each of 4,000 parts, the line costs a hundred times as much.
    expect(one / many, 'processor time, compared with as many bytes in short lines').to.be.below(20);
  });
});

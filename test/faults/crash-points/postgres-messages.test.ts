import { expect } from 'chai';
import { messageReader, statementIn } from './postgres-messages.ts';

function message(letter: string, body: string): Buffer {
  const bytes = Buffer.from(`${letter}....${body}`, 'latin1');
  bytes.writeInt32BE(bytes.length - letter.length, letter.length);
  return bytes;
}

describe('messages of Postgres', () => {
  it('are read however their bytes come', () => {
    const all = Buffer.concat([message('', 'startup'), message('Q', 'SELECT 1\0'), message('P', 'name\0SELECT 2\0\0')]);
    for (const size of [1, 7, all.length]) {
      const read = messageReader('client');
      const found = Array.from({ length: Math.ceil(all.length / size) }, (_, nth) =>
        read(all.subarray(nth * size, (nth + 1) * size)),
      ).flat();
      expect(found.map(({ letter }) => letter)).to.deep.equal(['', 'Q', 'P']);
      expect(found.map(statementIn)).to.deep.equal([undefined, 'SELECT 1', 'SELECT 2']);
    }
  });
});

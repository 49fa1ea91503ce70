import { expect } from 'chai';
import { messageReader, statementReader } from './postgres-messages.ts';

function message(letter: string, body: string): Buffer {
  const bytes = Buffer.from(`${letter}....${body}`, 'latin1');
  bytes.writeInt32BE(bytes.length - letter.length, letter.length);
  return bytes;
}

describe('messages of Postgres', () => {
  it('are read however their bytes come', () => {
    const sent: readonly [letter: string, body: string, statement?: string][] = [
      ['', 'startup'],
      ['Q', 'SELECT 1\0', 'SELECT 1'],
      ['P', 'name\0SELECT 2\0\0'],
      ['B', '\0name\0', 'SELECT 2'],
      ['P', '\0SELECT 3\0\0'],
      ['B', '\0\0', 'SELECT 3'],
      ['S', ''],
      // A statement that was prepared is sent by its name alone.
      ['B', '\0name\0', 'SELECT 2'],
    ];
    const all = Buffer.concat(sent.map(([letter, body]) => message(letter, body)));
    for (const size of [1, 7, all.length]) {
      const read = messageReader('client');
      const found = Array.from({ length: Math.ceil(all.length / size) }, (_, nth) =>
        read(all.subarray(nth * size, (nth + 1) * size)),
      ).flat();
      expect(found.map(({ letter }) => letter)).to.deep.equal(sent.map(([letter]) => letter));
      expect(found.map(statementReader())).to.deep.equal(sent.map(([, , statement]) => statement));
    }
  });
});

import { expect } from 'chai';
import { createServer } from 'node:http';
import { connectionLimit, logRefusedConnections, openFilesLimit } from '../../../api/http/server/server.ts';
import { createLog } from '../../../program/log.ts';

describe('the number of connections', () => {
  it('leaves files for Postgres and probes, and is 20,000 where there are enough', () => {
    expect(connectionLimit(256, 4)).to.equal(140);
    expect(connectionLimit(1_048_576, 100)).to.equal(20_000);
    expect(connectionLimit(Infinity, 4)).to.equal(20_000);
    expect(connectionLimit(20, 4), 'one caller at a time is better than none').to.equal(1);
  });

  it('is derived from what the system allows', () => {
    expect(openFilesLimit()).to.be.above(0);
  });

  it('is in the log with those that were refused, once a minute', () => {
    const lines: string[] = [];
    const log = createLog('info', { write: (line) => lines.push(line) });
    const server = createServer();
    server.maxConnections = 7;
    let now = 0;
    logRefusedConnections(server, log, () => now);
    for (const at of [0, 1, 59_999, 60_000, 60_001]) {
      now = at;
      server.emit('drop');
    }
    expect(lines.map((line) => /"refused":(\d+),"limit":(\d+)/.exec(line)?.slice(1))).to.deep.equal([
      ['1', '7'],
      ['3', '7'],
    ]);
  });
});

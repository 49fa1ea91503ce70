import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { whileLocked } from '../../api/cli/state-file.ts';

describe('the lock of the state of boxctl', () => {
  let folder = '';
  let killed = 0;

  before(async () => {
    const child = spawn(process.execPath, ['--eval', '']);
    killed = child.pid ?? 0;
    await once(child, 'exit');
  });
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'boxctl-lock-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is held by one run at a time, also after one that was killed', async () => {
    const lock = path.join(folder, 'state.json.lock');
    let holding = 0;
    let most = 0;
    const run = (): Promise<void> =>
      whileLocked(lock, async () => {
        holding += 1;
        most = Math.max(most, holding);
        await pause(2);
        holding -= 1;
      });
    for (let round = 0; round < 12; round += 1) {
      writeFileSync(lock, String(killed));
      await Promise.all(Array.from({ length: 12 }, (_, nth) => pause(nth).then(run)));
    }
    expect(most).to.equal(1);
    expect(readdirSync(folder)).to.deep.equal([]);
  });
});

import { expect } from 'chai';
import { homedir } from 'node:os';
import path from 'node:path';
import { cacheFolder } from '../../tools/cache-folder.ts';

describe('the cache of the tools', () => {
  for (const [environment, root] of [
    [{ XDG_CACHE_HOME: '/var/cache/own' }, '/var/cache/own'],
    [{ XDG_CACHE_HOME: '' }, path.join(homedir(), '.cache')],
    [{}, path.join(homedir(), '.cache')],
  ] as const) {
    it(`is a folder in ${root} with ${JSON.stringify(environment)}`, () => {
      expect(cacheFolder(environment)).to.equal(path.join(root, 'boxgate'));
    });
  }
});

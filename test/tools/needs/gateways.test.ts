import { expect } from 'chai';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findGateway, gateways, obtainGateway, pooler } from '../../../tools/needs/gateways.ts';

for (const gateway of [...Object.values(gateways), pooler]) {
  const { title, variable } = gateway;
  const [name] = gateway.names;

  describe(`the ${title} of the tests`, () => {
    let folder = '';

    beforeEach(() => {
      folder = mkdtempSync(path.join(tmpdir(), 'boxgate-needs-'));
    });
    afterEach(() => {
      rmSync(folder, { recursive: true });
    });

    function program(...parts: readonly string[]): string {
      const file = path.join(folder, ...parts);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, '');
      chmodSync(file, 0o755);
      return file;
    }

    it(`is the one that ${variable} names, and no other`, () => {
      const onPath = program(name);
      const named = program('own', name);
      expect(findGateway(gateway, { PATH: folder, [variable]: named })).to.equal(named);
      expect(findGateway(gateway, { PATH: folder, [variable]: '/nowhere/program' })).to.equal(undefined);
      expect(findGateway(gateway, { PATH: folder })).to.equal(onPath);
    });

    it('is left alone where it is there', async () => {
      const told: string[] = [];
      await obtainGateway(gateway, { PATH: folder, [variable]: program(name) }, (line) => told.push(line));
      expect(told).to.deep.equal([]);
    });
  });
}

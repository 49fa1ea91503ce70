import { expect } from 'chai';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startControlPlane, type ControlPlane } from '../support/cluster/control-plane.ts';
import { findPrograms } from '../../tools/envtest/find-programs.ts';
import { startApiProcess, type ApiProcess } from '../support/api-process.ts';
import { operatorNamespace, startOperatorProcess, type OperatorProcess } from '../support/operator-process.ts';
import { freshDatabase, type TestDatabase } from '../support/postgres.ts';
import { isAsPrinted, runBlocks, shellBlocks, type ShellBlock } from './shell-page.ts';

const written = shellBlocks(readFileSync('docs/guides/kubernetes.md', 'utf8'));
/** The block that installs the chart needs pods: the stories of test/e2e run it with the names of their image. */
const chartBlock = 'make image\nkind load docker-image boxgate:dev\nhelm upgrade --install boxgate charts/boxgate ';
/**
 * The manifest made from the chart needs pods as well: test/charts/api-server.test.ts lets an API server validate it.
 */
const manifestBlock = 'make static ';
/** The way to the API from outside, and from a pod: the stories of test/e2e run these two. */
const reaching = ['kubectl port-forward ', 'curl --silent --show-error --fail-with-body --user "$(cat '];
const isRunElsewhere = ({ commands }: ShellBlock): boolean =>
  [chartBlock, manifestBlock, ...reaching].some((start) => commands.startsWith(start));
const blocks = written.filter((block) => !isRunElsewhere(block));
/** Those of the chapter Install: before the programs run. */
const installing = 2;

describe('docs/guides/kubernetes.md, from an empty cluster', () => {
  const outputs: string[] = [];
  let plane: ControlPlane;
  let database: TestDatabase;
  let api: ApiProcess;
  let operator: OperatorProcess;
  let folder: string;
  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'boxgate-page-'));
    symlinkSync(findPrograms().kubectl, path.join(folder, 'kubectl'));
    [plane, database] = await Promise.all([startControlPlane(), freshDatabase()]);
    const environment = {
      PATH: `${folder}:${process.env['PATH'] ?? ''}`,
      KUBECONFIG: plane.kubeconfig,
      HOME: folder,
    };
    outputs.push(...(await runBlocks(blocks.slice(0, installing), environment)));
    api = await startApiProcess(database.apiUrl);
    const { access } = await plane.accountFor(operatorNamespace, 'boxgate-operator');
    operator = await startOperatorProcess({ access, api });
    const reachable = { ...environment, box: `${api.url}/boxes/bookshop` };
    outputs.push(...(await runBlocks(blocks.slice(installing), reachable)));
  });
  after(async () => {
    await operator.end('SIGKILL');
    await api.end('SIGKILL');
    await Promise.all([plane.stop(), database.drop()]);
    rmSync(folder, { recursive: true, force: true });
  });

  for (const [nth, { commands, printed }] of blocks.entries()) {
    it(`prints what stands below: ${commands.split('\n')[0] ?? ''}`, () => {
      const output = outputs[nth] ?? expect.fail('was not run');
      if (printed !== undefined && !isAsPrinted(printed, output)) expect(output).to.equal(printed);
    });
  }

  it('begins with the chart, and its manifest', () => {
    expect(written.slice(0, 2).every(isRunElsewhere)).to.equal(true);
    expect(written.indexOf(blocks[0] ?? expect.fail('no block'))).to.equal(2);
  });

  it('has commands, and says what most of them print', () => {
    expect(blocks).to.have.length.greaterThan(10);
    expect(blocks.filter(({ printed }) => printed !== undefined).length).to.be.greaterThan(blocks.length - 3);
  });
});

describe('what a page says is printed', () => {
  const rows: [expected: string, text: string, same: boolean][] = [
    ['a  b', 'a b', true],
    ['a b', 'a c', false],
    ['a …', 'a anything at all', true],
    ['a …', 'b', false],
    ['a\n…\nb', 'a\nx\ny\nb', true],
    ['a\n…\nb', 'a\nx\ny', false],
    ['a', 'a\nb', false],
    ['1.5', '1x5', false],
  ];
  for (const [expected, text, same] of rows) {
    it(`${JSON.stringify(expected)} ${same ? 'is' : 'is not'} ${JSON.stringify(text)}`, () => {
      expect(isAsPrinted(expected, text)).to.equal(same);
    });
  }
});

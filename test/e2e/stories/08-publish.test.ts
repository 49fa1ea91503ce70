import { expect } from 'chai';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isList, isObject, parseJson } from '../../../crds/path.ts';
import { goPeerFile, obtainGoPeers, publishingPrograms } from '../../../tools/needs/go-peers.ts';
import { startChild, type ChildProgram } from '../../support/child-program.ts';
import { eventually } from '../../support/eventually.ts';
import { textAt, valueAt } from '../kubectl.ts';
import { runCommand } from '../run-command.ts';
import { report, timed } from '../timed.ts';

const version = '0.0.0-e2e';

describe('make publish', () => {
  const crane = goPeerFile(publishingPrograms.crane, process.env);
  const oras = goPeerFile(publishingPrograms.oras, process.env);
  const cosign = goPeerFile(publishingPrograms.cosign, process.env);
  /** A key is encrypted with a password, here with none. */
  const env = { ORAS: oras, COSIGN: cosign, COSIGN_PASSWORD: '' };
  let folder: string;
  let program: ChildProgram;
  let registry: string;
  before(async () => {
    await obtainGoPeers(Object.values(publishingPrograms), process.env, (line) => report('publish', line));
    folder = mkdtempSync(path.join(tmpdir(), 'boxgate-e2e-publish-'));
    program = startChild(crane, ['registry', 'serve', '--address', '127.0.0.1:0', '--disk', folder], {});
    const port = (): string | undefined => /serving on port (\d+)/.exec(program.said())?.[1];
    await eventually('the registry serves', () => port() !== undefined);
    registry = `127.0.0.1:${port() ?? ''}/boxgate-test`;
    await newKey('release');
    const publish = ['publish', `REGISTRY=${registry}`, `VERSION=${version}`, `SIGN=${keyFile('release.key')}`];
    await timed('make publish', () => runCommand('make', publish, { env, timeout: 900_000 }));
  });
  after(async () => {
    const image = `${registry}/boxgate:${version}`;
    await runCommand('docker', ['image', 'rm', '--force', image]);
    await program.stop();
    rmSync(folder, { recursive: true });
  });

  const keyFile = (name: string): string => path.join(folder, name);
  const newKey = (name: string): Promise<string> =>
    runCommand(cosign, ['generate-key-pair', '--output-key-prefix', keyFile(name)], { env });

  it('signs the image and the chart', async () => {
    await newKey('another');
    const verify = (key: string, subject: string): Promise<string> => {
      // A signature with a key is in the registry alone.
      const options = ['--insecure-ignore-tlog=true', '--allow-http-registry'];
      return runCommand(cosign, ['verify', '--key', keyFile(key), ...options, subject], { env });
    };
    for (const name of ['boxgate', 'charts/boxgate']) {
      const subject = `${registry}/${name}:${version}`;
      expect(await verify('release.pub', subject)).to.contain('"docker-manifest-digest":"sha256:');
      const refusal = await verify('another.pub', subject).then(String, String);
      expect(refusal).to.contain('no matching signatures');
    }
  });

  it('pushes an image that runs, with its version', async () => {
    const image = `${registry}/boxgate:${version}`;
    await runCommand('docker', ['image', 'rm', '--force', image]);
    await runCommand('docker', ['pull', '--quiet', image]);
    const label = '{{index .Config.Labels "org.opencontainers.image.version"}}';
    expect((await runCommand('docker', ['image', 'inspect', '--format', label, image])).trim()).to.equal(version);
    const usage = await runCommand('docker', ['run', '--rm', '--network', 'none', image, '--help']);
    expect(usage).to.contain('boxgate operator');
  });

  it('attaches the SBOM of the packages in it', async () => {
    const image = `${registry}/boxgate:${version}`;
    const discovered = parseJson(await runCommand(oras, ['discover', '--plain-http', '--format', 'json', image]));
    const referrers = isObject(discovered) ? discovered['referrers'] : undefined;
    const [sbom, ...others] = isList(referrers) ? referrers : [];
    expect(others).to.deep.equal([]);
    expect(textAt(sbom, 'artifactType')).to.equal('application/vnd.cyclonedx+json');
    await runCommand(oras, ['pull', '--plain-http', '--output', folder, textAt(sbom, 'reference') ?? '']);
    const found = parseJson(readFileSync(path.join(folder, `boxgate-${version}.cdx.json`), 'utf8'));
    expect(textAt(found, 'bomFormat')).to.equal('CycloneDX');
    const components = valueAt(found, 'components');
    const names = (isList(components) ? components : []).map((component) => textAt(component, 'name'));
    expect(names).to.include('express').and.include('pg').and.not.include('mocha');
  });

  it('pushes a chart that installs that image', async () => {
    const chart = [`oci://${registry}/charts/boxgate`, '--plain-http', '--version', version];
    const manifests = await runCommand('helm', ['template', 'boxgate', ...chart, '--kube-version', '1.34.0']);
    const images = [...manifests.matchAll(/image: "?([^"\s]*boxgate[^"\s]*)"?$/gm)].map(([, image = '']) => image);
    expect([...new Set(images)]).to.deep.equal([`${registry}/boxgate:${version}`]);
  });
});

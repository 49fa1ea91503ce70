import { isObject } from '../../crds/path.ts';
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { readYaml } from '../../api/http/formats/read-yaml.ts';
import { manifestBody, parseManifests } from '../../api/client/manifest/manifest-file.ts';
import { findPrograms } from '../../tools/envtest/find-programs.ts';

/** Words without quotes, as people write them by intention or by mistake. */
const words = [
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'on', 'On', 'ON', 'true', 'True', 'TRUE'],
  ...['n', 'N', 'no', 'No', 'NO', 'off', 'Off', 'OFF', 'false', 'False', 'FALSE'],
  ...['yEs', 'tRUE', 'oN', 'nO', 'ye', 'none', '"no"', "'yes'", '~', 'null', 'Null', 'NULL', 'nULL'],
  ...['0', '7', '+7', '-7', '007', '0123', '-017', '089', '00', '0o17', '0x1F', '0X1f', '0b11', '-0b11', '0b12'],
  ...['1_000', '1__0', '_1', '0_1', '0x_1', '0o_7', '1e3', '1e', '.5', '._5', '.1e2', '1.', '+.5', '1_0.5', '1.2.3'],
  ...['1:30', '12:30:45', '2026-01-31', '2026-01-31T00:00:00Z', '10.0.0.1', '720h', '-', '+', '.', '1-2', '0x', '1e5x'],
];
const names = ['y', 'N', 'on', 'Off', 'yes', 'true', '010', '7', '"no"', '2026-01-31', 'app', '0x1F'];

const text = `apiVersion: boxgate.dev/v1
kind: Client
metadata: {name: app}
spec:
  words:
${words.map((word) => `    - ${word}\n`).join('')}  names:
${names.map((name) => `    - ${name}: 1\n`).join('')}`;

/** Returns the spec as kubectl sends it to the API server. */
function readByKubectl(): unknown {
  const options = ['label', '--local', '--dry-run=client', '-f', '-', 'a=b', '-o', 'json'];
  const json = execFileSync(findPrograms().kubectl, options, { input: text, encoding: 'utf8' });
  const object: unknown = JSON.parse(json);
  return isObject(object) ? object['spec'] : undefined;
}

describe('R-21: a word without quotes', () => {
  it('R-21: means in a folder what it means to kubectl', () => {
    const file = parseManifests(text);
    if (!file.ok) throw new Error(file.fault.message);
    const [object] = file.objects;
    expect(object && manifestBody(object, object.json))
      .to.have.property('spec')
      .that.deep.equals(readByKubectl());
  });

  it('R-21, R-46: means over REST what it means to kubectl', () => {
    expect(readYaml(text)).to.have.property('spec').that.deep.equals(readByKubectl());
  });

  it('R-46: makes no secret, in a folder as over REST', () => {
    for (const word of ['yes', '0123', '1e3']) {
      const secret = `apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: ${word}}\n`;
      const file = parseManifests(secret);
      expect(file.ok ? '' : file.fault.message, word).to.equal('stringData.a must be a string: quote it');
      expect(() => readYaml(`secret: ${word}`), word).to.throw('secret must be a string: quote it');
    }
    expect(readYaml('secret: 2026-01-31')).to.deep.equal({ secret: '2026-01-31' });
  });

  it('R-21: makes no label of a Secret, as kubectl refuses it', () => {
    const file = parseManifests(
      'apiVersion: v1\nkind: Secret\nmetadata: {name: s, labels: {boxgate.dev/client-secret: true}}\n',
    );
    expect(file.ok ? '' : file.fault.message).to.equal(
      'metadata.labels.boxgate.dev/client-secret must be a string: quote it',
    );
  });
});

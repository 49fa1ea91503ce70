import { expect } from 'chai';
import { lineOfField } from '../../../dev/folder/source.ts';

const text = `# a comment
apiVersion: boxgate.dev/v1
kind: Client
metadata:
  name: app
spec:
  grant_types:
    - client_credentials
    - everything
  details:
    "a b": 1
---
kind: AccessPolicy
spec:
  link:
    - { id: a }
`;

const cases: [line: number, field: string, expected: number][] = [
  [2, 'spec', 7],
  [2, 'spec.grant_types', 8],
  [2, 'spec.grant_types[1]', 9],
  [2, 'spec.details["a b"]', 11],
  [2, 'spec.grant_types[7]', 8],
  [2, 'spec.not.there', 7],
  [2, 'kind', 3],
  [2, 'nothing', 2],
  [13, 'spec.link[0].id', 16],
  [99, 'spec', 99],
];

describe('lineOfField', () => {
  for (const [line, field, expected] of cases) {
    it(`finds ${field} of the object at line ${String(line)} in line ${String(expected)}`, () => {
      expect(lineOfField(text, line, field)).to.equal(expected);
    });
  }

  it('gives the line of the object when the text is no YAML any more', () => {
    expect(lineOfField('a: [', 1, 'spec')).to.equal(1);
  });
});

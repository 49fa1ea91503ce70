import { PassThrough, Readable } from 'node:stream';
import { expect } from 'chai';
import { CliError } from '../../../api/cli/cli-error.ts';
import { documentOf } from '../../../api/cli/resource.ts';
import type { JsonObject } from '../../../crds/path.ts';

function read(content: string): Promise<JsonObject> {
  const terminal = {
    input: Readable.from([Buffer.from(content)]),
    output: new PassThrough(),
    messages: new PassThrough(),
  };
  return documentOf({ values: { file: '-' }, terminal });
}

async function refusalOf(content: string): Promise<string> {
  return read(content).then(
    () => 'none',
    (error: unknown) => (error instanceof CliError ? error.message : String(error)),
  );
}

describe('the document of --file', () => {
  const faults: Readonly<Record<string, readonly [content: string, line: number]>> = {
    'a second colon': ['name: a\nsecret: s3cr3t: part\n', 2],
    'an open quote': ['secret: "s3cr3t', 1],
    'an open brace': ['{"secret": "s3cr3t"', 1],
    'a text after the value': ['name: a\nsecret: "x" s3cr3t\n', 2],
    'an unknown tag': ['secret: !s3cr3t x', 1],
    'a header with more': ['name: a\nsecret: |s3cr3t\n', 2],
    'an escape sequence': ['secret: "\\Us3cr3t99"', 1],
    'an unknown directive': ['%s3cr3t\n---\nname: a\n', 1],
  };
  for (const [fault, [content, line]] of Object.entries(faults))
    it(`is refused with the line of ${fault}, and without the text there`, async () => {
      const message = await refusalOf(content);
      expect(message).to.match(new RegExp(`^standard input:${String(line)}: .`));
      expect(message).not.to.contain('s3cr3t');
    });

  it('means by unquoted words what the same words mean to kubectl', async () => {
    const content = 'active: yes\nname: "yes"\nauth: { client_credentials: { access_token_expiration: 0600 } }\n';
    expect(await read(content)).to.deep.equal({
      active: true,
      name: 'yes',
      auth: { client_credentials: { access_token_expiration: 384 } },
    });
  });

  for (const [what, content] of Object.entries({
    'no document': '',
    'a list': '- name: a\n',
    'two documents': 'name: a\n---\nname: b\n',
  }))
    it(`is refused if it is ${what}`, async () => {
      expect(await refusalOf(content)).to.equal('standard input must hold one object, as JSON or YAML');
    });
});

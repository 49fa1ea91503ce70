import { chmodSync, writeFileSync } from 'node:fs';

/** The options of curl that our pages and hints use. */
const text = `
const [settings, rest] = [{}, process.argv.slice(2)];
const headers = new Headers();
const fs = process.getBuiltinModule('fs');
const dataOf = (value) => (value === '@-' ? fs.readFileSync(0) : value[0] === '@' ? fs.readFileSync(value.slice(1)) : value);
const asked = () => fs.readFileSync(0, 'utf8').split('\\n')[0];
while (rest.length > 0) {
  const word = rest.shift();
  if (word === '-X') settings.method = rest.shift();
  else if (word === '-H') headers.append(...rest.shift().split(/: (.*)/s, 2));
  else if (word === '-d' || word === '--data-binary') settings.body = dataOf(rest.shift());
  else if (['-s', '-sS', '--fail-with-body'].includes(word)) continue;
  else if (word === '-i') settings.isWithStatus = true;
  else if (word === '-u') {
    const user = rest.shift();
    const account = user.includes(':') ? user : \`\${user}:\${asked()}\`;
    headers.set('Authorization', 'Basic ' + Buffer.from(account).toString('base64'));
  } else settings.url = word;
}
if (settings.body !== undefined && !headers.has('Content-Type')) headers.set('Content-Type', 'application/x-www-form-urlencoded');
const method = settings.method ?? (settings.body === undefined ? 'GET' : 'POST');
const told = async (answer) => {
  const status = 'HTTP/1.1 ' + answer.status + ' ' + answer.statusText;
  return (settings.isWithStatus ? status + '\\n\\n' : '') + (await answer.text());
};
fetch(settings.url, { method, headers, body: settings.body }).then(told).then(console.log);
`;

/**
 * Writes a program that does what curl does, for machines that have none; it runs on a Node.js that its user can reach.
 */
export function writeCurlStandIn(file: string, node = process.execPath): void {
  writeFileSync(file, `#!${node}${text}`);
  chmodSync(file, 0o755);
}

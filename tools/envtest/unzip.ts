import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { inflateRawSync } from 'node:zlib';

/** Signatures of the records of a ZIP archive (APPNOTE 6.3 §4.3). */
const END = 0x06_05_4b_50;
const ENTRY = 0x02_01_4b_50;

/** Places in the end record, and in the entry of a file in the directory. */
const end = { length: 22, entries: 10, directory: 16 } as const;
const entry = { length: 46, method: 10, packed: 20, name: 28, extra: 30, comment: 32, local: 42 } as const;
/** Places in the header that stands before the bytes of a file. */
const local = { length: 30, name: 26, extra: 28 } as const;

const STORED = 0;
const DEFLATED = 8;

/** A file of an archive. */
interface Entry {
  readonly name: string;
  readonly bytes: () => Buffer;
}

/**
 * Unpacks the files below a prefix of a ZIP archive into a folder, without the prefix; those that `isProgram` names can
 * be run. Throws for what is no archive, and for a name that leads out of the folder.
 */
export async function unzip(
  archive: Buffer,
  folder: string,
  { prefix, isProgram }: { readonly prefix: string; readonly isProgram: (name: string) => boolean },
): Promise<void> {
  for (const { name, bytes } of entriesOf(archive)) {
    if (!name.startsWith(prefix) || name.endsWith('/')) continue;
    const below = name.slice(prefix.length);
    const file = path.join(folder, below);
    if (path.relative(folder, file).startsWith('..')) throw new Error(`the archive leads out of its folder: ${name}`);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, bytes());
    if (isProgram(below)) await chmod(file, 0o755);
  }
}

function* entriesOf(archive: Buffer): Generator<Entry> {
  const last = archive.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]));
  if (last < 0 || archive.readUInt32LE(last) !== END) throw new Error('the archive is no ZIP file');
  let at = archive.readUInt32LE(last + end.directory);
  for (let left = archive.readUInt16LE(last + end.entries); left > 0; left -= 1) {
    if (archive.readUInt32LE(at) !== ENTRY) throw new Error('the directory of the ZIP file is broken');
    const start = at;
    const nameEnd = start + entry.length + archive.readUInt16LE(start + entry.name);
    yield {
      name: archive.toString('utf8', start + entry.length, nameEnd),
      bytes: () => bytesOf(archive, start),
    };
    at = nameEnd + archive.readUInt16LE(start + entry.extra) + archive.readUInt16LE(start + entry.comment);
  }
}

function bytesOf(archive: Buffer, at: number): Buffer {
  const header = archive.readUInt32LE(at + entry.local);
  const begin =
    header + local.length + archive.readUInt16LE(header + local.name) + archive.readUInt16LE(header + local.extra);
  const packed = archive.subarray(begin, begin + archive.readUInt32LE(at + entry.packed));
  const method = archive.readUInt16LE(at + entry.method);
  if (method === STORED) return packed;
  if (method === DEFLATED) return inflateRawSync(packed);
  throw new Error(`the ZIP file is packed in a way that is not known: ${String(method)}`);
}

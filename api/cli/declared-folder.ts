import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { faultSentence } from '../../crds/fault.ts';
import { checkManifest } from '../../crds/manifest.ts';
import type { Manifest } from '../../crds/manifest-schema.ts';
import { rowIdOf, type Resource } from '../../crds/validate.ts';
import { plainText } from '../../program/text.ts';
import { lifecycleOf, needsSecret, resourceOf } from '../client/manifest/resource.ts';
import { manifestBody, parseManifests } from '../client/manifest/manifest-file.ts';
import type { ManifestObject, ManifestSecret } from '../client/manifest/manifest-file.ts';
import { reasonOf, walk } from '../client/manifest/walk.ts';
import type { PlannedObject } from '../schemas/plan.ts';
import { usageError } from './cli-error.ts';

/** An object as written in a file. */
interface WrittenObject extends ManifestObject {
  readonly file: string;
}

/**
 * Reads the objects of a box that the manifests in a folder, or in one file, declare, with the client secrets that are
 * there. A manifest without a namespace is one of the box. Throws CliError that names every fault with its file and
 * line.
 */
export function declaredObjects(folder: string, box: string): readonly PlannedObject[] {
  const written: WrittenObject[] = [];
  const secrets = new Map<string, ManifestSecret>();
  for (const file of manifestFiles(folder)) {
    const manifests = parseManifests(textOf(file), box);
    if (!manifests.ok) throw usageError(`${file}:${String(manifests.fault.line)}: ${manifests.fault.message}`);
    for (const object of manifests.objects) if (object.namespace === box) written.push({ ...object, file });
    for (const secret of manifests.secrets) if (secret.namespace === box) secrets.set(secret.name, secret);
  }
  if (written.length === 0) throw usageError(`no manifest in ${plainText(folder)} declares anything in the box ${box}`);
  const read = written.map((object) => plannedObject(object, secrets));
  const faults = read.flatMap((one) => ('faults' in one ? one.faults : []));
  if (faults.length > 0) throw usageError(`the manifests have faults:\n  ${faults.join('\n  ')}`);
  return read.flatMap((one) => ('faults' in one ? [] : [one]));
}

/** Returns the manifest files of a folder, or the file itself. Throws CliError. */
function manifestFiles(folder: string): readonly string[] {
  try {
    if (!statSync(folder).isDirectory()) return [folder];
    return [...walk(folder, '')].flatMap((found) => {
      if (found.type === 'closed') throw usageError(`${found.path} cannot be read: ${found.reason}`);
      return found.type === 'file' ? [path.normalize(found.path)] : [];
    });
  } catch (error) {
    if (error instanceof Error && 'code' in error)
      throw usageError(`${plainText(folder)} cannot be read: ${reasonOf(error)}`);
    throw error;
  }
}

/** Reads a file as UTF-8 text. Throws CliError. */
export function textOf(file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    const reason = error instanceof TypeError ? 'it is not UTF-8 text' : reasonOf(error);
    throw usageError(`${plainText(file)} cannot be read: ${reason}`);
  }
}

function plannedObject(
  object: WrittenObject,
  secrets: ReadonlyMap<string, ManifestSecret>,
): PlannedObject | { readonly faults: readonly string[] } {
  const checked = checkManifest(manifestBody(object, object.json));
  if (!checked.ok) {
    const place = `${object.file}:${String(object.line)}: ${object.kind} ${object.name}`;
    return { faults: checked.faults.map((fault) => plainText(`${place}: ${faultSentence(fault)}`)) };
  }
  const { manifest } = checked;
  const resource = withSecret(resourceOf(manifest, object.namespace), manifest, secrets);
  const { adopt, retain, purge } = lifecycleOf(manifest);
  return {
    kind: object.kind,
    id: rowIdOf(resource),
    name: object.name,
    ...(adopt === undefined ? {} : { adopt }),
    ...(retain ? { retain } : {}),
    ...(purge ? { purge } : {}),
    ...(manifest.spec.suspend === true ? { suspended: true as const } : {}),
    resource,
  };
}

/** Adds the secret of a client as far as the folder has it: null for a client that should have none. */
function withSecret(resource: Resource, manifest: Manifest, secrets: ReadonlyMap<string, ManifestSecret>): Resource {
  if (resource.resourceType !== 'Client' || manifest.kind !== 'Client') return resource;
  const { secret, secretRef, generateSecret } = manifest.spec;
  if (secret !== undefined) return { ...resource, secret };
  if (secretRef !== undefined) {
    const value = secrets.get(secretRef.name)?.entries.get(secretRef.key)?.reveal();
    return value === undefined ? resource : { ...resource, secret: value };
  }
  return generateSecret !== undefined || needsSecret(manifest.spec) ? resource : { ...resource, secret: null };
}

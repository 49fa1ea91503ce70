import { readFileSync } from 'node:fs';
import { LuaFactory } from 'wasmoon';
import { parse } from 'yaml';
import { isObject } from '../../../crds/path.ts';

/** Runs the health script of examples/argocd in a Lua interpreter, as Argo CD does: the object is the global `obj`. */
export async function argoHealth(object: unknown): Promise<{ readonly status: unknown; readonly message: unknown }> {
  const lua = await new LuaFactory().createEngine();
  try {
    const answer: unknown = await lua.doString(`obj = ${luaText(object)}\n${healthScript()}`);
    const { status, message } = isObject(answer) ? answer : {};
    return { status, message };
  } finally {
    lua.global.close();
  }
}

function healthScript(): string {
  const file: unknown = parse(readFileSync('examples/argocd/argocd-cm.yaml', 'utf8'));
  const data = isObject(file) && isObject(file['data']) ? file['data'] : {};
  const customizations: unknown = parse(String(data['resource.customizations']));
  const ours = isObject(customizations) ? customizations['boxgate.dev/*'] : undefined;
  if (!isObject(ours)) throw new Error('there is no script for boxgate.dev');
  return String(ours['health.lua']);
}

/** Returns a JSON value as an expression of Lua. */
function luaText(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map(luaText).join(',')}}`;
  if (isObject(value)) {
    return `{${Object.entries(value)
      .map(([key, member]) => `[${luaText(key)}]=${luaText(member)}`)
      .join(',')}}`;
  }
  if (typeof value === 'string') return `"${[...Buffer.from(value)].map((byte) => `\\x${hex(byte)}`).join('')}"`;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : 'nil';
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}

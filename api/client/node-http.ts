/**
 * Node's `http`. Not by `import`: its named exports load the whole of undici (WebSocket and others), 14 MB of
 * memory in each process that only sends requests (measured on Node 24).
 */
export const http = process.getBuiltinModule('node:http');

/** Node's `https`, in the same way; loaded when it is first used. */
export function https() {
  return process.getBuiltinModule('node:https');
}

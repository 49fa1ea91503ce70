/**
 * Node's `http`. Not by `import`: for its named exports that loads the whole of undici (WebSocket and others), 14 MB of
 * memory in each process that only wants to send a request (measured on Node 24).
 */
export const http = process.getBuiltinModule('node:http');

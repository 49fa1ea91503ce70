// A balancer of connections: each goes to the next of the ports in the arguments. What one costs that reads requests is
// not what the bench is about.
import { connect, createServer, type Socket } from 'node:net';

const ports = process.argv.slice(2).map(Number);
let opened = 0;

const server = createServer({ noDelay: true }, (caller) => {
  const port = ports[opened % ports.length];
  opened += 1;
  if (port === undefined) throw new Error('usage: balancer.ts <port>…');
  const replica = connect({ host: '127.0.0.1', port, noDelay: true });
  forward(caller, replica);
  forward(replica, caller);
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  process.stdout.write(`${JSON.stringify({ msg: 'listening', port })}\n`);
});
process.once('SIGTERM', () => process.exit(0));

function forward(from: Socket, to: Socket): void {
  from.pipe(to);
  from.on('error', () => to.destroy());
  from.on('close', () => to.destroy());
}

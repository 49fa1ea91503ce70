import express from 'express';

const folders = ['examples/web-and-api/spa', 'node_modules/oidc-client-ts/dist/browser'];
express()
  .use(folders.map((folder) => express.static(folder)))
  .listen(3001, '127.0.0.1');

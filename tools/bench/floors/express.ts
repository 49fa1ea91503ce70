// An express that does nothing: answers a constant.
import express from 'express';
import { announce } from './floor.ts';

const app = express();
app.post('/auth/token', (_request, response) => {
  response.json({ token_type: 'Bearer', access_token: 'constant' });
});
announce(app.listen(0, '127.0.0.1'));

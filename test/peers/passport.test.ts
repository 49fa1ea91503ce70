import { expect } from 'chai';
import express from 'express';
import type { RequestHandler } from 'express';
import session from 'express-session';
import passport from 'passport';
import { Strategy } from 'passport-openidconnect';
import type { Profile, VerifyCallback } from 'passport-openidconnect';
import { ann, withHttpsBox } from './https-box.ts';
import type { HttpsBox } from './https-box.ts';
import { newVisitor } from './visitor.ts';

const clientSecret = 'a secret of the client';

describe('an app with passport-openidconnect', () => {
  let box: HttpsBox;
  let app = '';

  withHttpsBox((started) => (box = started));
  before(async () => {
    app = await box.serve(createApp);
    const auth = { authorization_code: { redirect_uri: `${app}/callback` } };
    const more = { secret: clientSecret, id_token_claims: ['email'] };
    await box.api.declare('default', [
      { kind: 'Client', id: 'app', grant_types: ['authorization_code'], auth, ...more },
    ]);
  });

  function createApp(url: string): express.Express {
    const server = new passport.Passport();
    const { issuer } = box;
    const strategy = new Strategy(
      {
        issuer,
        authorizationURL: `${issuer}/auth/authorize`,
        tokenURL: `${issuer}/auth/token`,
        userInfoURL: `${issuer}/auth/userinfo`,
        clientID: 'app',
        clientSecret,
        callbackURL: `${url}/callback`,
        scope: ['email', 'profile'],
      },
      (_issuer: string, profile: Profile, done: VerifyCallback) => {
        done(null, profile);
      },
    );
    server.use(strategy);
    server.serializeUser((user, done) => {
      done(null, user);
    });
    server.deserializeUser((user: Express.User, done) => {
      done(null, user);
    });
    const routes = express();
    routes.use(session({ secret: 'of the app', resave: false, saveUninitialized: false }));
    routes.use(server.session());
    const authenticate = (options: passport.AuthenticateOptions = {}) =>
      handlerIn(server.authenticate('openidconnect', options));
    routes.get('/login', authenticate());
    routes.get('/callback', authenticate({ successRedirect: '/', failureMessage: true }));
    routes.get('/', (request, response) => void response.json(request.user ?? null));
    return routes;
  }

  it('signs a person in, and its session has the email', async () => {
    const visitor = newVisitor();
    expect((await visitor.visit(app)).text).to.equal('null');
    const page = await visitor.visit(`${app}/login`);
    expect([page.status, page.url.href], page.text).to.deep.equal([200, `${app}/`]);
    const profile: unknown = JSON.parse(page.text);
    expect(profile).to.include({ id: box.user });
    expect(profile).to.have.deep.property('emails', [{ value: ann.email }]);
    expect((await visitor.visit(app)).text).to.equal(page.text);
  });
});

/** Returns what `authenticate` of passport returns, whose types say nothing of it. */
function handlerIn(value: unknown): RequestHandler {
  if (!isHandler(value)) throw new TypeError('this is no request handler');
  return value;
}

function isHandler(value: unknown): value is RequestHandler {
  return typeof value === 'function';
}

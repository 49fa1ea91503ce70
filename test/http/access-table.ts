/** Callers, with bearer tokens for resources and client credentials for the OAuth endpoints. */
export const callers = [
  'nobody', //      no credentials at all
  'malformed', //   an Authorization header that is none
  'unknown', //     credentials that were never given out
  'bare', //        a client without a policy
  'reader', //      a client whose policy grants the reading of access policies and nothing else
  'other box', //   the other box's admin, who may do everything there
  'closed', //      the admin, its session closed
  'revoked', //     the admin, its session revoked
  'disabled', //    a client that may do everything, switched off
  'deleted', //     a client that might do everything, deleted
  'expired', //     the admin, its token over
  'admin', //       a client that may do everything
] as const;

/** One of {@link callers}. */
export type Caller = (typeof callers)[number];

/**
 * Statuses that each caller gets from each route, in the order of {@link callers}. They are declared by hand: the
 * answers of a new route are decided here, not measured.
 */
// prettier-ignore
export const accessTable: Readonly<Record<string, string>> = {
  //                                nobody malf unkn bare read othr clos revo disa dele expi admin
  'POST /auth/token':             '401   401  401  200  200  401  ---  ---  401  401  ---  200',
  'POST /auth/introspect':        '401   401  401  200  200  401  ---  ---  401  401  ---  200',
  'POST /auth/revoke':            '401   401  401  200  200  401  ---  ---  401  401  ---  200',

  // What a person let an app have: the token of a client is none of a person.
  'GET /auth/userinfo':           '401   401  401  403  403  401  401  401  401  401  401  403',
  'POST /auth/userinfo':          '401   401  401  403  403  401  401  401  401  401  401  403',

  // Anybody may read them.
  'GET /.well-known/oauth-authorization-server':
                                  '200   200  200  200  200  200  200  200  200  200  200  200',
  'GET /.well-known/openid-configuration':
                                  '200   200  200  200  200  200  200  200  200  200  200  200',
  'GET /.well-known/jwks.json':   '200   200  200  200  200  200  200  200  200  200  200  200',
  'GET /openapi.json':            '200   200  200  200  200  200  200  200  200  200  200  200',

  // Pages ask for the cookie of a browser: what programs show for themselves is nothing there.
  'GET /':                       '303  303  303  303  303  303  303  303  303  303  303  303',
  'GET /auth/authorize':         '303   303  303  303  303  303  303  303  303  303  303  303',
  'POST /auth/authorize':        '303   303  303  303  303  303  303  303  303  303  303  303',
  'GET /auth/signin':            '200   200  200  200  200  200  200  200  200  200  200  200',
  'POST /auth/signin':           '403   403  403  403  403  403  403  403  403  403  403  403',
  'GET /auth/signup':            '200   200  200  200  200  200  200  200  200  200  200  200',
  'POST /auth/signup':           '403   403  403  403  403  403  403  403  403  403  403  403',
  'GET /auth/consent':           '400   400  400  400  400  400  400  400  400  400  400  400',
  'POST /auth/consent':          '403   403  403  403  403  403  403  403  403  403  403  403',
  'GET /ui':                     '303   303  303  303  303  303  303  303  303  303  303  303',
  'GET /ui/':                    '200   200  200  200  200  200  200  200  200  200  200  200',
  'GET /ui/:file':               '200   200  200  200  200  200  200  200  200  200  200  200',
  'GET /auth/signout':           '200   200  200  200  200  200  200  200  200  200  200  200',
  'POST /auth/signout':          '403   403  403  403  403  403  403  403  403  403  403  403',
  'GET /auth/logout':            '200   200  200  200  200  200  200  200  200  200  200  200',
  'POST /auth/logout':           '200   200  200  200  200  200  200  200  200  200  200  200',

  // To close one's own session needs no policy.
  'DELETE /Session':              '401   401  401  200  200  401  401  401  401  401  401  200',

  // A person's own records, for the admin UI alone: nobody else may do it in their name, whatever the policies grant.
  'GET /account':                 '401   401  401  403  403  401  401  401  401  401  401  403',
  'DELETE /account/sessions/:session':
                                  '401   401  401  403  403  401  401  401  401  401  401  403',
  'DELETE /account/grants/:client':
                                  '401   401  401  403  403  401  401  401  401  401  401  403',
  'PUT /account/password':        '401   401  401  403  403  401  401  401  401  401  401  403',

  'POST /AccessPolicy/$explain':  '401   401  401  403  403  401  401  401  401  401  401  200',

  // The reader's policy is for the reading of access policies.
  'GET /AccessPolicy/$usage':     '401   401  401  403  200  401  401  401  401  401  401  200',
  'GET /AccessPolicy/$requests':  '401   401  401  403  200  401  401  401  401  401  401  200',
  'GET /Client/$usage':           '401   401  401  403  403  401  401  401  401  401  401  200',
  'GET /$export':                 '401   401  401  403  403  401  401  401  401  401  401  200',
  'POST /$plan':                  '401   401  401  403  403  401  401  401  401  401  401  200',

  'GET /Client':                  '401   401  401  403  403  401  401  401  401  401  401  200',
  'POST /Client':                 '401   401  401  403  403  401  401  401  401  401  401  201',
  'GET /Client/:id':              '401   401  401  403  403  401  401  401  401  401  401  200',
  'PUT /Client/:id':              '401   401  401  403  403  401  401  401  401  401  401  200',
  'PATCH /Client/:id':            '401   401  401  403  403  401  401  401  401  401  401  200',
  'DELETE /Client/:id':           '401   401  401  403  403  401  401  401  401  401  401  200',

  'GET /AccessPolicy':            '401   401  401  403  200  401  401  401  401  401  401  200',
  'POST /AccessPolicy':           '401   401  401  403  403  401  401  401  401  401  401  201',
  // Granted, but there is none of this id yet.
  'GET /AccessPolicy/:id':        '401   401  401  403  404  401  401  401  401  401  401  200',
  'PUT /AccessPolicy/:id':        '401   401  401  403  403  401  401  401  401  401  401  200',
  'PATCH /AccessPolicy/:id':      '401   401  401  403  403  401  401  401  401  401  401  200',
  'DELETE /AccessPolicy/:id':     '401   401  401  403  403  401  401  401  401  401  401  200',

  'GET /Session':                 '401   401  401  403  403  401  401  401  401  401  401  200',
  'GET /Session/:id':             '401   401  401  403  403  401  401  401  401  401  401  200',
  'PUT /Session/:id':             '401   401  401  403  403  401  401  401  401  401  401  200',
  'PATCH /Session/:id':           '401   401  401  403  403  401  401  401  401  401  401  200',
  'DELETE /Session/:id':          '401   401  401  403  403  401  401  401  401  401  401  200',

  'GET /Group':                   '401   401  401  403  403  401  401  401  401  401  401  200',
  'POST /Group':                  '401   401  401  403  403  401  401  401  401  401  401  201',
  'GET /Group/:id':               '401   401  401  403  403  401  401  401  401  401  401  200',
  'PUT /Group/:id':               '401   401  401  403  403  401  401  401  401  401  401  200',
  'PATCH /Group/:id':             '401   401  401  403  403  401  401  401  401  401  401  200',
  'DELETE /Group/:id':            '401   401  401  403  403  401  401  401  401  401  401  200',

  'GET /Grant':                   '401   401  401  403  403  401  401  401  401  401  401  200',
  'GET /Grant/:id':               '401   401  401  403  403  401  401  401  401  401  401  200',
  'DELETE /Grant/:id':            '401   401  401  403  403  401  401  401  401  401  401  200',
  'GET /AuditEvent':              '401   401  401  403  403  401  401  401  401  401  401  200',
  'GET /AuditEvent/:id':          '401   401  401  403  403  401  401  401  401  401  401  200',

  'GET /users':                   '401   401  401  403  403  401  401  401  401  401  401  200',
  'POST /users':                  '401   401  401  403  403  401  401  401  401  401  401  201',
  'GET /users/:id':               '401   401  401  403  403  401  401  401  401  401  401  200',
  'PUT /users/:id':               '401   401  401  403  403  401  401  401  401  401  401  200',
  'DELETE /users/:id':            '401   401  401  403  403  401  401  401  401  401  401  200',
};

/** Statuses that the admin gets for the id of a resource of the other box: it is neither shown nor changed. */
export const idsOfTheOtherBox: Readonly<Record<string, number>> = {
  'GET /Client/:id': 404,
  'PUT /Client/:id': 201,
  'PATCH /Client/:id': 404,
  'DELETE /Client/:id': 204,
  'GET /AccessPolicy/:id': 404,
  'PUT /AccessPolicy/:id': 201,
  'PATCH /AccessPolicy/:id': 404,
  'DELETE /AccessPolicy/:id': 204,
  'GET /Session/:id': 404,
  'PUT /Session/:id': 404,
  'PATCH /Session/:id': 404,
  'DELETE /Session/:id': 204,
  'GET /Group/:id': 404,
  'PUT /Group/:id': 404,
  'PATCH /Group/:id': 404,
  'DELETE /Group/:id': 204,
  'GET /Grant/:id': 404,
  'GET /AuditEvent/:id': 404,
  'DELETE /Grant/:id': 204,
  'GET /users/:id': 404,
  'PUT /users/:id': 404,
  'DELETE /users/:id': 404,
};

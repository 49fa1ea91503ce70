import { createHash } from 'node:crypto';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { cacheFolder } from '../../../tools/cache-folder.ts';
import { findCommand } from '../../../tools/needs/commands.ts';
import { runProgram } from '../../../tools/run-program.ts';
import { temporaryFolder } from '../../dev/temporary-folder.ts';
import { startChild, untilReady } from '../../support/child-program.ts';
import type { ChildProgram } from '../../support/child-program.ts';
import { ownPort } from '../../support/own-port.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/** An app in Python with settings of docs/guides/products.md. */
export interface PythonApp {
  /** Heading of its settings. */
  readonly heading: string;
  /** Its redirect URI below its URL. */
  readonly callback: string;
  /** Address that begins a sign-in, and the page afterwards, below its URL. */
  readonly signIn: string;
  readonly page: string;
  /** Name of its file. */
  readonly file: string;
  /** Returns its text with the blocks of the page. */
  readonly text: (blocks: readonly string[]) => string;
  /** Options of Python that start it. */
  readonly options: (port: string) => readonly string[];
}

/** Distributions of PyPI, with the releases that docs/guides/products.md names. */
const releases = [
  'Authlib==1.9.10',
  'Flask==3.1.3',
  'requests==2.34.2',
  'Django==5.2.19',
  'django-allauth[socialaccount]==65.22.1',
  'mozilla-django-oidc==5.0.2',
  'django-oauth-toolkit==3.4.1',
  'Flask-AppBuilder==5.3.0',
  'jupyterhub==6.1.1',
  'oauthenticator==17.4.0',
  'streamlit[auth]==1.67.0',
];

/** The start of a site of Django in one file. */
const django = `import os, sys
from django.conf import settings
from django.http import JsonResponse, HttpResponse
from django.urls import include, path
`;

/** Returns the rest of a site of Django in one file, with its apps, settings and addresses. */
function site(apps: readonly string[], options: string, urls: string): string {
  const own = ['auth', 'contenttypes', 'sessions', 'messages'].map((name) => `django.contrib.${name}`);
  return `settings.configure(
    DEBUG=True, SECRET_KEY='of the app', ALLOWED_HOSTS=['*'], ROOT_URLCONF='site_of_test', USE_TZ=True,
    DEFAULT_AUTO_FIELD='django.db.models.AutoField', LOGIN_REDIRECT_URL='/',
    DATABASES={'default': {'ENGINE': 'django.db.backends.sqlite3', 'NAME': 'site.sqlite'}},
    INSTALLED_APPS=${JSON.stringify([...own, ...apps])},
    TEMPLATES=[{'BACKEND': 'django.template.backends.django.DjangoTemplates', 'APP_DIRS': True,
                'OPTIONS': {'context_processors': ['django.template.context_processors.request']}}],
    ${options}
)
import django
django.setup()
${urls}
if __name__ == '__main__':
    sys.modules['site_of_test'] = sys.modules['__main__']
    from django.core.management import call_command
    call_command('migrate', verbosity=0)
    call_command('runserver', '127.0.0.1:' + sys.argv[1], '--noreload')
`;
}

const middleware = ['sessions.middleware.SessionMiddleware', 'auth.middleware.AuthenticationMiddleware'].map(
  (name) => `django.contrib.${name}`,
);
const withMessages = [...middleware, 'django.contrib.messages.middleware.MessageMiddleware'];
const whoAmI = `def home(request):
    user = request.user
    return JsonResponse({'email': user.email if user.is_authenticated else None})
`;

/** Apps that sign people in. */
export const pythonApps: readonly PythonApp[] = [
  {
    heading: 'Authlib',
    callback: '/callback',
    signIn: '/login',
    page: '/',
    file: 'app.py',
    text: ([register = '']) => `import os, sys
from authlib.integrations.flask_client import OAuth
from flask import Flask, jsonify, redirect, session
app = Flask(__name__)
app.secret_key = 'of the app'
oauth = OAuth(app)
${register}
@app.get('/login')
def login():
    return oauth.boxgate.authorize_redirect('http://localhost:' + sys.argv[1] + '/callback')
@app.get('/callback')
def callback():
    session['email'] = oauth.boxgate.authorize_access_token()['userinfo']['email']
    return redirect('/')
@app.get('/')
def home():
    return jsonify(email=session.get('email'))
app.run('127.0.0.1', int(sys.argv[1]))
`,
    options: (port) => ['app.py', port],
  },
  {
    heading: 'django-allauth',
    callback: '/accounts/oidc/boxgate/login/callback/',
    signIn: '/accounts/oidc/boxgate/login/',
    page: '/',
    file: 'app.py',
    text: ([providers = '']) =>
      `${django}${providers}${site(
        ['allauth', 'allauth.account', 'allauth.socialaccount', 'allauth.socialaccount.providers.openid_connect'],
        `SOCIALACCOUNT_PROVIDERS=SOCIALACCOUNT_PROVIDERS, SOCIALACCOUNT_LOGIN_ON_GET=True,
    AUTHENTICATION_BACKENDS=['allauth.account.auth_backends.AuthenticationBackend'],
    MIDDLEWARE=${JSON.stringify([...withMessages, 'allauth.account.middleware.AccountMiddleware'])},`,
        `${whoAmI}urlpatterns = [path('accounts/', include('allauth.urls')), path('', home)]`,
      )}`,
    options: (port) => ['app.py', port],
  },
  {
    heading: 'mozilla-django-oidc',
    callback: '/oidc/callback/',
    signIn: '/oidc/authenticate/',
    page: '/',
    file: 'app.py',
    text: ([names = '', backend = '']) =>
      `${django}${names}${site(
        ['mozilla_django_oidc'],
        `AUTHENTICATION_BACKENDS=['site_of_test.Backend'], LOGIN_REDIRECT_URL_FAILURE='/',
    MIDDLEWARE=${JSON.stringify(middleware)},
    **{name: value for name, value in globals().items() if name.startswith('OIDC_')},`,
        `from mozilla_django_oidc.auth import OIDCAuthenticationBackend
${backend}
${whoAmI}urlpatterns = [path('oidc/', include('mozilla_django_oidc.urls')), path('', home)]`,
      )}`,
    options: (port) => ['app.py', port],
  },
  {
    heading: 'Flask-AppBuilder',
    callback: '/oauth-authorized/auth0',
    signIn: '/login/auth0',
    page: '/me',
    file: 'app.py',
    text: ([configuration = '']) => `import os, sys
from flask import Flask, g, jsonify
from flask_appbuilder import AppBuilder
from flask_appbuilder.security.manager import AUTH_OAUTH
from flask_appbuilder.utils.legacy import get_sqla_class
app = Flask(__name__)
SECRET_KEY = 'of the app'
SQLALCHEMY_DATABASE_URI = 'sqlite:///' + os.path.abspath('app.sqlite')
${configuration}
app.config.from_object(sys.modules[__name__])
db = get_sqla_class()()
db.init_app(app)
with app.app_context():
    AppBuilder(app, db.session)
@app.get('/me')
def me():
    user = g.user
    known = user.is_authenticated
    return jsonify(email=user.email if known else None, roles=[role.name for role in user.roles] if known else [])
app.run('localhost', int(sys.argv[1]))
`,
    options: (port) => ['app.py', port],
  },
  {
    heading: 'JupyterHub',
    callback: '/hub/oauth_callback',
    signIn: '/hub/oauth_login',
    page: '/hub/home',
    file: 'jupyterhub_config.py',
    text: ([configuration = '']) => `import os
from jupyterhub.proxy import Proxy
class NoProxy(Proxy):
    should_start = False
    async def add_route(self, routespec, target, data): pass
    async def delete_route(self, routespec): pass
    async def get_all_routes(self): return {}
c = get_config()
c.JupyterHub.proxy_class = NoProxy
c.JupyterHub.hub_bind_url = 'http://127.0.0.1:' + os.environ['PORT']
c.JupyterHub.default_url = '/hub/home'
c.GenericOAuthenticator.oauth_callback_url = 'http://localhost:' + os.environ['PORT'] + '/hub/oauth_callback'
${configuration}`,
    options: () => ['-m', 'jupyterhub'],
  },
];

/** An app of Streamlit, which needs a browser with scripts. */
export const streamlitApp: PythonApp = {
  heading: 'Streamlit',
  callback: '/oauth2callback',
  signIn: '/',
  page: '/',
  file: 'run.py',
  text: ([secrets = '']) => `import os, sys
text = '''${secrets}'''
own = {'https://app.example': 'http://localhost:' + sys.argv[1], '<a long random text>': 32 * 'of the app'}
own.update({'<' + name + '>': os.environ[name] for name in ('CLIENT_ID', 'CLIENT_SECRET', 'ISSUER')})
for name, value in own.items():
    assert name in text
    text = text.replace(name, value)
open('secrets.toml', 'w').write(text)
open('app.py', 'w').write('''import streamlit as st
if not st.user.is_logged_in:
    st.login()
    st.stop()
st.write('Hello, ' + st.user.email)
''')
os.execv(sys.executable, [sys.executable, '-m', 'streamlit', 'run', 'app.py', '--secrets.files=secrets.toml',
                          '--server.address=127.0.0.1', '--server.port=' + sys.argv[1], '--server.headless=true',
                          '--browser.gatherUsageStats=false'])
`,
  options: (port) => ['run.py', port],
};

/** A site of Django that checks tokens by introspection. */
export const introspectingApp: PythonApp = {
  heading: 'Without a person',
  callback: '',
  signIn: '',
  page: '/',
  file: 'app.py',
  text: ([provider = '']) =>
    `${django}${provider}${site(
      ['oauth2_provider'],
      `OAUTH2_PROVIDER=OAUTH2_PROVIDER, MIDDLEWARE=${JSON.stringify(middleware)},`,
      `from oauth2_provider.views.generic import ScopedProtectedResourceView
class Home(ScopedProtectedResourceView):
    required_scopes = ['orders.read']
    def get(self, request):
        return HttpResponse('orders')
urlpatterns = [path('', Home.as_view())]`,
    )}`,
  options: (port) => ['app.py', port],
};

/** Returns the Python of a virtual environment with {@link releases}, which it makes if there is none. */
export async function obtainPythonApps(environment: Variables, tell: (line: string) => void): Promise<string> {
  const folder = path.join(cacheFolder(environment), 'peers', 'python');
  const done = path.join(folder, `has-${createHash('sha256').update(releases.join()).digest('hex')}`);
  const python = path.join(folder, 'bin', 'python');
  if (existsSync(done)) return python;
  const own = findCommand({ title: 'Python', names: ['python3'], package: 'python3-venv' }, environment);
  if (own === undefined) throw new Error('no Python: install the packages python3 and python3-venv');
  tell('installing apps in Python from PyPI (a minute or two)');
  rmSync(folder, { recursive: true, force: true });
  await runProgram(own, ['-m', 'venv', folder], { title: 'python3 -m venv', env: environment });
  await runProgram(python, ['-m', 'pip', 'install', '--quiet', ...releases], {
    title: 'pip install',
    env: environment,
  });
  writeFileSync(done, '');
  return python;
}

/** Starts an app, and waits until it answers. Returns its URL on `localhost`. */
export async function startPythonApp(
  python: string,
  app: PythonApp,
  blocks: readonly string[],
  environment: (url: string) => Promise<Readonly<Record<string, string>>>,
): Promise<{ readonly url: string; readonly program: ChildProgram; readonly stop: () => Promise<void> }> {
  const folder = temporaryFolder();
  const port = String(await ownPort());
  const url = `http://localhost:${port}`;
  folder.write(app.file, app.text(blocks));
  const env = { HOME: folder.path('.'), PORT: port, ...(await environment(url)) };
  const program = startChild(python, app.options(port), { cwd: folder.path('.'), env });
  const stop = async (): Promise<void> => {
    await program.stop();
    folder.remove();
  };
  try {
    await untilReady(program, app.heading, async () => (await fetch(`${url}${app.page}`)).status < 500);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, program, stop };
}

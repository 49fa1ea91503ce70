import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useUi } from './context.ts';
import { TABS } from './messages/messages.ts';
import type { Tab } from './messages/messages.ts';
import { fragmentOf, usePlace } from './place.ts';
import type { Place } from './place.ts';
import { Account } from './tabs/account.tsx';
import { Audit } from './tabs/audit.tsx';
import { Home } from './tabs/home.tsx';
import { Refusals } from './tabs/refusals.tsx';
import { Groups } from './tabs/groups.tsx';
import { Sessions } from './tabs/sessions.tsx';
import { Clients, Policies } from './tabs/stored.tsx';
import { Users } from './tabs/users.tsx';

/** The frame of the UI: the name of the box, the tabs, and the one that is open; `children` stand above it. */
export function Frame(props: { readonly signOut: () => void; readonly children: ComponentChildren }) {
  const { signOut, children } = props;
  const { say, name, email, rights } = useUi();
  const asked = usePlace();
  // A user without rights has their account.
  const place = asked.tab === 'home' && rights.size === 0 ? { ...asked, tab: 'account' as const } : asked;
  const isShown = (tab: Tab): boolean =>
    tab === place.tab || tab === 'account' || rights.has(tab) || (tab === 'home' && rights.size > 0);
  const tabs = useRef<HTMLElement>(null);
  // On a phone not all tabs fit.
  useEffect(() => {
    tabs.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [place.tab]);
  return (
    <>
      <header>
        <h1>
          <span class="mark" />
          {say.administration} · {name}
        </h1>
        <div class="who">
          <span class="soft">{say.signedInAs(email)}</span>
          <button type="button" class="second" onClick={signOut}>
            {say.signOut}
          </button>
        </div>
        <nav aria-label={say.sections} ref={tabs}>
          {TABS.filter(isShown).map((tab) => (
            <a key={tab} href={fragmentOf(tab)} aria-current={tab === place.tab ? 'page' : undefined}>
              {say.tabs[tab]}
            </a>
          ))}
        </nav>
      </header>
      <main>
        {children}
        <Content place={place} />
      </main>
    </>
  );
}

function Content({ place }: { readonly place: Place }) {
  switch (place.tab) {
    case 'home':
      return <Home />;
    case 'users':
      return <Users place={place} />;
    case 'groups':
      return <Groups place={place} />;
    case 'sessions':
      return <Sessions place={place} />;
    case 'clients':
      return <Clients place={place} />;
    case 'policies':
      return <Policies place={place} />;
    case 'refusals':
      return <Refusals place={place} />;
    case 'audit':
      return <Audit place={place} />;
    case 'account':
      return <Account />;
  }
}

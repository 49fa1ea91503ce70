import { useEffect, useState } from 'preact/hooks';
import { signInAddress } from './connection/sign-in.ts';
import { useUi } from './context.ts';
import type { Notice } from './context.ts';

/** Milliseconds for which a notice stays, and Undo is offered. */
const OFFERED = 10_000;

/** Says what was done, and offers to undo it for ten seconds. */
export function NoticeBar({ notice, close }: { readonly notice: Notice | undefined; readonly close: () => void }) {
  const { say } = useUi();
  useEffect(() => {
    if (notice === undefined) return undefined;
    const timer = setTimeout(close, OFFERED);
    return () => {
      clearTimeout(timer);
    };
  }, [notice]);
  const undo = notice?.undo;
  return (
    <div class="notices" role="status">
      {notice === undefined ? null : (
        <p class="note">
          {notice.text}{' '}
          {undo === undefined ? null : (
            <button
              type="button"
              class="link"
              onClick={() => {
                close();
                void undo();
              }}
            >
              {say.undo}
            </button>
          )}
        </p>
      )}
    </div>
  );
}

/**
 * Says that nobody is signed in any more, and keeps what is typed: the sign-in page opens in another tab, and `renew`
 * is called when this one has the focus again.
 */
export function SignedOutBar({ renew }: { readonly renew: () => void }) {
  const { say, issuer } = useUi();
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    signInAddress(issuer, '#/account').then(setAddress, () => undefined);
    addEventListener('focus', renew);
    return () => {
      removeEventListener('focus', renew);
    };
  }, []);
  return (
    <div class="alert" role="alert">
      <p>{say.signedOut}</p>
      <div class="actions">
        {address === undefined ? null : (
          <a class="button" href={address} target="_blank" rel="noopener">
            {say.signIn}
          </a>
        )}
        <button type="button" class="second" onClick={renew}>
          {say.goOn}
        </button>
      </div>
    </div>
  );
}

import { useEffect, useState } from 'preact/hooks';
import type { Interruption } from './connection.ts';
import { signInAddress } from './connection/sign-in.ts';
import { useUi } from './context.ts';
import type { Notice } from './context.ts';
import type { ComponentChildren } from 'preact';

/** Milliseconds for which a notice stays, and Undo is offered. */
const OFFERED = 10_000;

/** Says what was done, and offers to undo it for ten seconds, or until something else is pressed. */
export function NoticeBar({ notice, close }: { readonly notice: Notice | undefined; readonly close: () => void }) {
  const { say } = useUi();
  useEffect(() => {
    if (notice === undefined) return undefined;
    const timer = setTimeout(close, OFFERED);
    const leave = ({ target }: Event): void => {
      if (target instanceof Element && target.closest('a, button, tbody tr') && !target.closest('.notices')) close();
    };
    addEventListener('click', leave, true);
    return () => {
      clearTimeout(timer);
      removeEventListener('click', leave, true);
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
 * Says that nobody, or another user, is signed in with this browser, and keeps what is typed: the sign-in page opens in
 * another tab, and `renew` is called when this one has the focus again.
 */
export function InterruptionBar({ reason, renew }: { readonly reason: Interruption; readonly renew: () => void }) {
  const { say, issuer, email } = useUi();
  const isOther = reason === 'other-user';
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
      <p>{isOther ? say.otherUser(email) : say.signedOut}</p>
      <div class="actions">
        {isOther ? (
          <button type="button" onClick={() => location.reload()}>
            {say.reload}
          </button>
        ) : address === undefined ? null : (
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

/** Properties of {@link BusyButton}. */
interface BusyButtonProps {
  /** True while a request is under way that a click would repeat or disturb. */
  readonly isBusy: boolean;
  /** Absent: the button submits its form. */
  readonly onClick?: () => void;
  readonly class?: string;
  /** ID of the element that describes the button. */
  readonly describedBy?: string;
  readonly children: ComponentChildren;
}

/**
 * A button that ignores clicks while a request is under way. It is never disabled, because a disabled button loses the
 * focus.
 */
export function BusyButton({ isBusy, onClick, class: style, describedBy, children }: BusyButtonProps) {
  return (
    <button
      type={onClick === undefined ? 'submit' : 'button'}
      class={style}
      aria-disabled={isBusy}
      aria-describedby={describedBy}
      onClick={(event) => {
        // Otherwise the form is submitted, also with Enter in a field: the browser then clicks its button.
        if (isBusy) event.preventDefault();
        else onClick?.();
      }}
    >
      {children}
    </button>
  );
}

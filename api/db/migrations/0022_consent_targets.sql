-- A consent is for one redirect URI of the client and one audience: whoever changes the client must not receive elsewhere what
-- a user has allowed here. `consent` stays the Grant as a whole, which says that a client has something of a user. What was
-- allowed before this migration was for no target that is known: the user is asked again.
CREATE TABLE boxgate.consent_target (
  box          text NOT NULL,
  user_id      bigint NOT NULL,
  client       text NOT NULL,
  -- SHA-256 of the redirect URI and the audience, which are too long for an index (api/db/consent.ts).
  target       bytea NOT NULL,
  -- As the client has it configured.
  redirect_uri text NOT NULL,
  -- Null: the box itself, its issuer.
  audience     text,
  scopes       text[] NOT NULL,
  -- The config version it was given under: a client that is created again has none of the old one's.
  version      bigint NOT NULL,
  created_at   timestamptz NOT NULL,
  PRIMARY KEY (box, user_id, client, target),
  FOREIGN KEY (box, user_id, client) REFERENCES boxgate.consent ON DELETE CASCADE
);
ALTER TABLE boxgate.consent_target ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.consent_target USING (box = current_setting('boxgate.box', true));

-- The functions of migration 16 with the target of a consent. Replicas of the release before call the old ones, which have
-- fewer parameters.

-- The sign-ins of browsers that count for their users, and what each user lets a client have at a target; of each the version
-- of its box, found or not. Times in milliseconds.
CREATE FUNCTION boxgate.find_sign_ins(p_box text[], p_browser bytea[], p_client text[], p_target bytea[])
RETURNS TABLE (nth bigint, config_version bigint, user_id bigint, version bigint, created bigint, expires bigint,
               consent_version bigint, consent_scopes text[])
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_custom_plan
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off SET join_collapse_limit = 1
AS $$
BEGIN
  RETURN QUERY
  SELECT n.nth, b.config_version, s.user_id, s.version, (extract(epoch FROM s.created_at) * 1000)::bigint,
         (extract(epoch FROM s.expires_at) * 1000)::bigint, c.version, c.scopes
    FROM unnest(p_box, p_browser, p_client, p_target) WITH ORDINALITY AS n (box, browser, client, target, nth)
    JOIN box b ON b.box = n.box
    LEFT JOIN LATERAL (
      SELECT * FROM sign_in i
       WHERE i.box = n.box AND i.browser = n.browser
         AND (SELECT u.status IS DISTINCT FROM 'inactive' AND u.sessions_from <= i.version
                FROM boxgate.user u WHERE u.box = i.box AND u.id = i.user_id) OFFSET 0) s ON true
    LEFT JOIN LATERAL (
      SELECT * FROM consent_target o
       WHERE o.box = s.box AND o.user_id = s.user_id AND o.client = n.client AND o.target = n.target OFFSET 0) c ON true;
END
$$;

-- Stores codes, and tells which: each only if its box can be held at the version it was decided under, and its user, its
-- sign-in and, unless `p_consent` is null, the consent of this version for this target are as they were found. Locks as in
-- migration 16.
CREATE FUNCTION boxgate.store_codes(
  p_box text[], p_version bigint[], p_id uuid[], p_hash bytea[], p_client text[], p_user bigint[], p_browser bytea[],
  p_signed_in bigint[], p_consent bigint[], p_redirect_uri text[], p_scope text[], p_audience jsonb[], p_challenge text[],
  p_nonce text[], p_authenticated bigint[], p_agent text[], p_created bigint[], p_expires bigint[], p_kept bigint[],
  p_target bytea[]
) RETURNS TABLE (nth bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_custom_plan
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off SET join_collapse_limit = 1
AS $$
DECLARE
  v_boxes text[];
  v_versions bigint[];
BEGIN
  SELECT array_agg(h.box), array_agg(h.config_version) INTO v_boxes, v_versions FROM hold_boxes(p_box) AS h;
  RETURN QUERY
  WITH good AS MATERIALIZED (
    SELECT n.*
      FROM unnest(p_box, p_version, p_id, p_hash, p_client, p_user, p_browser, p_signed_in, p_consent, p_redirect_uri,
                  p_scope, p_audience, p_challenge, p_nonce, p_authenticated, p_agent, p_created, p_expires, p_kept, p_target)
           WITH ORDINALITY
        AS n (box, version, id, hash, client, user_id, browser, signed_in, consent, redirect_uri, scope, audience,
              challenge, nonce, authenticated, agent, created, expires, kept, target, nth)
      JOIN unnest(v_boxes, v_versions) AS h (box, version) ON h.box = n.box AND h.version = n.version
      -- A user is deleted before their sign-ins: locked in this order, and without a wait.
      JOIN boxgate.user u ON u.box = n.box AND u.id = n.user_id
      -- Not "=", which an index of the sign-ins of a user would serve too: of one browser there is one.
      JOIN sign_in s ON s.box = n.box AND s.browser = n.browser AND s.user_id IS NOT DISTINCT FROM n.user_id
     WHERE u.status IS DISTINCT FROM 'inactive' AND u.sessions_from <= n.signed_in
       AND s.version IS NOT DISTINCT FROM n.signed_in
       AND (n.consent IS NULL OR (
             SELECT c.version = n.consent AND c.scopes @> string_to_array(coalesce(n.scope, ''), ' ')
               FROM consent_target c
              WHERE c.box = n.box AND c.user_id = n.user_id AND c.client = n.client AND c.target = n.target))
       FOR KEY SHARE OF u, s SKIP LOCKED
  ), stored AS (
    INSERT INTO authorization_answer (box, id, hash, client, user_id, version, browser, redirect_uri, scope, audience,
                                      challenge, nonce, authenticated_at, user_agent, created_at, expires_at, kept_until)
    SELECT g.box, g.id, g.hash, g.client, g.user_id, g.version, g.browser, g.redirect_uri, g.scope,
           CASE WHEN g.audience IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text(g.audience)) END,
           g.challenge, g.nonce, to_timestamp(g.authenticated / 1000.0), g.agent, to_timestamp(g.created / 1000.0),
           to_timestamp(g.expires / 1000.0), to_timestamp(g.kept / 1000.0)
      FROM good g
  )
  SELECT g.nth FROM good g;
END
$$;

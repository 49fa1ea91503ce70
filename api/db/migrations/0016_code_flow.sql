-- The hot statements of the code flow: who is signed in and has said yes, the codes that are given to them, and what comes
-- of those. Two look up and two store. Their plans are made for each call, which a batch shares: a plan that was kept from
-- when a table was empty read all codes of a box (measured: two thirds of the flows a second). They are told to probe keys in the
-- order in which they name the tables. That a user may still use what was begun is asked in a subselect, which is carried
-- out for each row and never joined.

-- Holds boxes until the transaction ends, by the two locks that every change of a box waits for: its place in the queue
-- (api/db/box.ts) and its row. Waits for nothing: a box that is being changed, or that a change waits for, is left out. Holds
-- none where statements do not each see the present (a database whose default is another isolation level).
CREATE FUNCTION boxgate.hold_boxes(p_box text[]) RETURNS TABLE (box text, config_version bigint)
LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
  RETURN QUERY
  SELECT b.box, b.config_version
    FROM (SELECT DISTINCT n.box FROM unnest(p_box) AS n (box)) AS d
    JOIN boxgate.box b ON b.box = d.box
   WHERE current_setting('transaction_isolation') = 'read committed'
     AND pg_try_advisory_xact_lock_shared(hashtextextended('boxgate.box ' || d.box, 0))
     FOR SHARE OF b SKIP LOCKED;
END
$$;

-- The sign-ins of browsers that count for their users, and what each user lets a client have; of each the version of its
-- box, found or not. Times in milliseconds.
CREATE FUNCTION boxgate.find_sign_ins(p_box text[], p_browser bytea[], p_client text[])
RETURNS TABLE (nth bigint, config_version bigint, user_id bigint, version bigint, created bigint, expires bigint,
               consent_version bigint, consent_scopes text[])
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_custom_plan
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off SET join_collapse_limit = 1
AS $$
BEGIN
  RETURN QUERY
  SELECT n.nth, b.config_version, s.user_id, s.version, (extract(epoch FROM s.created_at) * 1000)::bigint,
         (extract(epoch FROM s.expires_at) * 1000)::bigint, c.version, c.scopes
    FROM unnest(p_box, p_browser, p_client) WITH ORDINALITY AS n (box, browser, client, nth)
    JOIN box b ON b.box = n.box
    LEFT JOIN LATERAL (
      SELECT * FROM sign_in i
       WHERE i.box = n.box AND i.browser = n.browser
         AND (SELECT u.status IS DISTINCT FROM 'inactive' AND u.sessions_from <= i.version
                FROM boxgate.user u WHERE u.box = i.box AND u.id = i.user_id) OFFSET 0) s ON true
    LEFT JOIN LATERAL (
      SELECT * FROM consent o WHERE o.box = s.box AND o.user_id = s.user_id AND o.client = n.client OFFSET 0) c ON true;
END
$$;

-- The rows of codes, and the version of the box of each, found or not. Times in milliseconds.
CREATE FUNCTION boxgate.find_codes(p_box text[], p_id uuid[])
RETURNS TABLE (nth bigint, config_version bigint, hash text, client text, user_id bigint, version bigint,
               redirect_uri text, scope text, audience text[], challenge text, nonce text, authenticated bigint,
               user_agent text, created bigint, expires bigint, used boolean, user_gone boolean)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_custom_plan
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off SET join_collapse_limit = 1
AS $$
BEGIN
  RETURN QUERY
  SELECT n.nth, b.config_version, encode(a.hash, 'hex'), a.client, a.user_id, a.version, a.redirect_uri, a.scope,
         a.audience, a.challenge, a.nonce, (extract(epoch FROM a.authenticated_at) * 1000)::bigint, a.user_agent,
         (extract(epoch FROM a.created_at) * 1000)::bigint, (extract(epoch FROM a.expires_at) * 1000)::bigint,
         a.used_at IS NOT NULL,
         (SELECT u.status IS DISTINCT FROM 'inactive' AND u.sessions_from <= a.version
            FROM boxgate.user u WHERE u.box = a.box AND u.id = a.user_id) IS NOT TRUE
    FROM unnest(p_box, p_id) WITH ORDINALITY AS n (box, id, nth)
    JOIN box b ON b.box = n.box
    LEFT JOIN LATERAL (SELECT * FROM authorization_answer t WHERE t.box = n.box AND t.id = n.id OFFSET 0) a ON true;
END
$$;

-- Stores codes, and tells which: each only if its box can be held at the version it was decided under, and its user, its
-- sign-in and, unless `p_consent` is null, the consent of this version are as they were found. Nothing is waited for. As
-- in a transaction that holds the box (api/db/box.ts), the locks are there before the second statement looks at the rows,
-- and until what it stores is committed: whoever takes something away was done before, or finds what was stored.
CREATE FUNCTION boxgate.store_codes(
  p_box text[], p_version bigint[], p_id uuid[], p_hash bytea[], p_client text[], p_user bigint[], p_browser bytea[],
  p_signed_in bigint[], p_consent bigint[], p_redirect_uri text[], p_scope text[], p_audience jsonb[], p_challenge text[],
  p_nonce text[], p_authenticated bigint[], p_agent text[], p_created bigint[], p_expires bigint[], p_kept bigint[]
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
                  p_scope, p_audience, p_challenge, p_nonce, p_authenticated, p_agent, p_created, p_expires, p_kept)
           WITH ORDINALITY
        AS n (box, version, id, hash, client, user_id, browser, signed_in, consent, redirect_uri, scope, audience,
              challenge, nonce, authenticated, agent, created, expires, kept, nth)
      JOIN unnest(v_boxes, v_versions) AS h (box, version) ON h.box = n.box AND h.version = n.version
      -- A user is deleted before their sign-ins: locked in this order, and without a wait.
      JOIN boxgate.user u ON u.box = n.box AND u.id = n.user_id
      -- Not "=", which an index of the sign-ins of a user would serve too: of one browser there is one.
      JOIN sign_in s ON s.box = n.box AND s.browser = n.browser AND s.user_id IS NOT DISTINCT FROM n.user_id
     WHERE u.status IS DISTINCT FROM 'inactive' AND u.sessions_from <= n.signed_in
       AND s.version IS NOT DISTINCT FROM n.signed_in
       AND (n.consent IS NULL OR (
             SELECT c.version = n.consent AND c.scopes @> string_to_array(coalesce(n.scope, ''), ' ')
               FROM consent c WHERE c.box = n.box AND c.user_id = n.user_id AND c.client = n.client))
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

-- Redeems codes, and tells which: marks each as used and stores the session that came of it, only if its box can be held
-- at the version it was decided under, nobody has used or ended the code, and its user may still use what was begun then.
-- Of two uses in one call the first counts. Locks as above.
CREATE FUNCTION boxgate.redeem_codes(
  p_box text[], p_version bigint[], p_code uuid[], p_code_hash bytea[], p_used bigint[], p_id uuid[], p_bucket integer[],
  p_expires bigint[], p_client text[], p_hash bytea[], p_addr inet[], p_user bigint[], p_scope text[], p_audience jsonb[],
  p_agent text[]
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
  WITH asked AS MATERIALIZED (
    SELECT DISTINCT ON (n.box, n.code) n.*
      FROM unnest(p_box, p_version, p_code, p_code_hash, p_used, p_id, p_bucket, p_expires, p_client, p_hash, p_addr,
                  p_user, p_scope, p_audience, p_agent) WITH ORDINALITY
        AS n (box, version, code, code_hash, used, id, bucket, expires, client, hash, addr, user_id, scope, audience,
              agent, nth)
     ORDER BY n.box, n.code, n.nth
  ), good AS MATERIALIZED (
    SELECT n.*
      FROM asked n
      JOIN unnest(v_boxes, v_versions) AS h (box, version) ON h.box = n.box AND h.version = n.version
      JOIN authorization_answer a ON a.box = n.box AND a.id = n.code
     WHERE a.hash = n.code_hash AND a.used_at IS NULL AND a.client = n.client AND a.user_id IS NOT DISTINCT FROM n.user_id
       AND (SELECT u.status IS DISTINCT FROM 'inactive' AND u.sessions_from <= a.version
              FROM boxgate.user u WHERE u.box = a.box AND u.id = a.user_id)
       FOR UPDATE OF a SKIP LOCKED
  ), stored AS (
    INSERT INTO session (id, version, expires_at, bucket, type, box, client, token_hash, remote_addr, user_id, scope,
                         audience, user_agent)
    SELECT g.id, g.version, to_timestamp(g.expires), g.bucket, 'a', g.box, g.client, g.hash, g.addr, g.user_id, g.scope,
           CASE WHEN g.audience IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text(g.audience)) END, g.agent
      FROM good g
  )
  UPDATE authorization_answer a
     SET used_at = to_timestamp(g.used / 1000.0), session = g.id, bucket = g.bucket
    FROM good g WHERE a.box = g.box AND a.id = g.code
  RETURNING g.nth;
END
$$;
